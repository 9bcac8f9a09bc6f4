package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func writePolicy(b []byte, p *conversation.Policy) []byte {
	b = appendSetting(b, 1, p.Fit.MaxContextTokens)
	b = appendSetting(b, 2, p.Fit.ContextWindowTokens)
	b = appendSetting(b, 3, p.Fit.ReservedOutputTokens)
	b = appendSetting(b, 4, p.Fit.TargetPercent)
	b = appendSetting(b, 5, p.Fit.MaxResultPercent)
	b = appendSetting(b, 6, p.TTL)
	b = appendSwitch(b, 7, p.Expiration.Off)
	if p.Expiration.Results != (conversation.Expiration{}) {
		b = appendNested(b, 8, &p.Expiration.Results, writeExpiration)
	}
	b = appendSwitch(b, 9, p.Retention.AllInputs)
	b = appendInt(b, 10, p.Rewrite.Mode)
	b = appendSetting(b, 11, p.Rewrite.MinGainTokens)
	b = appendSetting(b, 12, p.Rewrite.MaxDeferralTurns)
	b = appendSetting(b, 13, p.Rewrite.ColdAfter)
	b = appendSetting(b, 14, p.MaxWait)
	if p.Pruning != (conversation.PruningPolicy{}) {
		b = appendNested(b, 15, &p.Pruning, writePruning)
	}
	if p.Compaction != (conversation.CompactionPolicy{}) {
		b = appendNested(b, 16, &p.Compaction, writeCompaction)
	}
	if p.Citations != (conversation.CitationsPolicy{}) {
		b = appendNested(b, 17, &p.Citations, writeCitations)
	}
	b = appendSwitch(b, 18, p.Fit.KeepOpening)
	b = appendSwitch(b, 19, p.TTLWithoutTombstone)
	if p.Memory != (conversation.MemoryPolicy{}) {
		b = appendNested(b, 20, &p.Memory, writeMemoryPolicy)
	}
	if p.Deduplication != (conversation.DeduplicationPolicy{}) {
		b = appendNested(b, 21, &p.Deduplication, writeDeduplication)
	}
	b = appendSetting(b, 22, p.Rewrite.ExpectTurns)
	return append(b, p.Unknown...)
}

func writeDeduplication(b []byte, p *conversation.DeduplicationPolicy) []byte {
	b = appendSwitch(b, 1, p.On)
	b = appendOptional(b, 2, p.ExcludedTools, writeNames)
	b = appendSetting(b, 3, p.MinLines)
	return append(b, p.Unknown...)
}

func readDeduplication(r *reader, p *conversation.DeduplicationPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.On = toggle(r)
		case 2:
			p.ExcludedTools = optional(r, readNames)
		case 3:
			p.MinLines = setting[int32](r)
		default:
			p.Unknown += r.raw
		}
	}
}

func writePruning(b []byte, p *conversation.PruningPolicy) []byte {
	b = appendSwitch(b, 1, p.Off)
	b = appendSetting(b, 2, p.ProtectTokens)
	b = appendSetting(b, 3, p.MinimumTokens)
	b = appendSetting(b, 4, p.MaxPartTokens)
	b = appendOptional(b, 5, p.ProtectedTools, writeNames)
	b = appendOptional(b, 6, p.ProtectedPrefixes, writeNames)
	b = appendSetting(b, 7, p.EraseAfter)
	return append(b, p.Unknown...)
}

func readPruning(r *reader, p *conversation.PruningPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Off = toggle(r)
		case 2:
			p.ProtectTokens = setting[int32](r)
		case 3:
			p.MinimumTokens = setting[int32](r)
		case 4:
			p.MaxPartTokens = setting[int32](r)
		case 5:
			p.ProtectedTools = optional(r, readNames)
		case 6:
			p.ProtectedPrefixes = optional(r, readNames)
		case 7:
			p.EraseAfter = setting[time.Duration](r)
		default:
			p.Unknown += r.raw
		}
	}
}

func writeNames(b []byte, names *[]string) []byte {
	for _, name := range *names {
		b = appendElement(b, 1, name)
	}
	return b
}

func readNames(r *reader, names *[]string) {
	for r.next() {
		if r.field == 1 {
			*names = append(*names, r.text())
		}
	}
}

func writeCompaction(b []byte, p *conversation.CompactionPolicy) []byte {
	b = appendInt(b, 1, p.Strategy)
	b = appendSetting(b, 2, p.ThresholdMessages)
	b = appendSetting(b, 3, p.PreparePercent)
	b = appendSetting(b, 4, p.KeepRecent)
	b = appendSetting(b, 5, p.TailPercent)
	b = appendSetting(b, 6, p.TargetPercent)
	b = appendSetting(b, 7, p.MinShrinkPercent)
	b = appendSetting(b, 8, p.FanOut)
	b = appendSetting(b, 9, p.SummaryTokens)
	if p.PromptID != nil {
		b = appendElement(b, 10, *p.PromptID)
	}
	b = appendSwitch(b, 11, p.CountReasoning)
	b = appendSetting(b, 12, p.ListTokens)
	b = appendSwitch(b, 13, p.LivePrefix)
	b = appendSetting(b, 14, p.SummaryInputTokens)
	return append(b, p.Unknown...)
}

func readCompaction(r *reader, p *conversation.CompactionPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Strategy = conversation.Strategy(r.int32())
		case 2:
			p.ThresholdMessages = setting[int32](r)
		case 3:
			p.PreparePercent = setting[int32](r)
		case 4:
			p.KeepRecent = setting[int32](r)
		case 5:
			p.TailPercent = setting[int32](r)
		case 6:
			p.TargetPercent = setting[int32](r)
		case 7:
			p.MinShrinkPercent = setting[int32](r)
		case 8:
			p.FanOut = setting[int32](r)
		case 9:
			p.SummaryTokens = setting[int32](r)
		case 10:
			id := r.text()
			p.PromptID = &id
		case 11:
			p.CountReasoning = toggle(r)
		case 12:
			p.ListTokens = setting[int32](r)
		case 13:
			p.LivePrefix = toggle(r)
		case 14:
			p.SummaryInputTokens = setting[int32](r)
		default:
			p.Unknown += r.raw
		}
	}
}

func readPolicy(r *reader, p *conversation.Policy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Fit.MaxContextTokens = setting[int32](r)
		case 2:
			p.Fit.ContextWindowTokens = setting[int32](r)
		case 3:
			p.Fit.ReservedOutputTokens = setting[int32](r)
		case 4:
			p.Fit.TargetPercent = setting[int32](r)
		case 5:
			p.Fit.MaxResultPercent = setting[int32](r)
		case 6:
			p.TTL = setting[time.Duration](r)
		case 7:
			p.Expiration.Off = toggle(r)
		case 8:
			nested(r, &p.Expiration.Results, readExpiration)
		case 9:
			p.Retention.AllInputs = toggle(r)
		case 10:
			p.Rewrite.Mode = conversation.RewriteMode(r.int32())
		case 11:
			p.Rewrite.MinGainTokens = setting[int32](r)
		case 12:
			p.Rewrite.MaxDeferralTurns = setting[int32](r)
		case 13:
			p.Rewrite.ColdAfter = setting[time.Duration](r)
		case 14:
			p.MaxWait = setting[time.Duration](r)
		case 15:
			nested(r, &p.Pruning, readPruning)
		case 16:
			nested(r, &p.Compaction, readCompaction)
		case 17:
			nested(r, &p.Citations, readCitations)
		case 18:
			p.Fit.KeepOpening = toggle(r)
		case 19:
			p.TTLWithoutTombstone = toggle(r)
		case 20:
			nested(r, &p.Memory, readMemoryPolicy)
		case 21:
			nested(r, &p.Deduplication, readDeduplication)
		case 22:
			p.Rewrite.ExpectTurns = setting[int32](r)
		default:
			p.Unknown += r.raw
		}
	}
}

func writeExpiration(b []byte, e *conversation.Expiration) []byte {
	b = appendSetting(b, 1, e.Turns)
	b = appendInt(b, 2, e.Mode)
	b = appendInt(b, 3, e.CompactMode)
	b = appendSetting(b, 4, e.CompactLength)
	b = appendText(b, 5, e.CompactPromptID)
	b = appendSwitch(b, 6, e.PreserveOriginal)
	b = appendInt(b, 7, e.Source)
	return append(b, e.Unknown...)
}

func readExpiration(r *reader, e *conversation.Expiration) {
	for r.next() {
		switch r.field {
		case 1:
			e.Turns = setting[int32](r)
		case 2:
			e.Mode = conversation.ExpirationMode(r.int32())
		case 3:
			e.CompactMode = conversation.CompactMode(r.int32())
		case 4:
			e.CompactLength = setting[int32](r)
		case 5:
			e.CompactPromptID = r.text()
		case 6:
			e.PreserveOriginal = toggle(r)
		case 7:
			e.Source = conversation.ExpirationSource(r.int32())
		default:
			e.Unknown += r.raw
		}
	}
}

// appendSetting writes zero too: a setting that is zero is not one that is not set.
func appendSetting[T signed](b []byte, field int, v *T) []byte {
	if v == nil {
		return b
	}
	if *v == 0 {
		return append(appendTag(b, field, wireVarint), 0)
	}
	return appendInt(b, field, *v)
}

func setting[T signed](r *reader) *T {
	v := T(r.int64())
	return &v
}

// appendSwitch is appendSetting for what is on or off.
func appendSwitch(b []byte, field int, v *bool) []byte {
	if v == nil {
		return b
	}
	if !*v {
		return append(appendTag(b, field, wireVarint), 0)
	}
	return appendBool(b, field, true)
}

func toggle(r *reader) *bool {
	v := r.bool()
	return &v
}

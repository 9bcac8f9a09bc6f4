package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func policyFields(f *fields, p *conversation.Policy) {
	setting(f, 1, &p.Fit.MaxContextTokens)
	setting(f, 2, &p.Fit.ContextWindowTokens)
	setting(f, 3, &p.Fit.ReservedOutputTokens)
	setting(f, 4, &p.Fit.TargetPercent)
	setting(f, 5, &p.Fit.MaxResultPercent)
	setting(f, 6, &p.TTL)
	f.toggle(7, &p.Expiration.Off)
	section(f, 8, &p.Expiration.Results, expirationFields)
	f.toggle(9, &p.Retention.AllInputs)
	integer(f, 10, &p.Rewrite.Mode)
	setting(f, 11, &p.Rewrite.MinGainTokens)
	setting(f, 12, &p.Rewrite.MaxDeferralTurns)
	setting(f, 13, &p.Rewrite.ColdAfter)
	setting(f, 14, &p.MaxWait)
	section(f, 15, &p.Pruning, pruningFields)
	section(f, 16, &p.Compaction, compactionFields)
	section(f, 17, &p.Citations, citationsFields)
	f.toggle(18, &p.Fit.KeepOpening)
	f.toggle(19, &p.TTLWithoutTombstone)
	section(f, 20, &p.Memory, memoryPolicyFields)
	section(f, 21, &p.Deduplication, deduplicationFields)
	setting(f, 22, &p.Rewrite.ExpectTurns)
	setting(f, 23, &p.Rewrite.ColdCutPercent)
	f.unknown(&p.Unknown)
}

func deduplicationFields(f *fields, p *conversation.DeduplicationPolicy) {
	f.toggle(1, &p.On)
	optional(f, 2, &p.ExcludedTools, namesFields)
	setting(f, 3, &p.MinLines)
	f.unknown(&p.Unknown)
}

func pruningFields(f *fields, p *conversation.PruningPolicy) {
	f.toggle(1, &p.Off)
	setting(f, 2, &p.ProtectTokens)
	setting(f, 3, &p.MinimumTokens)
	setting(f, 4, &p.MaxPartTokens)
	optional(f, 5, &p.ProtectedTools, namesFields)
	optional(f, 6, &p.ProtectedPrefixes, namesFields)
	setting(f, 7, &p.EraseAfter)
	f.unknown(&p.Unknown)
}

func namesFields(f *fields, names *[]string) {
	f.texts(1, names)
}

func compactionFields(f *fields, p *conversation.CompactionPolicy) {
	integer(f, 1, &p.Strategy)
	setting(f, 2, &p.ThresholdMessages)
	setting(f, 3, &p.PreparePercent)
	setting(f, 4, &p.KeepRecent)
	setting(f, 5, &p.TailPercent)
	setting(f, 6, &p.TargetPercent)
	setting(f, 7, &p.MinShrinkPercent)
	setting(f, 8, &p.FanOut)
	setting(f, 9, &p.SummaryTokens)
	f.textSetting(10, &p.PromptID)
	f.toggle(11, &p.CountReasoning)
	setting(f, 12, &p.ListTokens)
	f.toggle(13, &p.LivePrefix)
	setting(f, 14, &p.SummaryInputTokens)
	f.unknown(&p.Unknown)
}

func expirationFields(f *fields, e *conversation.Expiration) {
	setting(f, 1, &e.Turns)
	integer(f, 2, &e.Mode)
	integer(f, 3, &e.CompactMode)
	setting(f, 4, &e.CompactLength)
	f.text(5, &e.CompactPromptID)
	f.toggle(6, &e.PreserveOriginal)
	integer(f, 7, &e.Source)
	f.unknown(&e.Unknown)
}

func citationsFields(f *fields, p *conversation.CitationsPolicy) {
	f.toggle(1, &p.On)
	setting(f, 2, &p.ThresholdChars)
	f.toggle(3, &p.ReleaseOnEndRun)
	optional(f, 4, &p.RecallTools, namesFields)
	f.unknown(&p.Unknown)
}

func memoryPolicyFields(f *fields, p *conversation.MemoryPolicy) {
	f.toggle(1, &p.On)
	integer(f, 2, &p.Sync)
	setting(f, 3, &p.BatchMessages)
	setting(f, 4, &p.BatchTokens)
	setting(f, 5, &p.BatchMaxAge)
	setting(f, 6, &p.SyncDelay)
	setting(f, 7, &p.SessionIdle)
	optional(f, 8, &p.SyncRoles, enumsFields)
	integer(f, 9, &p.Extract)
	integer(f, 10, &p.SyncScope)
	f.toggle(11, &p.Infer)
	section(f, 12, &p.Recall, recallPolicyFields)
	integer(f, 13, &p.OnDelete)
	f.unknown(&p.Unknown)
}

func recallPolicyFields(f *fields, p *conversation.RecallPolicy) {
	f.toggle(1, &p.Off)
	optional(f, 2, &p.Scopes, enumsFields)
	setting(f, 3, &p.MaxMemories)
	setting(f, 4, &p.MaxEachTokens)
	setting(f, 5, &p.MaxTokens)
	setting(f, 6, &p.Deadline)
	f.number(7, &p.Floor)
	setting(f, 8, &p.MaxViewPercent)
	f.unknown(&p.Unknown)
}

// enumsFields are a list of numbers that may be set and empty.
func enumsFields[T signed](f *fields, v *[]T) { numbers(f, 1, v) }

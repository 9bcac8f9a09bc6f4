package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func writeMemoryPolicy(b []byte, p *conversation.MemoryPolicy) []byte {
	b = appendSwitch(b, 1, p.On)
	b = appendInt(b, 2, p.Sync)
	b = appendSetting(b, 3, p.BatchMessages)
	b = appendSetting(b, 4, p.BatchTokens)
	b = appendSetting(b, 5, p.BatchMaxAge)
	b = appendSetting(b, 6, p.SyncDelay)
	b = appendSetting(b, 7, p.SessionIdle)
	b = appendOptional(b, 8, p.SyncRoles, writeEnums)
	b = appendInt(b, 9, p.Extract)
	b = appendInt(b, 10, p.SyncScope)
	b = appendSwitch(b, 11, p.Infer)
	if p.Recall != (conversation.RecallPolicy{}) {
		b = appendNested(b, 12, &p.Recall, writeRecallPolicy)
	}
	b = appendInt(b, 13, p.OnDelete)
	return append(b, p.Unknown...)
}

func readMemoryPolicy(r *reader, p *conversation.MemoryPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.On = toggle(r)
		case 2:
			p.Sync = conversation.SyncStrategy(r.int32())
		case 3:
			p.BatchMessages = setting[int32](r)
		case 4:
			p.BatchTokens = setting[int32](r)
		case 5:
			p.BatchMaxAge = setting[time.Duration](r)
		case 6:
			p.SyncDelay = setting[time.Duration](r)
		case 7:
			p.SessionIdle = setting[time.Duration](r)
		case 8:
			p.SyncRoles = optional(r, readEnums[conversation.Role])
		case 9:
			p.Extract = conversation.MemoryExtraction(r.int32())
		case 10:
			p.SyncScope = conversation.MemoryScope(r.int32())
		case 11:
			p.Infer = toggle(r)
		case 12:
			nested(r, &p.Recall, readRecallPolicy)
		case 13:
			p.OnDelete = conversation.MemoryOnDelete(r.int32())
		default:
			p.Unknown += r.raw
		}
	}
}

func writeRecallPolicy(b []byte, p *conversation.RecallPolicy) []byte {
	b = appendSwitch(b, 1, p.Off)
	b = appendOptional(b, 2, p.Scopes, writeEnums)
	b = appendSetting(b, 3, p.MaxMemories)
	b = appendSetting(b, 4, p.MaxEachTokens)
	b = appendSetting(b, 5, p.MaxTokens)
	b = appendSetting(b, 6, p.Deadline)
	b = appendNumber(b, 7, p.Floor)
	b = appendSetting(b, 8, p.MaxViewPercent)
	return append(b, p.Unknown...)
}

func readRecallPolicy(r *reader, p *conversation.RecallPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Off = toggle(r)
		case 2:
			p.Scopes = optional(r, readEnums[conversation.MemoryScope])
		case 3:
			p.MaxMemories = setting[int32](r)
		case 4:
			p.MaxEachTokens = setting[int32](r)
		case 5:
			p.MaxTokens = setting[int32](r)
		case 6:
			p.Deadline = setting[time.Duration](r)
		case 7:
			p.Floor = number(r)
		case 8:
			p.MaxViewPercent = setting[int32](r)
		default:
			p.Unknown += r.raw
		}
	}
}

// writeEnums writes a list of an enum's numbers that may be set and empty.
func writeEnums[T signed](b []byte, numbers *[]T) []byte {
	return appendPacked(b, 1, *numbers, false)
}

func readEnums[T signed](r *reader, numbers *[]T) {
	for r.next() {
		if r.field == 1 {
			packed(r, func(v T) { *numbers = append(*numbers, v) })
		}
	}
}

package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

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

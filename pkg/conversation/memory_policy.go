package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// MemoryScope says whose memories are meant.
type MemoryScope int8

// The scopes of memories. The numbers are those of the API.
const (
	MemoryScopeUnspecified MemoryScope = iota
	MemoryScopeUser                    // memories of an actor
	MemoryScopeSession                 // memories of a conversation
	MemoryScopeAgent                   // memories of an agent, for all actors
	MemoryScopeOrg                     // memories of a namespace
)

// SyncStrategy says when messages are sent to the memory.
type SyncStrategy int8

// The strategies. The numbers are those of the API.
const (
	SyncUnspecified SyncStrategy = iota
	SyncImmediate
	SyncBatch
	SyncEndOfSession
)

// MemoryExtraction says how facts are extracted from what users say.
type MemoryExtraction int8

// The ways to extract facts. The numbers are those of the API.
const (
	ExtractUnspecified MemoryExtraction = iota
	ExtractNone
	ExtractExtractive
	ExtractModel
)

// MemoryOnDelete says what happens to memories when their conversation is deleted.
type MemoryOnDelete int8

// What happens to the memories. The numbers are those of the API.
const (
	OnDeleteUnspecified MemoryOnDelete = iota
	OnDeleteForget
	OnDeleteKeep
)

// MemoryPolicy says what a conversation sends to the memory, and what its views recall from it (behaviour §19).
type MemoryPolicy struct {
	On            *bool
	Sync          SyncStrategy
	BatchMessages *int32
	BatchTokens   *int32
	BatchMaxAge   *time.Duration
	SyncDelay     *time.Duration
	SessionIdle   *time.Duration
	SyncRoles     *[]Role
	Extract       MemoryExtraction
	SyncScope     MemoryScope
	Infer         *bool
	Recall        RecallPolicy
	OnDelete      MemoryOnDelete

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// RecallPolicy says which memories enter a view.
type RecallPolicy struct {
	Off            *bool
	Scopes         *[]MemoryScope
	MaxMemories    *int32
	MaxEachTokens  *int32
	MaxTokens      *int32
	Deadline       *time.Duration
	Floor          *float64
	MaxViewPercent *int32 // in percent of the budget

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// The defaults of behaviour §19.
const (
	DefaultBatchMessages     = 20
	DefaultBatchTokens       = 4_000
	DefaultBatchMaxAge       = 15 * time.Minute
	DefaultSyncDelay         = 2 * time.Second
	DefaultSessionIdle       = 30 * time.Minute
	DefaultMaxMemories       = 5
	DefaultMaxEachTokens     = 150
	DefaultMaxRecalledTokens = 600
	DefaultRecallDeadline    = 300 * time.Millisecond
	DefaultRecallFloor       = 0.25
	DefaultMaxViewPercent    = 5
)

func (p MemoryPolicy) or(next MemoryPolicy) MemoryPolicy {
	return MemoryPolicy{
		On:            cmp.Or(p.On, next.On),
		Sync:          cmp.Or(p.Sync, next.Sync),
		BatchMessages: cmp.Or(p.BatchMessages, next.BatchMessages),
		BatchTokens:   cmp.Or(p.BatchTokens, next.BatchTokens),
		BatchMaxAge:   cmp.Or(p.BatchMaxAge, next.BatchMaxAge),
		SyncDelay:     cmp.Or(p.SyncDelay, next.SyncDelay),
		SessionIdle:   cmp.Or(p.SessionIdle, next.SessionIdle),
		SyncRoles:     cmp.Or(p.SyncRoles, next.SyncRoles),
		Extract:       cmp.Or(p.Extract, next.Extract),
		SyncScope:     cmp.Or(p.SyncScope, next.SyncScope),
		Infer:         cmp.Or(p.Infer, next.Infer),
		Recall:        p.Recall.or(next.Recall),
		OnDelete:      cmp.Or(p.OnDelete, next.OnDelete),
	}
}

func (p RecallPolicy) or(next RecallPolicy) RecallPolicy {
	return RecallPolicy{
		Off:            cmp.Or(p.Off, next.Off),
		Scopes:         cmp.Or(p.Scopes, next.Scopes),
		MaxMemories:    cmp.Or(p.MaxMemories, next.MaxMemories),
		MaxEachTokens:  cmp.Or(p.MaxEachTokens, next.MaxEachTokens),
		MaxTokens:      cmp.Or(p.MaxTokens, next.MaxTokens),
		Deadline:       cmp.Or(p.Deadline, next.Deadline),
		Floor:          cmp.Or(p.Floor, next.Floor),
		MaxViewPercent: cmp.Or(p.MaxViewPercent, next.MaxViewPercent),
	}
}

// memory returns the memory settings as text, each at a fixed position.
func (p Policy) memory() string {
	m, r := p.Memory, p.Memory.Recall
	return fmt.Sprintln("memory", value(m.On), m.Sync, value(m.BatchMessages), value(m.BatchTokens), value(m.BatchMaxAge), value(m.SyncDelay),
		value(m.SessionIdle), enumText(m.SyncRoles), m.Extract, m.SyncScope, value(m.Infer), m.OnDelete,
		value(r.Off), enumText(r.Scopes), value(r.MaxMemories), value(r.MaxEachTokens), value(r.MaxTokens), value(r.Deadline), value(r.Floor), value(r.MaxViewPercent))
}

// enumText returns a list of enum values as numbers, so that two values without a name differ too.
func enumText[T ~int8](list *[]T) string {
	if list == nil {
		return "-"
	}
	return fmt.Sprintf("%d", *list)
}

// Remembers reports whether what is said in the conversation is sent to the memory.
func (p MemoryPolicy) Remembers() bool { return ValueOr(p.On, false) }

// Recalls reports whether memories enter the conversation's views.
func (p MemoryPolicy) Recalls() bool { return p.Remembers() && !ValueOr(p.Recall.Off, false) }

// RecallScopes returns the scopes from which memories are recalled.
func (p MemoryPolicy) RecallScopes() []MemoryScope {
	return ValueOr(p.Recall.Scopes, []MemoryScope{MemoryScopeUser})
}

// SyncsRole reports whether messages of a role are remembered.
func (p MemoryPolicy) SyncsRole(r Role) bool {
	return slices.Contains(ValueOr(p.SyncRoles, []Role{RoleUser}), r)
}

// TagNoMemory is the tag of a message that is never sent to the memory.
const TagNoMemory = "no-memory"

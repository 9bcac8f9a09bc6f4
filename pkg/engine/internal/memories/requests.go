// Package memories is what conversations remember of each other: the way of messages to a memory, what is recalled into views, and the calls
// about both. The record is the queue: what a memory lacks is read from it.
package memories

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Of names whose memories a call is about: those of a conversation's actor, agent or namespace, or of an actor, if ActorID is set.
type Of struct {
	Key     store.Key // of the conversation; only its namespace if ActorID is set
	ActorID string
	Scope   memory.ScopeKind // unspecified: ScopeUser
}

// SearchRequest asks for the memories that answer a query.
type SearchRequest struct {
	Key      store.Key
	Query    string
	Scopes   []memory.ScopeKind // empty: ScopeUser
	Limit    int                // 0: 10
	MinScore float64
	// ForModel: a model asks, and finds nothing where the conversation's policy has memory off.
	ForModel bool
}

// SearchResult is what was found, best first, and what could not be searched.
type SearchResult struct {
	Memories     []memory.Memory
	Degradations []conversation.Degradation
}

// ListRequest asks for a page of memories.
type ListRequest struct {
	Of    Of
	Kinds []memory.Kind // empty for all
	Token string
	Limit int
}

// AddRequest asks for a text to be remembered.
type AddRequest struct {
	Of         Of
	Text       string
	Metadata   string
	ExpireTime time.Time
	RequestID  string
}

// SyncState says what the way to a target is doing.
type SyncState int8

// The states. The numbers are those of the API.
const (
	SyncUnspecified SyncState = iota
	InSync
	Waiting
	Sending
	Retrying
	Stopped
)

// Sync says how far a conversation is remembered by a target.
type Sync struct {
	Target   string
	SyncedTo int32
	Lag      int32
	State    SyncState
	Reason   string
	NextTry  time.Time
	Skipped  int32
	Session  int32
	Residue  []string // what the target keeps of what was taken back
}

// ForgetState says how far forgetting an actor is.
type ForgetState int8

// The states. The numbers are those of the API.
const (
	ForgetUnspecified ForgetState = iota
	ForgetPending
	ForgetVerifying
	ForgetDone
	ForgetFailed
)

// Forgetting says how far forgetting an actor is.
type Forgetting struct {
	ID            string
	State         ForgetState
	Deleted       int64
	Conversations int32
	Residue       []string
	CreateTime    time.Time
	DoneTime      time.Time
}

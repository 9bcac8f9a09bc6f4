// Package memories is what conversations remember of each other: it sends messages to a memory, recalls memories into views, and serves the
// calls about both. The record is the queue: what the memory lacks is read from it.
package memories

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Of says whose memories a call is about: those of a conversation's actor, agent or namespace, or those of the actor ActorID if it is set.
type Of struct {
	Key     store.Key // of the conversation; only the namespace counts if ActorID is set
	ActorID string
	Scope   memory.ScopeKind // unspecified means ScopeUser
}

// SearchRequest asks for the memories that answer a query.
type SearchRequest struct {
	Key      store.Key
	Query    string
	Scopes   []memory.ScopeKind // empty: ScopeUser
	Limit    int                // 0: 10
	MinScore float64
	// ForModel is set for a model's call, which finds nothing if the conversation's policy has memory off.
	ForModel bool
}

// SearchResult holds the memories found, best first, and the scopes that could not be searched.
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

// SyncState says what the synchronization with a target is doing.
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

// Sync says how much of a conversation a target remembers.
type Sync struct {
	Target   string
	SyncedTo int32
	Lag      int32
	State    SyncState
	Reason   string
	NextTry  time.Time
	Skipped  int32
	Session  int32
	Residue  []string // what the target keeps although it was taken back
}

// ForgetState says how far the forgetting of an actor got.
type ForgetState int8

// The states. The numbers are those of the API.
const (
	ForgetUnspecified ForgetState = iota
	ForgetPending
	ForgetVerifying
	ForgetDone
	ForgetFailed
)

// Forgetting describes the forgetting of an actor.
type Forgetting struct {
	ID            string
	State         ForgetState
	Deleted       int64
	Conversations int32
	Residue       []string
	CreateTime    time.Time
	DoneTime      time.Time
}

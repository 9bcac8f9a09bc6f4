package conversations

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// CreateRequest asks for a conversation. An empty counter means o200k.
type CreateRequest struct {
	Key     store.Key
	Info    store.Info
	Request txn.Request
}

// UpdateRequest asks for a change of attributes. Change gets the current attributes and returns the new ones. It may be called
// several times, and must not change the counter.
type UpdateRequest struct {
	Key     store.Key
	Change  func(store.Info) (store.Info, error)
	Request txn.Request
}

// ListRequest asks for the conversations whose ids come after an id.
type ListRequest struct {
	Namespace        string
	After            string
	Limit            int
	ActorID, AgentID string
}

// ListResult is a page of conversations. Next is empty on the last page.
type ListResult struct {
	Conversations []txn.Conversation
	Next          string
}

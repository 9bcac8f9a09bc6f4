package appends

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// AppendRequest asks for messages to be put on record, all or nothing. Index, Tokens, TurnAdded, CreateTime, ordinals and part
// tokens of the messages are the engine's to set; all content is inline. The engine may keep the messages.
type AppendRequest struct {
	Key      store.Key
	Messages []conversation.Message
	// History, if set, is a whole list, of which Messages are what it adds: an attempt finds them, and callers leave them out.
	History *History
	// Fields are the paths of the messages in their request, for violations; nil for those of AppendMessage and BatchAppendMessages.
	Fields []string
	// Usage is what the provider reported of the call that gave the messages; nil for nothing. The next build counts it.
	Usage *provider.Usage
	// Extras are what comes with the messages: nil, or one for each.
	Extras        []AppendExtra
	Request       txn.Request
	ExpectedIndex *int32
	// Begins are the attributes of a conversation that is yet to be; nil for those of one that continues none.
	Begins *store.Info
	// Variants asks for the two variants of the messages.
	Variants bool
}

// AppendExtra is what comes with a message.
type AppendExtra struct {
	Additions []conversation.Addition
	Override  *conversation.ExpirationOverride
}

// OpenCall is a call that waits for a result.
type OpenCall struct {
	Call    conversation.ToolCall // arguments inline
	Message int32
	// Recalls: it calls a tool of the sidecar's own.
	Recalls bool
}

// AppendResult is the outcome of an append.
type AppendResult struct {
	Messages  []conversation.Message // as they are on record; large contents are references
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
	// Citations are what stands for results of each message, if they are cited.
	Citations [][]contents.Cited
	// Display and Persistent are the variants of the messages, contents inline, if they were asked for.
	Display, Persistent []conversation.Message
	// Calls are those of the messages that wait for a result.
	Calls []OpenCall
	// History says how a whole list was read; nil for all else.
	History *HistoryResult
}

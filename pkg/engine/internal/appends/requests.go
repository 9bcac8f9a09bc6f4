package appends

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// AppendRequest asks for messages to be put on record, all or nothing. Index, Tokens, TurnAdded, CreateTime, ordinals and part
// tokens of the messages are the engine's to set; all content is inline. The engine may keep the messages.
type AppendRequest struct {
	Key      store.Key
	Messages []conversation.Message
	// Extras are what comes with the messages: nil, or one for each.
	Extras        []AppendExtra
	Request       txn.Request
	ExpectedIndex *int32
	// Variants asks for the two variants of the messages.
	Variants bool
}

// AppendExtra is what comes with a message.
type AppendExtra struct {
	Additions []conversation.Addition
	Override  *conversation.ExpirationOverride
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
}

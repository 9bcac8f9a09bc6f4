package appends

import (
	"math"
	"strconv"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// AppendRequest asks for messages to be recorded, all or nothing. The engine sets Index, Tokens, TurnAdded, CreateTime, the ordinals
// and the part tokens of the messages. All content is inline. The engine may keep the messages.
type AppendRequest struct {
	Key      store.Key
	Messages []conversation.Message
	// History, if set, is a whole list. Callers leave Messages empty then: each try fills in those that the list adds.
	History *History
	// Fields are the paths of the messages in their request, for error messages; nil for AppendMessage and BatchAppendMessages.
	Fields []string
	// Usage is what the provider reported for the call that produced the messages; nil for none. The next build counts it.
	Usage *provider.Usage
	// Extras are per message; nil for none.
	Extras        []AppendExtra
	Request       txn.Request
	ExpectedIndex *int32
	// Begins are the attributes of the conversation if the append creates it; nil for the default ones.
	Begins *store.Info
	// Variants asks for the display and persistent variants of the messages.
	Variants bool
}

// isEmpty reports whether there is nothing to record: no message, and no usage report for a build.
func (r *AppendRequest) isEmpty(head *store.Head) bool {
	return len(r.Messages) == 0 && (r.Usage == nil || head.ManifestSeq == 0)
}

// expected checks that the first message gets the index that the caller expects.
func (r *AppendRequest) expected(index int32) error {
	if want := r.ExpectedIndex; want != nil && *want != index {
		return conversation.Errorf(conversation.IndexMismatch, "the message would get index %d, not %d", index, *want)
	}
	if int64(index)+int64(len(r.Messages)) > math.MaxInt32 {
		return conversation.Errorf(conversation.LimitExceeded, "a conversation holds at most %d messages", math.MaxInt32)
	}
	return nil
}

// field is the path of a message in its request, for error messages.
func (r *AppendRequest) field(i int) string {
	if r.Fields != nil {
		return r.Fields[i]
	}
	if r.Request.RPC == "AppendMessage" {
		return "message"
	}
	return "items[" + strconv.Itoa(i) + "].message"
}

// AppendExtra belongs to one message.
type AppendExtra struct {
	Additions []conversation.Addition
	Override  *conversation.ExpirationOverride
}

// OpenCall is a call that waits for a result.
type OpenCall struct {
	Call    conversation.ToolCall // arguments inline
	Message int32
	// Recalls is set for a call of one of the sidecar's own tools.
	Recalls bool
}

// AppendResult is the outcome of an append.
type AppendResult struct {
	Messages  []conversation.Message // as recorded; large contents are references
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
	// Citations are the citations of each message's results, if any are cited.
	Citations [][]contents.Cited
	// Display and Persistent are the two variants of the messages, with contents inline, if they were asked for.
	Display, Persistent []conversation.Message
	// Calls are the calls in the messages that wait for a result.
	Calls []OpenCall
	// History describes how a whole list was read; nil if the request had none.
	History *HistoryResult
}

package messages

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// SearchMessagesRequest asks for the messages that match a query.
type SearchMessagesRequest struct {
	Key          store.Key
	Query        string
	Range        conversation.Range // End < 0: the end of the record
	Filter       Filter
	Hidden       bool // includes messages that were taken back
	Limit        int
	SnippetChars int
}

// SearchMessagesResult holds the messages that match a query, best first.
type SearchMessagesResult struct {
	Hits     []MessageHit
	Searched int32
}

// MessageHit is a message that matches a query.
type MessageHit struct {
	Message conversation.Message // without its parts
	Score   float64
	Snippet string
	InView  bool
	Hidden  bool
}

// Filter selects messages that meet every condition which is set.
type Filter struct {
	Roles []conversation.Role
	Tags  []string
	Types []conversation.MessageType
	RunID string
}

// MessagesRequest asks for the messages of a range in order, from the index Cursor on; nil means from the start of the range.
// Size tells how many bytes of MaxBytes a message takes.
type MessagesRequest struct {
	Key        store.Key
	Range      conversation.Range // End < 0: the end of the record
	Descending bool
	Current    bool // as the view shows them
	Filter     Filter
	Limit      int
	MaxTokens  int64 // of a page; 0: no limit
	Cursor     *int32
	MaxBytes   int
	Size       func(*MessageInView) int
}

// MessageInView is a message with its place in the view.
type MessageInView struct {
	Message  conversation.Message // contents inline; parts as the request asked for
	Level    conversation.Level
	EditSeq  int64
	EditTime time.Time
	Chars    int64 // length of the original's text in code points
	Saved    int64 // in tokens
	Expired  bool  // its level comes from an expiry
	// Expandable is set if the record holds more than is shown, and none of it was erased.
	Expandable bool
	InView     bool  // in the last committed build
	Summary    int64 // the summary that stands for it; 0 for none
	Hidden     bool  // a rewind took it back
	TakenOut   bool  // the caller's list no longer holds it
}

// MessagesResult is a page of messages. Next is where the next page begins; nil on the last.
type MessagesResult struct {
	Messages  []MessageInView
	Summaries []builds.SummaryInView // those over the page's range, if Current was asked for
	Next      *int32
}

// RewindRequest takes back the messages from an index on.
type RewindRequest struct {
	Key     store.Key
	Request txn.Request
	From    int32
}

// UndoRewindRequest asks to bring back what the newest rewind took back.
type UndoRewindRequest struct {
	Key     store.Key
	Request txn.Request
}

// UndoRewindResult says what was brought back.
type UndoRewindResult struct {
	Range     conversation.Range
	Revived   []int64 // summaries that are in force again
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
}

// RewindResult says what was taken back.
type RewindResult struct {
	Range     conversation.Range
	Dissolved []int64 // summaries that covered it, and are dissolved
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
}

// RangeUnit is the unit in which a range is given.
type RangeUnit int8

// The units of ranges.
const (
	RangeNone RangeUnit = iota
	RangeChars
	RangeLines
	RangeItems
)

// ExpandRequest asks for something that left the view. One of Index, MessageID and Summary is set.
type ExpandRequest struct {
	Key       store.Key
	Request   txn.Request
	Index     *int32
	MessageID string
	Summary   int64
	Reason    string // in the caller's words; stored with the edit
	// ReturnOnly leaves the view as it is. It is implied by a range, by MaxTokens and by a summary.
	ReturnOnly bool
	Unit       RangeUnit
	Range      conversation.Range // in Unit
	MaxTokens  int32              // of the returned text; 0: no limit
	Limit      int                // children of a summary on a page
	Cursor     *int32             // where the page begins: Next of the previous page
	// MaxBytes is the limit for the reply, and Size tells how many bytes a message takes in it.
	MaxBytes int
	Size     func(*MessageInView) int
}

// ExpandResult returns what left the view.
type ExpandResult struct {
	// Message is the original. With a range, with MaxTokens or on a page, it has a single text part. It is nil for a summary.
	Message *MessageInView
	// Returned is the range of characters that was returned (or of items, if those were asked for); nil if all were.
	Returned      *conversation.Range
	TotalChars    int64
	Children      []ExpandedChild
	Events        []conversation.Event
	Revision      int64
	RewriteTokens int64
	Next          *int32 // where the next page begins; nil on the last
	Duplicate     bool
}

// ExpandedChild is one of the things that a summary stands for: a message, or an earlier summary.
type ExpandedChild struct {
	Message *MessageInView
	Summary int64
	Range   conversation.Range
}

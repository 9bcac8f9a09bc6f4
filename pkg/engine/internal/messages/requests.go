package messages

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// SearchMessagesRequest asks for messages that answer a query.
type SearchMessagesRequest struct {
	Key          store.Key
	Query        string
	Range        conversation.Range // End < 0: the end of the record
	Filter       Filter
	Hidden       bool // those that were taken back too
	Limit        int
	SnippetChars int
}

// SearchMessagesResult is the messages that answer a query, best first.
type SearchMessagesResult struct {
	Hits     []MessageHit
	Searched int32
}

// MessageHit is a message that answers a query.
type MessageHit struct {
	Message conversation.Message // withoutQueryCalls its parts
	Score   float64
	Snippet string
	InView  bool
	Hidden  bool
}

// Filter chooses messages; everything that is set must hold.
type Filter struct {
	Roles []conversation.Role
	Tags  []string
	Types []conversation.MessageType
	RunID string
}

// MessagesRequest asks for messages of a range, in order, from Cursor on (an index; the start of the range if nil). Size weighs
// a message for MaxBytes.
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
	Message  conversation.Message // contents inline; parts as asked for
	Level    conversation.Level
	EditSeq  int64
	EditTime time.Time
	Chars    int64 // length of the original's text in code points
	Saved    int64 // tokens
	Expired  bool  // its level is that of an expiry
	// Expandable says that more is on record than is shown, and nothing of it was erased.
	Expandable bool
	InView     bool  // in the last committed build
	Summary    int64 // that stands for it; 0 for none
	Hidden     bool  // a rewind took it back
	TakenOut   bool  // the caller's list lacks it
}

// MessagesResult is a page of messages. Next is where the next page begins; nil on the last.
type MessagesResult struct {
	Messages  []MessageInView
	Summaries []builds.SummaryInView // of the page's range, if Current was asked for
	Next      *int32
}

// RewindRequest takes back the messages from an index on.
type RewindRequest struct {
	Key     store.Key
	Request txn.Request
	From    int32
}

// UndoRewindRequest brings back what the newest rewind took back.
type UndoRewindRequest struct {
	Key     store.Key
	Request txn.Request
}

// UndoRewindResult says what is there again.
type UndoRewindResult struct {
	Range     conversation.Range
	Revived   []int64 // summaries that stand again
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
}

// RewindResult says what was taken back.
type RewindResult struct {
	Range     conversation.Range
	Dissolved []int64 // summaries that spoke of it and no longer stand
	Events    []conversation.Event
	Revision  int64
	Duplicate bool
}

// RangeUnit says what a range counts.
type RangeUnit int8

// The units of ranges.
const (
	RangeNone RangeUnit = iota
	RangeChars
	RangeLines
	RangeItems
)

// ExpandRequest asks for something back that left the view. One of Index, MessageID and Summary is set.
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
	Range      conversation.Range // of Unit
	MaxTokens  int32              // of the returned text; 0: no limit
	Limit      int                // children of a summary on a page
	Cursor     *int32             // where the page begins: the Next of the page before
	// MaxBytes is the reply limit, and Size weighs a message for it.
	MaxBytes int
	Size     func(*MessageInView) int
}

// ExpandResult is what left the view.
type ExpandResult struct {
	// Message is the original; with a range, MaxTokens or on a page, one with a single text part. Nil for a summary.
	Message *MessageInView
	// Returned is which characters (items, if those were asked for) came, if not all.
	Returned      *conversation.Range
	TotalChars    int64
	Children      []ExpandedChild
	Events        []conversation.Event
	Revision      int64
	RewriteTokens int64
	Next          *int32 // where the next page begins; nil on the last
	Duplicate     bool
}

// ExpandedChild is something a summary stands for: a message, or an earlier summary.
type ExpandedChild struct {
	Message *MessageInView
	Summary int64
	Range   conversation.Range
}

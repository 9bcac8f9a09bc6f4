// Package engine reads, decides and commits: the one place where conversations change. Everything it decides with is pure and
// lives elsewhere (pkg/compaction, pkg/provider, pkg/conversation); everything it keeps goes through pkg/store.
package engine

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/build"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/transfer"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Options is what an Engine is made of. Everything that is not a pure function is given: store, clock and ids.
type Options struct {
	Store store.Store
	// Counters by name; o200k, cl100k and chars4 in a server.
	Counters []tokens.Counter
	Formats  []provider.Format
	// Clock tells the time; time.Now in a server.
	Clock func() time.Time
	// IDs makes ids that cannot be guessed; crypto/rand in a server.
	IDs func() conversation.ID
	// Defaults is the server's default policy.
	Defaults conversation.Policy
	// Models are the profiles of well known models. What is put in a namespace comes before them.
	Models map[string]conversation.ModelProfile
	// Tools says of single tools, by name, what their action policies do not. Their keys are not looked at.
	Tools map[string]conversation.ActionPolicy
	// CacheBytes bounds the memory of warm windows; 0 keeps none.
	CacheBytes int64
	// ContentCacheBytes bounds the memory of contents and messages that are ready to be searched; 0 keeps none.
	ContentCacheBytes int64
	// Summaries makes summaries and extracts; nil knows no model. The caller closes it after the engine's last call.
	Summaries *summarize.Desk
	// OnError is told of failures of background work, which no caller sees.
	OnError func(error)
}

// Engine answers the sidecar's calls. It is safe for concurrent use.
type Engine struct {
	*catalogue.Admin

	store      store.Store
	clock      func() time.Time
	ids        func() conversation.ID
	defaults   conversation.Policy
	tools      map[string]conversation.ActionPolicy
	onError    func(error)
	txn        *txn.Manager
	views      *view.Loader
	blobs      *contents.Blobs
	contents   *contents.Service
	transfer   *transfer.Service
	builds     *build.Service
	catalogues *catalogue.Reader
	summaries  *summarize.Desk
}

// New returns an engine. The caller keeps the store, and closes it after the engine's last call.
func New(o Options) *Engine {
	e := &Engine{
		store:      o.Store,
		clock:      o.Clock,
		ids:        o.IDs,
		defaults:   o.Defaults,
		tools:      o.Tools,
		onError:    o.OnError,
		txn:        txn.New(o.Store, o.Clock),
		catalogues: catalogue.NewReader(o.Store, o.Clock, o.Models),
		summaries:  o.Summaries,
	}
	if e.summaries == nil {
		e.summaries = summarize.New(summarize.Options{})
	}
	e.views = view.NewLoader(o.Store, e.txn, view.NewCache(o.CacheBytes, o.Clock), o.Counters, o.Formats)
	e.blobs = contents.NewBlobs(o.Store, o.IDs, o.Clock)
	e.contents = contents.New(&contents.Options{
		Store: o.Store, Txn: e.txn, Views: e.views, Blobs: e.blobs, CacheBytes: o.ContentCacheBytes, Clock: o.Clock, Ids: o.IDs,
		Defaults: o.Defaults, Forget: e.summaries, Sweep: e.sweep,
	})
	e.builds = build.New(&build.Options{
		Store: o.Store, Txn: e.txn, Views: e.views, Blobs: e.blobs, Contents: e.contents, Catalogues: e.catalogues, Summaries: e.summaries,
		IDs: o.IDs, Defaults: o.Defaults, OnError: o.OnError,
	})
	e.transfer = transfer.New(o.Store, e.txn, e.views, e.blobs, e.contents, o.IDs, o.Defaults)
	e.Admin = catalogue.NewAdmin(e.catalogues, o.Store, e.txn, o.IDs, e.summaries)
	return e
}

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

// CreateRequest asks for a conversation. An empty counter is o200k.
type CreateRequest struct {
	Key     store.Key
	Info    store.Info
	Request txn.Request
}

// UpdateRequest asks for a change of attributes. Change gets the attributes in force and returns the new ones; it may be called
// several times. It must not change the counter.
type UpdateRequest struct {
	Key     store.Key
	Change  func(store.Info) (store.Info, error)
	Request txn.Request
}

// ListRequest asks for conversations after an id.
type ListRequest struct {
	Namespace        string
	After            string
	Limit            int
	ActorID, AgentID string
}

// ListResult is a page of conversations. Next is empty on the last page.
type ListResult struct {
	Conversations []Conversation
	Next          string
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
}

// MessagesResult is a page of messages. Next is where the next page begins; nil on the last.
type MessagesResult struct {
	Messages  []MessageInView
	Summaries []SummaryInView // of the page's range, if Current was asked for
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

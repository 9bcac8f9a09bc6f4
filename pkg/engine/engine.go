// Package engine reads, decides and commits: the one place where conversations change. Everything it decides with is pure and
// lives elsewhere (pkg/compaction, pkg/provider, pkg/conversation); everything it keeps goes through pkg/store.
package engine

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/messages"

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
	messages   *messages.Service
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
	e.messages = messages.New(o.Store, e.txn, e.views, e.blobs, e.contents, e.builds, o.Defaults)
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

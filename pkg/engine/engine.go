// Package engine reads, decides and commits. It is the only place where conversations change. What it decides with is pure and lives
// elsewhere (pkg/compaction, pkg/provider, pkg/conversation); what it keeps goes through pkg/store.
package engine

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/messages"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/quota"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/transfer"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Options is what an Engine is made of. Whatever is not a pure function is passed in: the store, the clock and the ids.
type Options struct {
	Store store.Store
	// Counters are the token counters, each known by its name. A server has o200k, cl100k and chars4.
	Counters []tokens.Counter
	Formats  []provider.Format
	// Readers read providers' JSON; with none, no JSON can be read.
	Readers []provider.Reader
	// Clock tells the time; time.Now in a server.
	Clock func() time.Time
	// IDs makes ids that cannot be guessed; crypto/rand in a server.
	IDs func() conversation.ID
	// Defaults is the server's default policy.
	Defaults conversation.Policy
	// Models are the shipped profiles of well-known models. A profile that was put in a namespace takes precedence.
	Models map[string]conversation.ModelProfile
	// Tools are the server's settings for single tools, by tool name. They apply where a namespace's action policies say nothing. Their
	// Key is ignored.
	Tools map[string]conversation.ActionPolicy
	// CacheBytes bounds the memory of warm windows; 0 keeps none.
	CacheBytes int64
	// ContentCacheBytes bounds the memory for contents and messages that are prepared for searching; 0 keeps none.
	ContentCacheBytes int64
	// Summaries makes summaries and extracts; nil means that no model is configured. The caller closes it after the engine's last call.
	Summaries *summarize.Service
	// Memory makes the memory target from what the engine lends it; nil means that nothing is remembered across conversations.
	Memory func(MemorySources) memory.Target
	// MemoryBackfill also sends messages that are older than the store's first use of the target.
	MemoryBackfill bool
	// MemoryObserver is told which batches the memory is given.
	MemoryObserver MemoryObserver
	// RecallTools are the tools with which a model recalls text, which builds may offer to it; nil for none.
	RecallTools RecallTools
	// Quotas returns the limits of a namespace. It is asked with every call; nil means no limits.
	Quotas func(namespace string) Quota
	// OnError receives failures of background work, which no caller sees.
	OnError func(error)
	// Observer is told about builds.
	Observer Observer
}

// Engine answers the sidecar's calls. It is safe for concurrent use.
type Engine struct {
	*catalogue.Admin

	store         store.Store
	defaults      conversation.Policy
	onError       func(error)
	sweeps        sweepCounts
	quotas        *quota.Keeper
	txn           *txn.Manager
	views         *view.Loader
	readers       map[conversation.Format]provider.Reader
	contents      *contents.Service
	transfer      *transfer.Service
	builds        *builds.Service
	messages      *messages.Service
	conversations *conversations.Service
	appends       *appends.Service
	memories      *memories.Service
}

// SpeakingFor returns a context for calls that may see, and create, only the conversations of the named actors. With no names, calls see
// the conversations of every actor.
func SpeakingFor(ctx context.Context, names []string) context.Context { return actors.With(ctx, names) }

// New returns an engine. The caller owns the store and closes it after the engine's last call.
func New(o Options) *Engine {
	recent := txn.NewRecent(o.Store, o.Clock)
	unguarded := o.Store
	o.Store = actors.Guard(recent)
	if o.Summaries == nil {
		o.Summaries = summarize.New(summarize.Options{})
	}
	blobs, catalogues := contents.NewBlobs(o.Store, o.IDs, o.Clock), catalogue.NewReader(o.Store, o.Clock, o.Models)
	quotas := newQuotas(&o, unguarded, catalogues)
	e := &Engine{readers: readersByFormat(o.Readers), store: o.Store, defaults: o.Defaults, onError: o.OnError, quotas: quotas, txn: txn.New(o.Store, o.Clock, quotas)}
	e.views = view.NewLoader(o.Store, e.txn, view.NewCache(o.CacheBytes, o.Clock), o.Counters, o.Formats)
	e.contents = contents.New(&contents.Options{
		Store: o.Store, Txn: e.txn, Views: e.views, Blobs: blobs, CacheBytes: o.ContentCacheBytes, Clock: o.Clock, IDs: o.IDs,
		Defaults: o.Defaults, Forget: o.Summaries, Sweep: e.sweep,
	})
	var target memory.Target
	if o.Memory != nil {
		target = o.Memory(MemorySources{
			Store: unguarded, Texts: memories.Record{Store: recent, Txn: e.txn}.Texts, Facts: factsBy(o.Summaries), IDs: o.IDs, Clock: o.Clock, Cache: e.contents.Cache.Indexes(),
		})
	}
	e.memories = memories.New(&memories.Options{
		Store: o.Store, Unguarded: recent, Txn: e.txn, Views: e.views, Target: target, Defaults: o.Defaults, IDs: o.IDs, OnError: o.OnError,
		Observer: o.MemoryObserver, Backfill: o.MemoryBackfill, DeleteConversation: e.deleteForgotten,
	})
	e.conversations = &conversations.Service{
		Store: o.Store, Txn: e.txn, Views: e.views, Catalogues: catalogues, Summaries: o.Summaries, Memories: e.memories, Clock: o.Clock, IDs: o.IDs,
		Defaults: o.Defaults,
	}
	recent.OnEpoch(e.contents.Cache.Clear)
	e.appends = appends.New(&appends.Options{
		Store: o.Store, Recent: recent, Txn: e.txn, Views: e.views, Blobs: blobs, Contents: e.contents, Catalogues: catalogues, Conversations: e.conversations,
		Memories: e.memories, Rewind: e.rewindChange, Move: e.moveChange, IDs: o.IDs, Defaults: o.Defaults, Tools: o.Tools,
	})
	e.builds = builds.New(&builds.Options{
		Store: o.Store, Txn: e.txn, Views: e.views, Blobs: blobs, Contents: e.contents, Catalogues: catalogues, Summaries: o.Summaries,
		Memories: e.memories, Appends: e.appends, IDs: o.IDs, Defaults: o.Defaults, RecallTools: o.RecallTools, OnError: o.OnError, Observer: o.Observer,
	})
	e.messages = &messages.Service{
		Store: o.Store, Txn: e.txn, Views: e.views, Blobs: blobs, Contents: e.contents, Builds: e.builds, Memories: e.memories, Defaults: o.Defaults,
	}
	e.transfer = &transfer.Service{Store: o.Store, Txn: e.txn, Views: e.views, Blobs: blobs, Contents: e.contents, IDs: o.IDs, Defaults: o.Defaults}
	e.Admin = catalogue.NewAdmin(catalogues, o.Store, e.txn, o.IDs, o.Summaries)
	return e
}

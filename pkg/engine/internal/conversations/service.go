// Package conversations creates conversations, changes what is set of them, and lets them go: with a tombstone, or so that the next append
// begins anew and the retries from before are still known.
package conversations

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Service creates conversations, changes what is set of them, and lets them go. It remembers the requests of one that began anew.
type Service struct {
	store      store.Store
	txn        *txn.Manager
	views      *view.Loader
	catalogues *catalogue.Reader
	summaries  *summarize.Service
	memories   *memories.Service
	clock      func() time.Time
	ids        func() conversation.ID
	defaults   conversation.Policy
}

// Options is what a service is made of.
type Options struct {
	Store      store.Store
	Txn        *txn.Manager
	Views      *view.Loader
	Catalogues *catalogue.Reader
	Summaries  *summarize.Service
	Memories   *memories.Service
	Clock      func() time.Time
	IDs        func() conversation.ID
	Defaults   conversation.Policy // the server's
}

// New returns a service.
func New(o *Options) *Service {
	return &Service{
		store: o.Store, txn: o.Txn, views: o.Views, catalogues: o.Catalogues, summaries: o.Summaries, memories: o.Memories, clock: o.Clock, ids: o.IDs, defaults: o.Defaults,
	}
}

// Package builds runs plans: it loads what they lack, waits for the models that they want, commits what they decide, and prepares what the
// next build will need.
package builds

import (
	"context"
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Service builds contexts, makes views smaller, and has summaries prepared behind answers.
type Service struct {
	Options

	base       context.Context // of background work; ends with Close
	end        context.CancelFunc
	background sync.WaitGroup
	mu         sync.Mutex
	closed     bool
	preparing  map[store.Key]*preparation
}

// Options is what a service is made of.
type Options struct {
	Store       store.Store
	Txn         *txn.Manager
	Views       *view.Loader
	Blobs       *contents.Blobs
	Contents    *contents.Service
	Catalogues  *catalogue.Reader
	Summaries   *summarize.Service
	Memories    *memories.Service
	Appends     *appends.Service
	IDs         func() conversation.ID
	Defaults    conversation.Policy    // the server's
	RecallTools completion.RecallTools // may be nil
	OnError     func(error)            // is told of failures of background work; may be nil
	Observer    Observer
}

// New returns a service. Close ends what it does in the background.
func New(o *Options) *Service {
	b := &Service{Options: *o, preparing: make(map[store.Key]*preparation)}
	b.base, b.end = context.WithCancel(context.Background())
	return b
}

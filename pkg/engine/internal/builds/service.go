// Package builds runs plans: it loads what they lack, waits for the models that they want, commits what they decide, and prepares what the
// next build will need.
package builds

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Service builds contexts, makes views smaller, and has summaries prepared behind answers.
type Service struct {
	Options

	drafter *drafter
	waiter  waiter
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
	d := newDrafter(o)
	return &Service{Options: *o, drafter: d, waiter: waiter{summaries: o.Summaries, memories: o.Memories, drafter: d}}
}

// Close ends the background work of the engine and waits for it. Calls that still come begin none.
func (b *Service) Close() { b.drafter.close() }

// prepareSummary has a summary prepared in the background for when the view overflows, once the view has come near to it, and says whether it
// has begun one.
func (b *Service) prepareSummary(ctx context.Context, d *plan.Decided, result *report.Result) bool {
	var next *drafts.Job
	w := d.Given.Loaded
	err := b.Views.RunPlan(ctx, w, func() (err error) {
		next, err = d.NextSummary()
		return err
	})
	if err != nil || next == nil { // the build has been committed: a later one tries again
		return false
	}
	if b.drafter.prepareDraft(next, w.Slots[drafts.Slot]) == nil { //nolint:contextcheck // it goes on behind the build
		return false
	}
	result.Degradations = append(result.Degradations, drafts.NotLive(next)...)
	return true
}

// startUpcoming starts, in the background, the summaries that later builds will want, up to the limits of who asks the models. It is a
// favor: failures are left to them.
func (b *Service) startUpcoming(ctx context.Context, d *plan.Decided) {
	var requests []*summarize.Request
	w := d.Given.Loaded
	_ = b.Views.RunPlan(ctx, w, func() error {
		requests = d.UpcomingRequests()
		return w.Extras.Incomplete()
	})
	for _, r := range requests {
		b.Summaries.Start(r) //nolint:contextcheck // it goes on behind the build
	}
}

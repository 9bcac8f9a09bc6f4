package build

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// waitForModels starts what the last attempt wanted of models and of the memory, and waits for it, as long as the build may.
func (b *Service) waitForModels(ctx context.Context, key store.Key, w *plan.WaitBudget) error {
	all := func() {
		if len(w.Wanted)+len(w.BeforeErasure) > 0 {
			b.waitForTexts(ctx, w)
		}
		if w.Job != nil {
			b.waitForSpans(ctx, w)
		}
		if q := w.Recall.Wanted; q != nil {
			began := time.Now()
			w.Recall.Answer(b.Memories.Recall(ctx, key, q))
			w.Recall.Left = max(0, q.MaxWait-time.Since(began))
		}
	}
	if w.Around == nil {
		all()
		return nil
	}
	return w.Around(all)
}

// waitForSpans has summaries of spans written: by a model, if there is time for it, or else as extracts.
func (b *Service) waitForSpans(ctx context.Context, w *plan.WaitBudget) {
	if !w.AskModel {
		w.Draft = w.Job.Extract(b.Summaries)
		return
	}
	w.ModelTried = true
	bounded, cancel := context.WithTimeout(ctx, w.Left)
	defer cancel()
	started := time.Now()
	b.prepareDraft(w.Job, w.StoredDraft) //nolint:contextcheck // it goes on when the build has given up waiting
	extracted := make(chan *drafts.Draft, 1)
	go func() { // meanwhile, so that nothing is left to be done when the time is over
		defer close(extracted)
		_ = txn.Guard(func() error { extracted <- w.Job.Extract(b.Summaries); return nil })
	}()
	b.awaitDraft(bounded, w.Job)
	w.Draft = <-extracted
	w.Left -= time.Since(started)
	w.Degradations = []conversation.Degradation{drafts.Degraded(&w.Job.Plan, b.whyNoDraft(ctx, w.Job))}
}

func (b *Service) waitForTexts(ctx context.Context, w *plan.WaitBudget) {
	chosen := b.chooseToAwait(w)
	w.Calls -= len(chosen)
	chosen = append(chosen, w.BeforeErasure...)
	b.startAll(w, chosen) //nolint:contextcheck // it goes on behind the build
	bounded, cancel := context.WithTimeout(ctx, w.Left)
	defer cancel()
	started := time.Now() // a timer of the runtime ends the wait, not the engine's clock
	b.Summaries.Wait(bounded, chosen)
	w.Left -= time.Since(started)
	b.startAll(w, w.Wanted) //nolint:contextcheck // it goes on behind the build; the others only now: they must not take the places of those that are waited for
}

// startAll begins requests. They go on when the build has given up waiting.
func (b *Service) startAll(w *plan.WaitBudget, requests []*summarize.Request) {
	for _, r := range requests {
		b.Summaries.Start(r)
		w.Requested = append(w.Requested, r)
	}
}

// chooseToAwait are the requests to wait for, as many as may be. Of those that are under way since an earlier build, the last: once they are
// there, so are the others.
func (b *Service) chooseToAwait(w *plan.WaitBudget) []*summarize.Request {
	var underWay []*summarize.Request
	for _, r := range w.Wanted {
		if b.Summaries.IsStarted(r) {
			underWay = append(underWay, r)
		}
	}
	if len(underWay) > 0 {
		return slices.Clone(underWay[max(0, len(underWay)-w.Calls):])
	}
	return slices.Clone(w.Wanted[:min(w.Calls, len(w.Wanted))])
}

// startUpcoming starts, in the background, the summaries that later builds will want, up to the limits of who asks the models. It is a
// favor: failures are left to them.
func (b *Service) startUpcoming(ctx context.Context, d *plan.Attempt) {
	var requests []*summarize.Request
	_ = b.Views.RunPlan(ctx, d.Loaded, func() error {
		requests = d.UpcomingRequests()
		return d.Loaded.Incomplete()
	})
	for _, r := range requests {
		b.Summaries.Start(r) //nolint:contextcheck // it goes on behind the build
	}
}

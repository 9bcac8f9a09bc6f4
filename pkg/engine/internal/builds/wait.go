package builds

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/memories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// maxCalls is how many calls of models a build waits for (behaviour §5). Erasures come on top: they cannot be deferred.
const maxCalls = 2

// waits is what one build waits for, over all runs of its plan.
type waits struct {
	around func(wait func()) error // stands around each wait; nil for nothing
	known  pass.Allowance
	begun  bool // known holds what may be waited for
	waited time.Duration
}

// allowance is what the next run of a plan may wait for; the first one says how long that is in all.
func (w *waits) allowance(most time.Duration) pass.Allowance {
	if !w.begun {
		w.begun, w.known.Left, w.known.Calls = true, most, maxCalls
	}
	return w.known
}

// waiter waits for models and for the memory, while nobody is kept from the conversation.
type waiter struct {
	summaries *summarize.Service
	memories  *memories.Service
	drafter   *drafter
}

// waitFor starts what a plan wants of models and of the memory, and waits for it, as long as the build may.
func (b *waiter) waitFor(ctx context.Context, key store.Key, wanted *pass.Wants, w *waits) error {
	all := func() {
		if len(wanted.Texts)+len(wanted.BeforeErasure) > 0 {
			b.waitForTexts(ctx, wanted, &w.known)
		}
		if wanted.Spans != nil {
			b.waitForSpans(ctx, wanted.Spans, &w.known)
		}
		if q := wanted.Recall; q != nil {
			began := time.Now()
			memories, skipped := b.memories.Recall(ctx, key, q)
			w.known.Recalled = &pass.Recalled{Query: q, Memories: memories, Skipped: skipped, Left: max(0, q.MaxWait-time.Since(began))}
		}
	}
	if w.around == nil {
		all()
		return nil
	}
	return w.around(all)
}

// waitForSpans has summaries of spans written: by a model, if there is time for it, or else as extracts.
func (b *waiter) waitForSpans(ctx context.Context, wanted *pass.Spans, known *pass.Allowance) {
	known.Rounds++
	known.Degradations, known.NotLive = wanted.Degradations, wanted.NotLive
	if !wanted.AskModel {
		known.Draft = wanted.Job.Extract(b.summaries)
		return
	}
	known.ModelTried = true
	bounded, cancel := context.WithTimeout(ctx, known.Left)
	defer cancel()
	started := time.Now()
	b.drafter.prepareDraft(wanted.Job, wanted.StoredDraft) //nolint:contextcheck // it goes on when the build has given up waiting
	extracted := make(chan *drafts.Draft, 1)
	go func() { // meanwhile, so that nothing is left to be done when the time is over
		defer close(extracted)
		_ = txn.Guard(func() error { extracted <- wanted.Job.Extract(b.summaries); return nil })
	}()
	b.drafter.awaitDraft(bounded, wanted.Job)
	known.Draft = <-extracted
	known.Left -= time.Since(started)
	known.Degradations = []conversation.Degradation{drafts.Degraded(&wanted.Job.Plan, b.drafter.whyNoDraft(ctx, wanted.Job))}
}

func (b *waiter) waitForTexts(ctx context.Context, wanted *pass.Wants, known *pass.Allowance) {
	chosen := b.chooseToAwait(wanted.Texts, known.Calls)
	known.Calls -= len(chosen)
	chosen = append(chosen, wanted.BeforeErasure...)
	b.startAll(known, chosen) //nolint:contextcheck // it goes on behind the build
	bounded, cancel := context.WithTimeout(ctx, known.Left)
	defer cancel()
	started := time.Now() // a timer of the runtime ends the wait, not the engine's clock
	b.summaries.Wait(bounded, chosen)
	known.Left -= time.Since(started)
	b.startAll(known, wanted.Texts) //nolint:contextcheck // it goes on behind the build; the others only now: they must not take the places of those that are waited for
}

// startAll begins requests. They go on when the build has given up waiting.
func (b *waiter) startAll(known *pass.Allowance, requests []*summarize.Request) {
	for _, r := range requests {
		b.summaries.Start(r)
		known.Requested = append(known.Requested, r)
	}
}

// chooseToAwait are the requests to wait for, of at most so many calls. Of those that are under way since an earlier build, the last: once they
// are there, so are the others.
func (b *waiter) chooseToAwait(wanted []*summarize.Request, calls int) []*summarize.Request {
	var underWay []*summarize.Request
	for _, r := range wanted {
		if b.summaries.IsStarted(r) {
			underWay = append(underWay, r)
		}
	}
	if len(underWay) > 0 {
		return slices.Clone(underWay[max(0, len(underWay)-calls):])
	}
	return slices.Clone(wanted[:min(calls, len(wanted))])
}

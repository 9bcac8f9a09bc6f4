package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// maxWaits is how many calls of models a build waits for (behaviour §5). Erasures come on top: they cannot be deferred, and would be
// left with extracts for good.
const maxWaits = 2

// waits is what one build may wait for models, over all of its attempts.
type waits struct {
	around func(wait func()) error // stands around each wait; nil for nothing

	left  time.Duration
	begun bool                 // left is set
	calls int                  // of models that may still be waited for
	asked []*summarize.Request // started already
	want  []*summarize.Request // of the attempt at hand: some are waited for
	erase []*summarize.Request // of the attempt at hand: all are waited for

	work    *work  // summaries of spans that the attempt at hand wants
	model   bool   // a model is to write them, in time that is left
	stored  []byte // what the draft's slot held
	tried   bool   // a model was waited for
	rounds  int    // how often summaries of spans were wanted
	written *draft // without a model
	lost    []Degradation
}

// reset forgets what an earlier run of the plan has wanted.
func (w *waits) reset() {
	if w != nil {
		w.want, w.erase, w.work = nil, nil, nil
	}
}

// errWait ends an attempt that would wait for summaries: nobody waits while he holds the conversation.
var errWait = errors.New("engine: wait for summaries")

// add notes a request that the build can wait for.
func (w *waits) add(r *summarize.Request, erases bool) {
	same := func(o *summarize.Request) bool { return o.Hash == r.Hash && o.Target == r.Target }
	switch {
	case w.left <= 0, slices.ContainsFunc(w.asked, same), slices.ContainsFunc(w.erase, same):
	case erases:
		w.erase = append(w.erase, r)
	case w.calls > 0 && !slices.ContainsFunc(w.want, same):
		w.want = append(w.want, r)
	}
}

// wait starts what the last attempt wanted and waits for it, as long as the build may.
func (e *Engine) wait(ctx context.Context, w *waits) error {
	all := func() {
		if len(w.want)+len(w.erase) > 0 {
			e.waitForTexts(ctx, w)
		}
		if w.work != nil {
			e.waitForSpans(ctx, w)
		}
	}
	if w.around == nil {
		all()
		return nil
	}
	return w.around(all)
}

// waitForSpans has summaries of spans written: by a model, if there is time for it, or else as extracts.
func (e *Engine) waitForSpans(ctx context.Context, w *waits) {
	if !w.model {
		w.written = w.work.extract(e.summaries)
		return
	}
	w.tried = true
	bounded, cancel := context.WithTimeout(ctx, w.left)
	defer cancel()
	started := time.Now()
	e.prepareDraft(w.work, w.stored) //nolint:contextcheck // it goes on when the build has given up waiting
	extracted := make(chan *draft, 1)
	go func() { // meanwhile, so that nothing is left to be done when the time is over
		defer close(extracted)
		_ = e.guarded(func() error { extracted <- w.work.extract(e.summaries); return nil })
	}()
	e.awaitDraft(bounded, w.work)
	w.written = <-extracted
	w.left -= time.Since(started)
	w.lost = []Degradation{degraded(&w.work.plan, e.whyNoDraft(ctx, w.work))}
}

func (e *Engine) waitForTexts(ctx context.Context, w *waits) {
	chosen := w.choose(e.summaries)
	w.calls -= len(chosen)
	chosen = append(chosen, w.erase...)
	w.start(e.summaries, chosen) //nolint:contextcheck // it goes on behind the build
	bounded, cancel := context.WithTimeout(ctx, w.left)
	defer cancel()
	started := time.Now() // a timer of the runtime ends the wait, not the engine's clock
	e.summaries.Wait(bounded, chosen)
	w.left -= time.Since(started)
	w.start(e.summaries, w.want) //nolint:contextcheck // it goes on behind the build; the others only now: they must not take the places of those that are waited for
}

// start begins requests. They go on when the build has given up waiting.
func (w *waits) start(desk *summarize.Desk, requests []*summarize.Request) {
	for _, r := range requests {
		desk.Start(r)
		w.asked = append(w.asked, r)
	}
}

// choose are the requests to wait for, as many as may be. Of those that are under way since an earlier build, the last: once they are
// there, so are the others.
func (w *waits) choose(desk *summarize.Desk) []*summarize.Request {
	var underWay []*summarize.Request
	for _, r := range w.want {
		if desk.Knows(r) {
			underWay = append(underWay, r)
		}
	}
	if len(underWay) > 0 {
		return slices.Clone(underWay[max(0, len(underWay)-w.calls):])
	}
	return slices.Clone(w.want[:min(w.calls, len(w.want))])
}

// foresee notes whose summaries to prepare: of what waits for one, and of what falls due in the next turn.
func (d *deciding) foresee(due []candidate, coming []expiry.Due) {
	for i := range due {
		d.foreseeOne(&due[i].Due)
	}
	for i := range coming {
		if coming[i].Since == d.turn+1 {
			d.foreseeOne(&coming[i])
		}
	}
}

func (d *deciding) foreseeOne(x *expiry.Due) {
	if x.Kind != expiry.Compact || x.Expiration.CompactMode != conversation.CompactSummary {
		return
	}
	if size := measure(x); x.Message().Role == conversation.RoleSystem || size.longest() <= int64(x.Expiration.Length()) {
		return
	}
	if prompt, _ := d.settings.catalogue.Prompt(x.Expiration.CompactPromptID); !d.summaries.CanAsk(&prompt) {
		return
	}
	if _, reason := d.view.Part(x.Index, positionsOf(x)[0]); reason.Expired() {
		return // it was made in this build
	}
	d.foreseen = append(d.foreseen, *x)
}

// startForeseen starts, in the background, the summaries that later builds will want, up to the limits of who asks the models. It is a
// favor: failures are left to them.
func (e *Engine) startForeseen(ctx context.Context, d *deciding) {
	var requests []*summarize.Request
	_ = e.views.RunPlan(ctx, d.Loaded, func() error {
		requests = d.foreseenRequests()
		return d.Loaded.Incomplete()
	})
	for _, r := range requests {
		e.summaries.Start(r) //nolint:contextcheck // it goes on behind the build
	}
}

// foreseenRequests asks for the summaries that later builds will want.
func (d *deciding) foreseenRequests() []*summarize.Request {
	var out []*summarize.Request
	for i := range d.foreseen {
		x := &d.foreseen[i]
		if o, err := d.original(x); err == nil && o.Chars > x.Expiration.Length() {
			out = append(out, d.summaryRequest(x, o))
		}
	}
	return out
}

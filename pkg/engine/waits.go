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

// maxWaits is how many calls of models a build starts and waits for (behaviour §5).
const maxWaits = 2

// waits is what one build may wait for models, over all of its attempts.
type waits struct {
	left  time.Duration
	begun bool                 // left is set
	calls int                  // of models that may be waited for
	asked []*summarize.Request // waited for already
	want  []*summarize.Request // of the attempt at hand

	work    *work  // summaries of spans that the attempt at hand wants
	model   bool   // a model is to write them, in time that is left
	stored  []byte // what the draft's slot held
	tried   bool   // a model was waited for
	rounds  int    // how often summaries of spans were wanted
	written *draft // without a model
	lost    []Degradation
}

// errWait ends an attempt that would wait for summaries: nobody waits while he holds the conversation.
var errWait = errors.New("engine: wait for summaries")

// worth says whether a build can wait for a request.
func (w *waits) worth(r *summarize.Request) bool {
	same := func(o *summarize.Request) bool { return o.Hash == r.Hash && o.Target == r.Target }
	return w.left > 0 && len(w.asked)+len(w.want) < w.calls && !slices.ContainsFunc(w.asked, same) && !slices.ContainsFunc(w.want, same)
}

// wait starts what the last attempt wanted and waits for it, as long as the build may.
func (e *Engine) wait(ctx context.Context, w *waits) {
	if len(w.want) > 0 {
		e.waitForTexts(ctx, w)
	}
	if w.work != nil {
		e.waitForSpans(ctx, w)
	}
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
	for _, r := range w.want {
		e.summaries.Start(r) //nolint:contextcheck // it goes on when the build has given up waiting
	}
	bounded, cancel := context.WithTimeout(ctx, w.left)
	defer cancel()
	started := time.Now() // a timer of the runtime ends the wait, not the engine's clock
	e.summaries.Wait(bounded, w.want)
	w.left -= time.Since(started)
	w.asked, w.want = append(w.asked, w.want...), nil
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
	if m := x.Message(); m.Role == conversation.RoleSystem || measure(x).chars <= int64(x.Expiration.Length()) {
		return
	}
	if _, reason := d.view.Part(x.Index, positionsOf(x)[0]); reason.Expired() {
		return // it was made in this build
	}
	d.foreseen = append(d.foreseen, *x)
}

// prepare starts, in the background, summaries that later builds will want, as many as this build may still start. It is a
// favour: failures are left to them.
func (d *deciding) prepare(ctx context.Context) {
	left := d.waits.calls - len(d.waits.asked)
	for i := range d.foreseen {
		if left <= 0 {
			return
		}
		x := &d.foreseen[i]
		prompt, _ := d.settings.catalogue.prompt(x.Expiration.CompactPromptID)
		if _, ended := d.engine.summaries.Look(&summarize.Request{Prompt: prompt}); ended {
			continue // there is no model to ask
		}
		o, err := d.original(ctx, x)
		if err != nil {
			continue
		}
		if r := d.summaryRequest(x, o); !d.engine.summaries.Knows(r) {
			d.engine.summaries.Start(r) //nolint:contextcheck // it goes on behind the build
			left--
		}
	}
}

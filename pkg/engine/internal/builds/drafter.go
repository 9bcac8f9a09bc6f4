package builds

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

const (
	// leaseMargin is how much longer a lease is than the calls under it may take.
	leaseMargin = 15 * time.Second
	// draftPoll is how often a build that waits for another process looks whether the draft is there.
	draftPoll = 50 * time.Millisecond
)

// drafter has drafts of summaries written, in the background of builds, by one process for a conversation at a time.
type drafter struct {
	store     store.Store
	summaries *summarize.Service
	now       func() time.Time
	ids       func() conversation.ID
	onError   func(error) // is told of failures; may be nil

	base       context.Context // of background work; ends with close
	end        context.CancelFunc
	background sync.WaitGroup
	mu         sync.Mutex
	closed     bool
	preparing  map[store.Key]*preparation
}

func newDrafter(o *Options) *drafter {
	d := &drafter{
		store: o.Store, summaries: o.Summaries, now: o.Txn.Now, ids: o.IDs, onError: o.OnError, preparing: make(map[store.Key]*preparation),
	}
	d.base, d.end = context.WithCancel(context.Background())
	return d
}

// preparation is a draft on its way in this process.
type preparation struct{ done chan struct{} }

// prepareDraft has a model write a work's summaries in the background, and keeps them in the conversation's slots. One process
// at a time does, and in it one goroutine for a conversation. stored is what the draft's slot held. It returns what is under way.
func (d *drafter) prepareDraft(w *drafts.Job, stored []byte) *preparation {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.preparing[w.Key]; p != nil || d.closed {
		return p
	}
	p := &preparation{done: make(chan struct{})}
	d.preparing[w.Key] = p
	d.background.Add(1)
	go func() {
		defer d.background.Done()
		if err := txn.Guard(func() error { return d.prepareNow(w, stored) }); err != nil && d.onError != nil {
			d.onError(err)
		}
		d.mu.Lock()
		delete(d.preparing, w.Key)
		d.mu.Unlock()
		close(p.done)
	}()
	return p
}

// preparationOf is the draft that this process prepares for a conversation; nil if it prepares none.
func (d *drafter) preparationOf(key store.Key) *preparation {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.preparing[key]
}

// close ends the background work and waits for it. What is still asked for then is not begun.
func (d *drafter) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	d.background.Wait()
}

// prepareNow takes the lease, has the summaries written, and keeps them, unless the lease is lost meanwhile: the conversation was
// rewound or summarized otherwise, or something in it was erased.
func (d *drafter) prepareNow(w *drafts.Job, stored []byte) error {
	earlier, err := drafts.Parse(stored)
	if err != nil || earlier.Leased(d.now()) {
		return err // another process is at it
	}
	calls := w.SpanCalls()
	if w.Live != nil { // the others are asked if it fails
		calls++
	}
	patience := time.Duration(calls)*d.summaries.Deadline() + leaseMargin
	ctx, cancel := context.WithTimeout(d.base, patience)
	defer cancel()
	lease := drafts.Record{State: drafts.Preparing, Owner: fmt.Sprintf("%x", d.ids()), Until: d.now().Add(patience), Plan: w.Plan}
	held, err := d.setDraft(ctx, w, stored, &lease, earlier.WithoutTexts())
	if err != nil || held == nil {
		return err
	}
	texts, err := d.draftTexts(ctx, w)
	outcome := drafts.Record{State: drafts.Ready, Plan: w.Plan}
	if err != nil {
		outcome = drafts.Record{State: drafts.Failed, Until: d.now().Add(drafts.FailedFor), Reason: reasonOf(err)}
	}
	if d.base.Err() != nil || errors.Is(err, errPlanBroken) { // whoever comes next may begin at once
		last, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		_, err := d.setDraft(last, w, held, nil, nil)
		return err
	}
	_, err = d.setDraft(ctx, w, held, &outcome, texts)
	return err
}

// errPlanBroken ends work on a plan that stands no more.
var errPlanBroken = errors.New("engine: what was to be summarized has changed")

// requirePlanStands is an error if a work's plan stands no more: what was erased, above all, must not be given to a model.
func (d *drafter) requirePlanStands(ctx context.Context, w *drafts.Job) error {
	snap, err := d.store.Read(ctx, w.Key, store.Query{Incarnation: w.Incarnation, Edits: &store.EditRange{After: w.EditSeq}})
	if err != nil {
		return err
	}
	steps := w.Steps
	if w.Live != nil { // it shows all of the context
		steps = []drafts.Step{{Range: conversation.Range{End: view.MaxIndex}}}
	}
	if slices.ContainsFunc(steps, func(s drafts.Step) bool { return drafts.Broken(&s, w.EditSeq, snap.Edits) }) {
		return errPlanBroken
	}
	return nil
}

// setDraft replaces what the draft's slot holds, if it holds what it is said to, and returns what it holds then; nil if somebody
// else was faster, or the conversation is gone.
func (d *drafter) setDraft(ctx context.Context, w *drafts.Job, before []byte, after *drafts.Record, texts map[string][]byte) ([]byte, error) {
	var value []byte
	if after != nil {
		value = after.Encode()
	}
	c := &store.Change{
		Aside: true, Head: store.Head{Incarnation: w.Incarnation},
		Slots: map[string][]byte{drafts.Slot: value}, ExpectSlots: map[string][]byte{drafts.Slot: before},
	}
	maps.Copy(c.Slots, texts)
	err := d.store.Commit(ctx, w.Key, c)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// draftTexts has a model write the summaries, and returns them as slots. What is too large for one is a failure like any other.
func (d *drafter) draftTexts(ctx context.Context, w *drafts.Job) (map[string][]byte, error) {
	made, err := d.summarize(ctx, w)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for i := range made.Texts {
		text := &made.Texts[i]
		value := record.EncodeDraftText(&record.DraftText{Text: text.Text, Model: text.Model, Facts: text.SummaryFacts})
		if len(value) > store.MaxSlot {
			return nil, &summarize.Failure{Reason: summarize.TooLong}
		}
		out[drafts.TextSlot(i)] = value
	}
	return out, nil
}

func reasonOf(err error) string {
	var f *summarize.Failure
	if errors.As(err, &f) {
		return f.Error()
	}
	return "the summary could not be prepared"
}

// askModel asks a model for a summary of one document and waits for it. live, if set, asks the agent's own.
func (d *drafter) askModel(ctx context.Context, w *drafts.Job, document string, live *summarize.Live) summarize.Result {
	r := &summarize.Request{
		Scope: w.Scope(), Content: document, Hash: sha256.Sum256([]byte(document)), Chars: utf8.RuneCountInString(document),
		Target: w.Target(), Prompt: w.Prompt, Span: true, Live: live,
	}
	if result, ended := d.summaries.Result(r); ended {
		return result
	}
	d.summaries.Start(r) //nolint:contextcheck // the service has deadlines of its own
	d.summaries.Wait(ctx, []*summarize.Request{r})
	if result, ended := d.summaries.Result(r); ended {
		return result
	}
	return summarize.Result{Err: &summarize.Failure{Reason: summarize.Timeout}}
}

// awaitDraft waits until a conversation's draft is there or has failed, here or in another process, or the time is over.
func (d *drafter) awaitDraft(ctx context.Context, w *drafts.Job) {
	ticker := time.NewTicker(draftPoll)
	defer ticker.Stop()
	for {
		var done <-chan struct{}
		if p := d.preparationOf(w.Key); p != nil {
			done = p.done
		} else if !d.draftIsLeased(ctx, w) {
			return
		}
		select {
		case <-done: // unless another process was faster, it has ended
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// draftIsLeased says whether some process is preparing a draft.
func (d *drafter) draftIsLeased(ctx context.Context, w *drafts.Job) bool {
	r, err := d.storedDraft(ctx, w)
	return err == nil && r.Leased(d.now())
}

// storedDraft reads what a conversation's draft is by now.
func (d *drafter) storedDraft(ctx context.Context, w *drafts.Job) (drafts.Record, error) {
	snap, err := d.store.Read(ctx, w.Key, store.Query{Incarnation: w.Incarnation, Slots: []string{drafts.Slot}})
	if err != nil {
		return drafts.Record{}, err
	}
	return drafts.Parse(snap.Slots[drafts.Slot])
}

// whyNoDraft says why a wait for a draft was in vain.
func (d *drafter) whyNoDraft(ctx context.Context, w *drafts.Job) string {
	if r, err := d.storedDraft(ctx, w); err == nil && r.State == drafts.Failed {
		return r.Reason
	}
	return pass.ErrNotReady.Error()
}

// summarize has a model write the summaries: the agent's own, if it can be asked at the price of its cache, and else, or if its answer
// cannot be used, those of spans. A span that is too large for these goes in pieces, each of which updates what the ones before it gave.
func (d *drafter) summarize(ctx context.Context, w *drafts.Job) (*drafts.Draft, error) {
	if w.Live == nil {
		return d.summarizeSpans(ctx, w)
	}
	made, err := d.summarizeLive(ctx, w)
	if errors.As(err, new(*summarize.Failure)) && ctx.Err() == nil && d.summaries.CanAsk(&w.Prompt) {
		w.Live = nil // a whole context need not be held any longer, and what changes in it matters no more
		return d.summarizeSpans(ctx, w)
	}
	return made, err
}

// summarizeLive has the agent's own model write the one summary of a job.
func (d *drafter) summarizeLive(ctx context.Context, w *drafts.Job) (*drafts.Draft, error) {
	if err := d.requirePlanStands(ctx, w); err != nil {
		return nil, err
	}
	earlier := w.EarlierTexts(0, nil)
	result := d.askModel(ctx, w, summarize.SpanContent(drafts.Bodies(earlier), w.Units[0], 0), w.Live)
	if result.Err != nil {
		return nil, result.Err
	}
	text := w.Finish(w.CutToLimit(result.Text), result.Model, w.Facts(0, earlier))
	return &drafts.Draft{Plan: w.Plan, Texts: []drafts.Text{text}}, nil
}

// summarizeSpans has models of spans write the summaries.
func (d *drafter) summarizeSpans(ctx context.Context, w *drafts.Job) (*drafts.Draft, error) {
	made := &drafts.Draft{Plan: w.Plan}
	for i := range w.Steps {
		earlier := w.EarlierTexts(i, made.Texts)
		texts, model := drafts.Bodies(earlier), ""
		pieces := w.Pieces(i)
		for _, units := range pieces {
			if err := d.requirePlanStands(ctx, w); err != nil {
				return nil, err
			}
			result := d.askModel(ctx, w, summarize.SpanContent(texts, units, w.CharsOf(len(pieces))), nil)
			if result.Err != nil {
				return nil, result.Err
			}
			texts, model = []string{result.Text}, result.Model
		}
		made.Texts = append(made.Texts, w.Finish(w.CutToLimit(texts[0]), model, w.Facts(i, earlier)))
	}
	return made, nil
}

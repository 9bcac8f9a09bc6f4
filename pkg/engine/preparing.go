package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

const (
	// leaseMargin is how much longer a lease is than the calls under it may take.
	leaseMargin = 15 * time.Second
	// failedFor is how long nobody tries again after a failure.
	failedFor = time.Minute
	// draftPoll is how often a build that waits for another process looks whether the draft is there.
	draftPoll = 50 * time.Millisecond
)

// preparing is a draft on its way in this process.
type preparing struct{ done chan struct{} }

// prepareDraft has a model write a work's summaries in the background, and keeps them in the conversation's slots. One process
// at a time does, and in it one goroutine for a conversation. stored is what the draft's slot held. It returns what is under way.
func (e *Engine) prepareDraft(w *work, stored []byte) *preparing {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.preparing[w.key]; p != nil || e.closed {
		return p
	}
	p := &preparing{done: make(chan struct{})}
	e.preparing[w.key] = p
	e.background.Add(1)
	go func() {
		defer e.background.Done()
		if err := e.guarded(func() error { return e.prepareNow(w, stored) }); err != nil && e.onError != nil {
			e.onError(err)
		}
		e.mu.Lock()
		delete(e.preparing, w.key)
		e.mu.Unlock()
		close(p.done)
	}()
	return p
}

// underWay is the draft that this process prepares for a conversation; nil if it prepares none.
func (e *Engine) underWay(key Key) *preparing {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.preparing[key]
}

// Close ends the background work of the engine and waits for it. Calls that still come begin none.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	e.background.Wait()
}

// prepareNow takes the lease, has the summaries written, and keeps them, unless the lease is lost meanwhile: the conversation was
// rewound or summarized otherwise, or something in it was erased.
func (e *Engine) prepareNow(w *work, stored []byte) error {
	earlier, err := parseDraft(stored)
	if err != nil || earlier.leased(e.txn.Now()) {
		return err // another process is at it
	}
	patience := time.Duration(w.calls())*e.summaries.Deadline() + leaseMargin
	ctx, cancel := context.WithTimeout(e.base, patience)
	defer cancel()
	lease := draftRecord{State: draftPreparing, Owner: fmt.Sprintf("%x", e.ids()), Until: e.txn.Now().Add(patience), Plan: w.plan}
	held, err := e.setDraft(ctx, w, stored, &lease, earlier.withoutTexts())
	if err != nil || held == nil {
		return err
	}
	texts, err := e.draftTexts(ctx, w)
	outcome := draftRecord{State: draftReady, Plan: w.plan}
	if err != nil {
		outcome = draftRecord{State: draftFailed, Until: e.txn.Now().Add(failedFor), Reason: reasonOf(err)}
	}
	if e.base.Err() != nil || errors.Is(err, errOutlived) { // whoever comes next may begin at once
		last, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		_, err := e.setDraft(last, w, held, nil, nil)
		return err
	}
	_, err = e.setDraft(ctx, w, held, &outcome, texts)
	return err
}

// errOutlived ends work on a plan that stands no more.
var errOutlived = errors.New("engine: what was to be summarized has changed")

// outlived is an error if a work's plan stands no more: what was erased, above all, must not be given to a model.
func (e *Engine) outlived(ctx context.Context, w *work) error {
	snap, err := e.store.Read(ctx, w.key, store.Query{Incarnation: w.incarnation, Edits: &store.EditRange{After: w.EditSeq}})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(w.Steps, func(s step) bool { return broken(&s, w.EditSeq, snap.Edits) }) {
		return errOutlived
	}
	return nil
}

// setDraft replaces what the draft's slot holds, if it holds what it is said to, and returns what it holds then; nil if somebody
// else was faster, or the conversation is gone.
func (e *Engine) setDraft(ctx context.Context, w *work, before []byte, after *draftRecord, texts map[string][]byte) ([]byte, error) {
	var value []byte
	if after != nil {
		value = after.encode()
	}
	c := &store.Change{
		Aside: true, Head: Head{Incarnation: w.incarnation},
		Slots: map[string][]byte{draftSlot: value}, ExpectSlots: map[string][]byte{draftSlot: before},
	}
	maps.Copy(c.Slots, texts)
	err := e.store.Commit(ctx, w.key, c)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// draftTexts has a model write the summaries, and returns them as slots. What is too large for one is a failure like any other.
func (e *Engine) draftTexts(ctx context.Context, w *work) (map[string][]byte, error) {
	d, err := e.summarize(ctx, w)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for i := range d.written {
		text := &d.written[i]
		value := record.EncodeDraftText(&record.DraftText{Text: text.Text, Model: text.Model, Facts: text.known})
		if len(value) > store.MaxSlot {
			return nil, &summarize.Failure{Reason: summarize.TooLong}
		}
		out[draftTextSlot(i)] = value
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

// ask asks a model for a summary of one document and waits for it.
func (e *Engine) ask(ctx context.Context, w *work, document string) summarize.Result {
	r := &summarize.Request{
		Scope: w.scope(), Content: document, Hash: sha256.Sum256([]byte(document)), Chars: utf8.RuneCountInString(document),
		Target: w.target(), Prompt: w.prompt, Span: true,
	}
	if result, ended := e.summaries.Look(r); ended {
		return result
	}
	e.summaries.Start(r) //nolint:contextcheck // the desk has deadlines of its own
	e.summaries.Wait(ctx, []*summarize.Request{r})
	if result, ended := e.summaries.Look(r); ended {
		return result
	}
	return summarize.Result{Err: &summarize.Failure{Reason: summarize.Timeout}}
}

func (w *work) scope() summarize.Scope {
	return summarize.Scope{Namespace: w.key.Namespace, Conversation: w.key.Conversation}
}

// awaitDraft waits until a conversation's draft is there or has failed, here or in another process, or the time is over.
func (e *Engine) awaitDraft(ctx context.Context, w *work) {
	ticker := time.NewTicker(draftPoll)
	defer ticker.Stop()
	for {
		var done <-chan struct{}
		if p := e.underWay(w.key); p != nil {
			done = p.done
		} else if !e.leased(ctx, w) {
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

// leased says whether some process is preparing a draft.
func (e *Engine) leased(ctx context.Context, w *work) bool {
	snap, err := e.store.Read(ctx, w.key, store.Query{Incarnation: w.incarnation, Slots: []string{draftSlot}})
	if err != nil {
		return false
	}
	r, err := parseDraft(snap.Slots[draftSlot])
	return err == nil && r.leased(e.txn.Now())
}

// whyNoDraft says why a wait for a draft was in vain.
func (e *Engine) whyNoDraft(ctx context.Context, w *work) string {
	snap, err := e.store.Read(ctx, w.key, store.Query{Incarnation: w.incarnation, Slots: []string{draftSlot}})
	if err == nil {
		if r, err := parseDraft(snap.Slots[draftSlot]); err == nil && r.State == draftFailed {
			return r.Reason
		}
	}
	return errNotReady.Error()
}

// degraded says in words that a model's summary did not come.
func degraded(p *plan, why string) Degradation {
	last := p.Steps[len(p.Steps)-1].Range
	return Degradation{
		Asked:  fmt.Sprintf("a model's summary of messages %d-%d", last.First, last.End-1),
		Reason: why, Done: "the sidecar's own extract was used",
	}
}

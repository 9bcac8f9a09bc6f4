package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// overTarget is by how much a view may be over the target of a compaction before more is summarized, in percent of the target.
const overTarget = 105

// compactIfFull makes the view smaller if it has outgrown its budget, or if a summary is ready that costs nothing now.
func (d *deciding) compactIfFull() error {
	if d.settings.compact.strategy == conversation.StrategySlidingWindow {
		return d.slideIfFull()
	}
	if !d.summarizes() {
		return nil
	}
	why := d.trigger()
	if r, _, err := draftOf(d.Loaded); err != nil {
		return err
	} else if why == conversation.ReasonUnspecified && r.State == draftReady && d.cold() {
		why = conversation.ReasonCacheCold
	}
	if why == conversation.ReasonUnspecified || d.hopeless() {
		return nil
	}
	_, err := d.compact(why, d.settings.compact.target, d.settings.compact.keep)
	return err
}

// hopeless says whether not even the newest unit has room beside what is always sent. Clipping it may help, and a summary does not:
// no model is asked for one, as the build may well be refused.
func (d *deciding) hopeless() bool {
	least, newest := d.fixed, d.out.Newest()
	for i := range d.out.Units {
		u := &d.out.Units[i]
		if i == newest || u.Summary == nil && (u.First() < d.Kept.LeadingSystem || d.pinned(u.First())) {
			least += d.out.Weights[i]
		}
	}
	return least > d.settings.limit
}

// compact lets summaries take the place of what is older than the newest messages. A draft that stands is published first; what
// it leaves over the target is summarized without a model. It says whether the view has become smaller by enough; if not, the view
// is left as it was.
func (d *deciding) compact(why conversation.Reason, target int64, keep int32) (bool, error) {
	before, saved := d.fixed+d.out.Tokens(), d.save()
	if dr, err := d.ready(); err != nil {
		return false, err
	} else if dr != nil {
		if err := d.publish(dr, why); err != nil {
			return false, err
		}
	}
	if why == conversation.ReasonCacheCold {
		return d.settle(before, saved), nil
	}
	if len(d.edits) == saved.edits || d.fixed+d.out.Tokens() > target*overTarget/100 {
		if err := d.summarizeRest(why, target, keep); err != nil {
			return false, err
		}
	}
	if !d.settle(before, saved) { // by what the summary replaces alone
		return false, nil
	}
	return true, d.cutShares(target)
}

// cutShares cuts the request and the opening down to their shares of the budget, where the view is over the target that a compaction
// aims at: what stands before the tail changes anyway.
func (d *deciding) cutShares(target int64) error {
	if d.fixed+d.out.Tokens() <= target || !d.published() {
		return nil
	}
	c, win := &claims{}, d.out.Window
	c.Newest.First, win.Restored = win.Start, d.lapsed(win.Restored)
	if err := d.claimAsked(c); err != nil {
		return err
	}
	var r compaction.FitResult
	if c.Request != nil {
		r.Request = d.shareOf(c.Request, compaction.RequestShare)
	}
	if c.Opening != nil {
		r.Opening = d.shareOf(c.Opening, compaction.OpeningShare)
	}
	if err := d.cutDown(&win, c, &r); err != nil {
		return err
	}
	return d.move(win)
}

// shareOf is what a compaction leaves of the request or the opening: its share of the budget, or all of it if it was brought back lately.
func (d *deciding) shareOf(c *compaction.Claim, divisor int64) int64 {
	if d.protected(c.First) {
		return c.Whole
	}
	return max(d.settings.limit/divisor, c.Least)
}

// summarizeRest plans anew and publishes what was written for the plan: by a model, if the build may wait for one, or else as an
// extract.
func (d *deciding) summarizeRest(why conversation.Reason, target int64, keep int32) error {
	p, err := d.planned(d.tailRoom(target, 0), keep)
	if err != nil || p == nil {
		return err
	}
	if dr := d.waits.written; dr != nil && d.stands(&dr.plan, d.Loaded.Edits...) && d.followsOn(&dr.plan) {
		d.degradations = append(d.degradations, d.waits.lost...)
		return d.publish(dr, why)
	}
	if d.waits.rounds >= maxRounds {
		return nil // the conversation moves faster than it can be summarized: the window's start moves instead
	}
	w, err := d.work(p, d.summaryRoom(p, target))
	if err != nil {
		return err
	}
	d.waits.rounds++
	d.waits.work, d.waits.stored, d.waits.model = w, d.Loaded.Slots[draftSlot], false
	if !d.published() && d.summaries.CanAsk(&w.prompt) {
		var why string
		if d.waits.model, why = d.mayWait(w); !d.waits.model && !d.waits.tried {
			d.waits.lost = []Degradation{degraded(p, why)}
		}
	}
	return errWait // nobody holds the conversation while summaries are written
}

// followsOn says whether a plan was made behind what this build has published: it takes up what of that lies in its ranges. A draft
// may have become ready, and been published, after the plan was made.
func (d *deciding) followsOn(p *plan) bool {
	return !slices.ContainsFunc(d.view.Summaries(), func(e conversation.Edit) bool {
		overlaps := func(s step) bool { return s.Range.Overlaps(e.Range) }
		takesUp := func(s step) bool { return slices.Contains(s.Children, e.Summary.ID) }
		return e.Seq > d.Loaded.Head.EditSeq && slices.ContainsFunc(p.Steps, overlaps) && !slices.ContainsFunc(p.Steps, takesUp)
	})
}

// maxRounds is how often a build has summaries written.
const maxRounds = 4

// published says whether this build has published a summary already: what is added to it is not worth a wait.
func (d *deciding) published() bool {
	for i := range d.edits {
		if d.edits[i].Kind == conversation.EditSummarize {
			return true
		}
	}
	return false
}

// mayWait says whether the build can wait for a model to do the work, and if not, why.
func (d *deciding) mayWait(w *work) (may bool, why string) {
	switch r, _, _ := draftOf(d.Loaded); {
	case d.dry:
		return false, "a dry run asks no model"
	case r.State == draftFailed && d.now.Before(r.Until):
		return false, r.Reason
	case d.waits.left <= 0 || d.waits.tried || w.calls() > d.waits.calls:
		return false, errNotReady.Error()
	default:
		return true, ""
	}
}

// saved is the state of a decision, to come back to.
type saved struct {
	view  *conversation.View
	out   *view.Composition
	edits int
}

func (d *deciding) save() saved {
	d.own = nil
	return saved{view: d.view, out: d.out, edits: len(d.edits)}
}

// settle keeps what was done since if it was worth it, and goes back otherwise.
func (d *deciding) settle(before int64, s saved) bool {
	if len(d.edits) > s.edits && d.shrunk(before) {
		return true
	}
	for _, e := range d.edits[s.edits:] {
		d.degradations = append(d.degradations, Degradation{
			Asked:  fmt.Sprintf("a summary of messages %d-%d", e.Range.First, e.Range.End-1),
			Reason: "it would not have made the view smaller by enough", Done: "the window's start moves instead, if the view is over its budget",
		})
		d.failures = append(d.failures, conversation.Event{
			Type: conversation.EventCompactionFailed, Turn: d.turn, Index: e.Range.First, Last: e.Range.End - 1, Reason: e.Reason,
		})
	}
	d.edits, d.view, d.out = d.edits[:s.edits], s.view, s.out
	return false
}

// publish makes the edits of a draft and lays the view out behind it.
func (d *deciding) publish(dr *draft, why conversation.Reason) error {
	ids := make([]int64, len(dr.Steps))
	for i := range dr.Steps {
		e := d.summaryEdit(dr, i, ids)
		e.Reason = why
		if len(dr.Steps[i].Children)+len(dr.Steps[i].Steps) > 0 && dr.Steps[i].Own.Len() == 0 {
			e.Reason = conversation.ReasonSummariesMerged
		}
		d.add(e)
		ids[i] = e.Summary.ID
	}
	var err error
	d.out, err = d.Compose(d.view, d.startingAt(max(d.out.Window.Start, dr.Cut)))
	return err
}

// summaryEdit is the edit of a draft's step. ids are those of the steps before it.
func (d *deciding) summaryEdit(dr *draft, i int, ids []int64) conversation.Edit {
	step, text := &dr.Steps[i], &dr.written[i]
	n, _ := d.settings.counter.Count(text.Text)
	s := &conversation.Summary{
		ID: d.Loaded.Head.EditSeq + int64(len(d.edits)) + 1, Level: step.Level, Model: text.Model, Tokens: int32(n),
		Text: conversation.Content{Inline: text.Text}, Facts: conversation.Content{Inline: string(record.EncodeFacts(&text.known))},
		Except: d.except(step.Range), Children: append([]int64(nil), step.Children...),
	}
	for _, at := range step.Steps {
		s.Children = append(s.Children, ids[at])
	}
	e := conversation.Edit{Kind: conversation.EditSummarize, Range: step.Range, Summary: s, After: int64(n)}
	d.weighReplaced(&e)
	return e
}

// weighReplaced says what a summary takes the place of: as the view shows it, and as it was appended. What an earlier summary left
// out it may stand for, and the other way round.
func (d *deciding) weighReplaced(e *conversation.Edit) {
	s := e.Summary
	var takenUp []conversation.Edit
	for _, older := range d.view.Summaries() {
		if e.Range.Covers(older.Range) {
			takenUp = append(takenUp, older)
			e.Before += int64(older.Summary.Tokens)
			s.Recorded += older.Summary.Recorded
		}
	}
	for i := range d.Loaded.Messages {
		m := &d.Loaded.Messages[i]
		if !e.Range.Contains(m.Index) || d.view.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}) {
			continue
		}
		before := slices.ContainsFunc(takenUp, func(o conversation.Edit) bool { return o.Range.Contains(m.Index) && o.Summary.Covers(m.Index) })
		switch now := s.Covers(m.Index); {
		case now && !before:
			s.Recorded += int64(d.Loaded.Original(m).Tokens)
		case before && !now:
			s.Recorded -= int64(d.Loaded.Original(m).Tokens)
		}
		if it, shown := d.view.Item(m); shown && s.Covers(m.Index) {
			e.Before += it.Tokens()
		}
	}
}

// prepareSummary has a summary prepared in the background for when the view overflows, once the view has come near to it.
func (e *Engine) prepareSummary(ctx context.Context, d *deciding) {
	var next *work
	err := e.views.RunPlan(ctx, d.Loaded, func() (err error) {
		d.view = d.Loaded.View.Fold(d.edits) // with the edits of what was loaded meanwhile
		next, err = d.nextSummary()
		return err
	})
	if err != nil || next == nil { // the build has been committed: a later one tries again
		return
	}
	d.preparing = e.prepareDraft(next, d.Loaded.Slots[draftSlot]) != nil //nolint:contextcheck // it goes on behind the build
}

// nextSummary is the work for the summary that the view will need when it overflows; nil if it is not near to that.
func (d *deciding) nextSummary() (*work, error) {
	used, _ := d.used()
	c := &d.settings.compact
	r, _, err := draftOf(d.Loaded)
	if err != nil || !d.summarizes() || used < c.prepare || used > d.settings.budget || r.pending(d.now) {
		return nil, err
	}
	prompt := d.spanPrompt()
	if !d.summaries.CanAsk(&prompt) {
		return nil, nil
	}
	growth := unscaled(d.settings.budget-used, d.settings.factor)
	p, err := d.planned(d.tailRoom(c.target, growth), c.keep)
	if err != nil || p == nil {
		return nil, err
	}
	p.EditSeq += int64(len(d.edits)) // which are committed by now
	return d.work(p, d.summaryRoom(p, c.target-growth))
}

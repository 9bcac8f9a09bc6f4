// Package window finds where the view of a build starts (behaviour §8).
package window

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Opened is the window that a build begins with.
type Opened struct {
	Start     conversation.Window // in force before the build, or made for a budget that none was in force for
	Asked     pass.Asked
	Inherited bool // the window is new, and cut as it starts where a smaller budget's does
}

// Open loads what the build may show: from the window in force for its budget on, or from where a window for a new one starts.
func Open(g *pass.Given) (Opened, error) {
	known, err := g.Loaded.Slots.BudgetWindows()
	if err != nil {
		return Opened{}, err
	}
	o := opening{g: g}
	win, ok := known.Of(g.Settings.Budget)
	if !ok {
		if win, err = o.newWindow(known); err != nil {
			return Opened{}, err
		}
	}
	if err := o.load(win); err != nil {
		return Opened{}, err
	}
	if done := g.Loaded.View.In(win).SummarizedTo(); done > win.Start { // builds for another budget have summarized more
		win.Start, win.Request, win.Cuts = done, -1, nil
	}
	return Opened{Start: o.complete(win), Asked: o.asked, Inherited: o.inherited}, nil
}

// LayOut is the draft that a window begins. Where nothing is left to show of the window, because it was hidden, it looks for one anew: that is
// the one way for a start to move back.
func LayOut(g *pass.Given, opened Opened) (pass.Result, error) {
	out, err := g.Compose(g.Loaded.View, opened.Start)
	if err != nil {
		return pass.Result{}, err
	}
	o := opening{g: g, asked: opened.Asked}
	if opened.Start.Start > 0 && (!out.HasSpeaker() || out.TailIsEmpty() || o.startsMidUnit(out)) {
		if out, err = o.moveStartBack(); err != nil {
			return pass.Result{}, err
		}
	}
	return pass.Result{View: g.Loaded.View, Composed: out, Asked: &o.asked}, nil
}

// opening is a window on its way.
type opening struct {
	g         *pass.Given
	asked     pass.Asked
	inherited bool
}

func (d *opening) complete(win conversation.Window) conversation.Window {
	return d.asked.Complete(d.g, d.g.Loaded.View, win)
}

// load loads what a window may show, and finds what it keeps before its start.
func (d *opening) load(win conversation.Window) error {
	err := d.g.Loaded.Require(d.g.NeededRanges(win)...)
	if err == nil {
		d.asked, err = pass.FindAsked(d.g, d.g.Loaded.View)
	}
	return err
}

// newWindow is a window for a budget that none is remembered for (behaviour §8).
func (d *opening) newWindow(known view.BudgetWindows) (conversation.Window, error) {
	if known.Outgrown(d.g.Settings.Budget) {
		return d.openLargerWindow(known)
	}
	if win, ok := known.Below(d.g.Settings.Budget); ok {
		return d.inheritWindow(win)
	}
	start, err := d.findStart(conversation.WindowFrom(0))
	return conversation.WindowFrom(start), err
}

// inheritWindow is a window that starts where a smaller budget's does. What that had not the room for is shown whole, unless there is no
// room for all of it here either: then it is cut to the shares of this budget, before anything of the tail gives way. The tail does give
// way where the request or the opening would not have its share. An earlier request that keeps its place stays as it is.
func (d *opening) inheritWindow(smaller conversation.Window) (conversation.Window, error) {
	win := smaller
	win.Cuts = nil
	if err := d.load(win); err != nil || len(smaller.Cuts) == 0 {
		return win, err
	}
	win = d.complete(win)
	if cut, ok := smaller.CutOf(win.Request, 0); ok && d.asked.IsEarlier(win.Request) && !cut.Leaves() {
		win.Cuts = append(win.Cuts, cut)
	}
	out, err := d.g.Compose(d.g.Loaded.View, win)
	if err != nil || d.g.OverLimit(out) <= 0 {
		return win, err
	}
	d.inherited = true
	draft := pass.Draft{View: d.g.Loaded.View, Composed: out, Asked: d.asked, Erased: erasures.New(d.g.Loaded)}
	c, err := claims.Describe(d.g, draft, d.g.Settings.Limit-d.g.Settings.Limit/claims.CutSlack, true)
	if err != nil {
		return win, err
	}
	share := compaction.Fit(c.FitInput)
	c.FixTail(&smaller)
	r := compaction.Fit(c.FitInput)
	if c.Request != nil && r.Request < share.Request || c.Opening != nil && r.Opening < share.Opening {
		return win, nil
	}
	if err := c.Cut(&win, &r); err != nil {
		return win, err
	}
	return d.keepLongerCuts(win, &smaller)
}

// keepLongerCuts shows as much of a message as a smaller budget does, if there is room: that may have been the request there when it was
// cut, and be the opening alone by now.
func (d *opening) keepLongerCuts(win conversation.Window, smaller *conversation.Window) (conversation.Window, error) {
	longer, cuts := false, slices.Clone(win.Cuts)
	for i, cut := range cuts {
		if was, ok := smaller.CutOf(cut.Message, cut.Summary); ok && was.Head+was.Tail > cut.Head+cut.Tail {
			cuts[i], longer = was, true
		}
	}
	if !longer {
		return win, nil
	}
	kept := win
	kept.Cuts = cuts
	out, err := d.g.Compose(d.g.Loaded.View, kept)
	if err != nil || d.g.OverLimit(out) > 0 {
		return win, err
	}
	return kept, nil
}

// openLargerWindow opens a window for a budget that is much larger than all before: on the whole record, if that fits, or else on as much of it
// as a cut would leave, and no less than a smaller window shows.
func (d *opening) openLargerWindow(known view.BudgetWindows) (conversation.Window, error) {
	win := conversation.WindowFrom(0)
	win.Afresh = d.g.Loaded.Head.EditSeq
	start, err := d.findStart(win)
	if err != nil {
		return win, err
	}
	win.Start = start
	if err := d.load(win); err != nil {
		return win, err
	}
	out, err := d.g.Compose(d.g.Loaded.View, d.complete(win))
	if err != nil || d.g.OverLimit(out) <= 0 {
		return win, err
	}
	at := d.startForTarget(out)
	win.Start = known.Earliest(max(win.Start, out.Units[at].First()))
	smaller, ok := known.Below(d.g.Settings.Budget)
	if ok && smaller.Start == win.Start {
		smaller.Afresh = win.Afresh
		return d.inheritWindow(smaller)
	}
	if ok && smaller.Request < win.Start && d.asked.IsEarlier(smaller.Request) { // an earlier request keeps its place here too, as it is
		win.Request = smaller.Request
		if cut, is := smaller.CutOf(win.Request, 0); is && !cut.Leaves() {
			win.Cuts = append(win.Cuts, cut)
		}
	}
	return win, nil
}

// startForTarget is the unit of the tail at which a window starts that is opened afresh: the earliest with which the context weighs no more than a
// cut would leave. The request, the opening and pins are shown wherever it starts.
func (d *opening) startForTarget(out *view.Composition) int {
	at := out.Newest()
	room := d.g.Settings.Target - d.g.Fixed
	for i := range out.Units {
		if u := &out.Units[i]; i < out.Tail || i == at || d.isAlwaysShown(u) {
			room -= out.Weights[i]
		}
	}
	for at > out.Tail+1 && room >= 0 {
		if u := &out.Units[at-1]; !d.isAlwaysShown(u) {
			room -= out.Weights[at-1]
		}
		if room >= 0 {
			at--
		}
	}
	return at
}

// isAlwaysShown says whether a unit is shown wherever the window starts: the request in force, the opening, or a pinned one.
func (d *opening) isAlwaysShown(u *conversation.Unit) bool {
	return u.Summary == nil && (u.First() == d.asked.Request || u.First() == d.asked.Opening || d.g.Kept.IsPinned(u.First()))
}

// findStart finds where a window may start that nobody has fitted yet: far enough back that the newest messages exceed the
// budget, at the beginning of a unit, but never before the end of the last summary that stands in it.
func (d *opening) findStart(win conversation.Window) (int32, error) {
	w := d.g.Loaded
	for limit := d.g.Settings.Limit; ; limit *= 2 {
		from, err := w.NewestFrom(limit, d.g.Settings.Share)
		if err != nil {
			return 0, err
		}
		from = min(from, w.Head.UnitStart)
		if from, err = d.g.Loaded.UnitStart(from); err != nil {
			return 0, err
		}
		// What is written may weigh less than what is on record: blocks of another provider are dropped.
		win.Start = from
		if err := w.Require(d.g.NeededRanges(win)...); err != nil {
			return 0, err
		}
		if done := w.View.In(win).SummarizedTo(); from <= done && done > 0 && win.Afresh == 0 {
			return done, nil
		}
		if from == 0 {
			return 0, nil
		}
		out, err := d.g.Compose(w.View, win)
		if err != nil || out.HasSpeaker() && d.g.OverLimit(out) > 0 {
			return from, err
		}
	}
}

// moveStartBack looks for a window anew, and lays it out.
func (d *opening) moveStartBack() (*view.Composition, error) {
	start, err := d.findStart(conversation.WindowFrom(0))
	if err != nil {
		return nil, err
	}
	win := conversation.WindowFrom(start)
	if err := d.load(win); err != nil {
		return nil, err
	}
	return d.g.Compose(d.g.Loaded.View, d.complete(win))
}

// startsMidUnit says whether the newest unit begins before the window: with calls that stand before messages that were hidden since.
func (d *opening) startsMidUnit(out *view.Composition) bool {
	u := &out.Units[out.Newest()]
	if u.Summary != nil {
		return false
	}
	first, known := u.Items[0].Message.UnitFirst()
	return first < u.First() || !known && d.g.Loaded.View.Hidden(conversation.Range{First: first - 1, End: first})
}

package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// OpenWindow loads what the build may show: from the window in force for this budget on, or from where a window for a new one starts.
func (d *Attempt) OpenWindow() error {
	known, err := d.Loaded.BudgetWindows()
	if err != nil {
		return err
	}
	d.View = d.Loaded.View
	win, ok := known.Of(d.Settings.Budget)
	if !ok {
		if win, err = d.windowing().newWindow(known); err != nil {
			return err
		}
	}
	if err := d.windowing().loadWindow(win); err != nil {
		return err
	}
	if done := d.View.In(win).SummarizedTo(); done > win.Start { // builds for another budget have summarized more
		win.Start, win.Request, win.Cuts = done, -1, nil
	}
	d.Start = d.CompleteWindow(win)
	return nil
}

// loadWindow loads what a window may show, and finds what it keeps before its start.
func (d windowing) loadWindow(win conversation.Window) error {
	if err := d.Loaded.Require(d.NeededRanges(win)...); err != nil {
		return err
	}
	return d.findRequests()
}

// newWindow is a window for a budget that none is remembered for (behaviour §8).
func (d windowing) newWindow(known view.BudgetWindows) (conversation.Window, error) {
	if known.Outgrown(d.Settings.Budget) {
		return d.openLargerWindow(known)
	}
	if win, ok := known.Below(d.Settings.Budget); ok {
		return d.inheritWindow(win)
	}
	start, err := d.findStart(conversation.WindowFrom(0))
	return conversation.WindowFrom(start), err
}

// inheritWindow is a window that starts where a smaller budget's does. What that had not the room for is shown whole, unless there is no
// room for all of it here either: then it is cut to the shares of this budget, before anything of the tail gives way. The tail does give
// way where the request or the opening would not have its share. An earlier request that keeps its place stays as it is.
func (d windowing) inheritWindow(smaller conversation.Window) (conversation.Window, error) {
	win := smaller
	win.Cuts = nil
	if err := d.loadWindow(win); err != nil || len(smaller.Cuts) == 0 {
		return win, err
	}
	win = d.CompleteWindow(win)
	if cut, ok := smaller.CutOf(win.Request, 0); ok && d.isEarlierRequest(win.Request) && !cut.Leaves() {
		win.Cuts = append(win.Cuts, cut)
	}
	out, err := d.Compose(d.View, win)
	if err != nil || d.Fixed+out.Tokens() <= d.Settings.Limit {
		return win, err
	}
	d.Composed, d.inherited = out, true
	c, err := d.DescribeClaims(d.Settings.Limit-d.Settings.Limit/cutSlack, true)
	if err != nil {
		return win, err
	}
	share := compaction.Fit(c.FitInput)
	d.fitting().fixTail(c, &smaller)
	r := compaction.Fit(c.FitInput)
	if c.Request != nil && r.Request < share.Request || c.Opening != nil && r.Opening < share.Opening {
		return win, nil
	}
	if err := d.fitting().cutToGrants(&win, c, &r); err != nil {
		return win, err
	}
	return d.keepLongerCuts(win, &smaller)
}

// keepLongerCuts shows as much of a message as a smaller budget does, if there is room: that may have been the request there when it was
// cut, and be the opening alone by now.
func (d windowing) keepLongerCuts(win conversation.Window, smaller *conversation.Window) (conversation.Window, error) {
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
	out, err := d.Compose(d.View, kept)
	if err != nil || d.Fixed+out.Tokens() > d.Settings.Limit {
		return win, err
	}
	return kept, nil
}

// openLargerWindow opens a window for a budget that is much larger than all before: on the whole record, if that fits, or else on as much of it
// as a cut would leave, and no less than a smaller window shows.
func (d windowing) openLargerWindow(known view.BudgetWindows) (conversation.Window, error) {
	win := conversation.WindowFrom(0)
	win.Afresh = d.Loaded.Head.EditSeq
	start, err := d.findStart(win)
	if err != nil {
		return win, err
	}
	win.Start = start
	if err := d.loadWindow(win); err != nil {
		return win, err
	}
	out, err := d.Compose(d.View, d.CompleteWindow(win))
	if err != nil || d.Fixed+out.Tokens() <= d.Settings.Limit {
		return win, err
	}
	at := d.startForTarget(out)
	win.Start = known.Earliest(max(win.Start, out.Units[at].First()))
	smaller, ok := known.Below(d.Settings.Budget)
	if ok && smaller.Start == win.Start {
		smaller.Afresh = win.Afresh
		return d.inheritWindow(smaller)
	}
	if ok && smaller.Request < win.Start && d.isEarlierRequest(smaller.Request) { // an earlier request keeps its place here too, as it is
		win.Request = smaller.Request
		if cut, is := smaller.CutOf(win.Request, 0); is && !cut.Leaves() {
			win.Cuts = append(win.Cuts, cut)
		}
	}
	return win, nil
}

// isEarlierRequest says whether what a window keeps as its request is neither the request in force nor the opening, which have shares of their own.
func (d windowing) isEarlierRequest(request int32) bool {
	return request != d.request && request != d.opening
}

// startForTarget is the unit of the tail at which a window starts that is opened afresh: the earliest with which the context weighs no more than a
// cut would leave. The request, the opening and pins are shown wherever it starts.
func (d windowing) startForTarget(out *view.Composition) int {
	at := out.Newest()
	room := d.Settings.Target - d.Fixed
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
func (d windowing) isAlwaysShown(u *conversation.Unit) bool {
	return u.Summary == nil && (u.First() == d.request || u.First() == d.opening || d.Kept.IsPinned(u.First()))
}

// findStart finds where a window may start that nobody has fitted yet: far enough back that the newest messages exceed the
// budget, at the beginning of a unit, but never before the end of the last summary that stands in it.
func (d windowing) findStart(win conversation.Window) (int32, error) {
	w := d.Loaded
	for limit := d.Settings.Limit; ; limit *= 2 {
		from, err := w.NewestFrom(limit, d.Settings.Share)
		if err != nil {
			return 0, err
		}
		from = min(from, w.Head.UnitStart)
		if from, err = d.Loaded.UnitStart(from); err != nil {
			return 0, err
		}
		// What is written may weigh less than what is on record: blocks of another provider are dropped.
		win.Start = from
		if err := w.Require(d.NeededRanges(win)...); err != nil {
			return 0, err
		}
		if done := w.View.In(win).SummarizedTo(); from <= done && done > 0 && win.Afresh == 0 {
			return done, nil
		}
		if from == 0 {
			return 0, nil
		}
		out, err := d.Compose(w.View, win)
		if err != nil || out.HasSpeaker() && d.Fixed+out.Tokens() > d.Settings.Limit {
			return from, err
		}
	}
}

// NeededRanges lists what a build may show that starts somewhere.
func (d *Attempt) NeededRanges(win conversation.Window) []conversation.Range {
	ranges := d.Loaded.ShownRanges(d.Kept, win, d.Loaded.Head.Messages)
	for _, asked := range []int32{d.Loaded.Head.Request, d.Loaded.Head.Opening} {
		if 0 <= asked && asked < win.Start {
			ranges = append(ranges, conversation.Range{First: asked, End: asked + 1})
		}
	}
	return ranges
}

// moveStartBack looks for a window anew where nothing is left of the one in force, because it was hidden. It is the one way
// for a start to move back.
func (d windowing) moveStartBack() error {
	start, err := d.findStart(conversation.WindowFrom(0))
	if err != nil {
		return err
	}
	win := conversation.WindowFrom(start)
	if err := d.loadWindow(win); err != nil {
		return err
	}
	return d.layOut(d.CompleteWindow(win))
}

// startsMidUnit says whether the newest unit begins before the window: with calls that stand before messages that were hidden since.
func (d windowing) startsMidUnit() bool {
	u := &d.Composed.Units[d.Composed.Newest()]
	if u.Summary != nil {
		return false
	}
	first, known := u.Items[0].Message.UnitFirst()
	return first < u.First() || !known && d.View.Hidden(conversation.Range{First: first - 1, End: first})
}

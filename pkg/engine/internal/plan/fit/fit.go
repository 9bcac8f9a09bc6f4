// Package fit brings a view into its budget (behaviour §4, §8).
package fit

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/results"
)

// rounds is how often a fit is tried: what a format adds to a text is only known once it is written.
const rounds = 7

// mostSlack bounds claims.CutSlack from round to round: each allows for more, and the last for the budget divided by this.
const mostSlack = 32

// Fitted is a view within its budget.
type Fitted struct {
	pass.Result
	Displaced []conversation.Range // units that were brought back recently and have no room
}

// Clip clips single tool results that are over their share of the budget when they first enter a view, as they were appended or as they were
// corrected.
func Clip(g *pass.Given, d pass.Draft) (pass.Result, error) {
	var large []results.Target
	for _, t := range results.Of(d.Composed.Units) {
		if (t.Index >= g.Loaded.Head.Seen || d.View.CorrectedPart(t.Index, t.Part)) && t.Weight > g.Settings.Share {
			t.Limit = g.Settings.Share
			large = append(large, t)
		}
	}
	s := g.Sketch(d)
	err := results.Clip(s, large, conversation.ReasonResultOverShare)
	return s.Result(), err
}

// Uncut shows whole what a window that this build has opened cuts, if there is room for all of it by now: results that came were clipped.
func Uncut(g *pass.Given, d pass.Draft, inherited bool) (pass.Result, error) {
	win := d.Composed.Window
	if win.Cuts = nil; !inherited || len(d.Composed.Window.Cuts) == 0 {
		return pass.Result{}, nil
	}
	out, err := g.Compose(d.View, win)
	if err != nil || g.OverLimit(out) > 0 {
		return pass.Result{}, err
	}
	return pass.Result{Composed: out}, nil
}

// Fit brings the context into its budget: claims on it are granted in their order, and the window's start moves.
func Fit(g *pass.Given, d pass.Draft) (Fitted, error) {
	f := fitting{Sketch: g.Sketch(d)}
	err := f.fit()
	return Fitted{Result: f.Result(), Displaced: f.displaced}, err
}

// fitting is a view on its way into the budget.
type fitting struct {
	*pass.Sketch
	displaced []conversation.Range
}

func (d *fitting) fit() error {
	limit := d.Given.Settings.Limit
	over := d.OverLimit() > 0
	if !over && d.Weight() <= limit-d.Given.UncountedTokens(d.Composed) {
		return nil
	}
	before := d.Composed.Window
	for round := range rounds {
		if err := d.MoveWindow(before); err != nil { // what an earlier round has left out may fit
			return err
		}
		c, err := claims.Describe(d.Given, d.Draft, limit, over)
		if err != nil {
			return err
		}
		r := compaction.Fit(c.FitInput)
		if !r.Fits {
			break
		}
		if !over && r.Start == d.Composed.Window.Start { // it fits as it is, and nothing can leave
			return nil
		}
		if err := d.applyGrants(c, &r); err != nil {
			return err
		}
		if d.OverLimit() <= 0 {
			return nil
		}
		limit, over = limit-max(d.OverLimit(), min(d.OverLimit()<<(2*round), limit/max(mostSlack, int64(claims.CutSlack)>>round))), true
	}
	return d.fitMinimum()
}

// applyGrants makes the window that a fit has decided on, and clips the newest unit's results to what is left for them.
func (d *fitting) applyGrants(c *claims.Claims, r *compaction.FitResult) error {
	win := d.StartingAt(r.Start)
	win.Restored, d.displaced = d.Given.LastLapsed(d.View, win.Restored), nil // an earlier round may have left out more
	if r.Restored < len(c.Restored) {
		win.Restored = max(win.Restored, c.Restorations[r.Restored])
		d.noteDisplaced(c.Restored[r.Restored:], win.Start)
	}
	if err := c.Cut(&win, r); err != nil {
		return err
	}
	if err := d.MoveWindow(win); err != nil {
		return err
	}
	return d.clipNewest(r.Newest)
}

// noteDisplaced notes units that were brought back recently and are not shown before a window's start: others have a stronger claim.
func (d *fitting) noteDisplaced(units []compaction.Claim, start int32) {
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if u.Summary == nil && u.First() < start && compaction.HasClaim(units, u.First()) {
			d.displaced = append(d.displaced, u.Ranges()...)
		}
	}
}

// clipNewest clips the results of the newest unit, largest first, so that it weighs at most as much as is left for it.
func (d *fitting) clipNewest(most int64) error {
	newest := d.Composed.Newest()
	if newest < d.Composed.Tail {
		return nil
	}
	targets := results.Of(d.Composed.Units[newest : newest+1])
	weights, room := make([]int64, len(targets)), most-d.Composed.Weights[newest]
	for i, t := range targets {
		weights[i] = t.Weight
		room += t.Weight
	}
	var smaller []results.Target
	for i, limit := range compaction.Allowances(weights, room) {
		if limit < targets[i].Weight {
			targets[i].Limit = limit
			smaller = append(smaller, targets[i])
		}
	}
	return results.Clip(d.Sketch, smaller, conversation.ReasonNewestUnitOverBudget)
}

// fitMinimum shows nothing but what must be shown: what is sent whatever the window, and the newest unit with its results at their
// shortest. A build that does not fit even so is refused.
func (d *fitting) fitMinimum() error {
	newest := d.Composed.Units[d.Composed.Newest()].First()
	win := d.StartingAt(max(newest, d.Composed.Window.Start))
	win.Restored = d.View.LastRestored(d.Given.Turn)
	for _, beside := range claims.BesideSummaries(d.Given, d.Draft) {
		win.Cuts = append(win.Cuts, conversation.Cut{Message: beside.First})
	}
	for _, asked := range []int32{win.Request, win.Opening} {
		if asked >= 0 && !d.Given.Kept.IsPinned(asked) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: asked})
		}
	}
	for _, e := range d.View.In(win).Summaries() {
		win.Cuts = append(win.Cuts, conversation.Cut{Summary: e.Summary.ID})
	}
	if err := d.MoveWindow(win); err != nil {
		return err
	}
	// A result that came behind the newest unit, and stood beside its call before the window, is the newest now.
	if at := d.Composed.Units[d.Composed.Newest()].First(); at > win.Start && d.OverLimit() > 0 {
		return d.fitMinimum()
	}
	if err := results.Clip(d.Sketch, results.Of(d.Composed.Units[d.Composed.Tail:]), conversation.ReasonNewestUnitOverBudget); err != nil {
		return err
	}
	if d.OverLimit() > 0 {
		if err := d.dropRecalled(); err != nil {
			return err
		}
	}
	if d.OverLimit() > 0 {
		return d.cannotFitError()
	}
	return nil
}

// dropRecalled takes memories out of the tail: where nothing else can leave, they go.
func (d *fitting) dropRecalled() error {
	made := len(d.Edits)
	for it := range conversation.Items(d.Composed.Units[d.Composed.Tail:]) {
		if n := it.RecalledTokens(); n > 0 {
			d.Add(conversation.Edit{
				Kind: conversation.EditRecall, Range: conversation.Range{First: it.Message.Index, End: it.Message.Index + 1},
				Reason: conversation.ReasonMemoryOverCap, Before: n,
			})
		}
	}
	if len(d.Edits) == made {
		return nil
	}
	return d.Recompose()
}

// cannotFitError says what does not fit. If the newest units are written as nothing, they would fit: it is what comes before them
// that does not, and without it nothing is left to show.
func (d *fitting) cannotFitError() error {
	if d.Composed.Newest() < len(d.Composed.Units)-1 {
		return conversation.Errorf(conversation.EmptyContext,
			"the newest messages say nothing, and message %d before them does not fit", d.Composed.Units[d.Composed.Newest()].First())
	}
	var system, pins int64
	for i := range d.Composed.Units[:d.Composed.Tail] {
		if d.Composed.Units[i].First() < d.Given.Kept.LeadingSystem {
			system += d.Composed.Weights[i]
		} else {
			pins += d.Composed.Weights[i]
		}
	}
	s := d.Given.Settings
	return conversation.Errorf(conversation.ContextCannotFit,
		"fixed input %d + leading system messages %d + pinned messages %d + newest unit %d tokens, with its results at their shortest, exceed %d (budget %d at factor %.2f)",
		d.Given.Fixed, system, pins, d.Composed.Weights[d.Composed.Newest()], s.Limit, s.Budget, s.Factor)
}

package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// fitRounds is how often a fit is tried: what a format adds to a text is only known once it is written.
const fitRounds = 7

// cutSlack is how much smaller a cut may be than what it is granted, as a divisor of the budget: what it exceeds is hidden by that. Later
// rounds allow for more, down to mostSlack.
const (
	cutSlack  = 128
	mostSlack = 32
)

// Fit brings the context into its budget: claims on it are granted in their order, and the window's start moves (behaviour §4, §8).
func (d *Attempt) Fit() error {
	limit := d.Settings.Limit
	over := d.OverLimit() > 0
	if !over && d.Fixed+d.Composed.Tokens() <= limit-d.reporting().uncountedTokens() {
		return nil
	}
	before := d.Composed.Window
	for round := range fitRounds {
		if err := d.moveWindow(before); err != nil { // what an earlier round has left out may fit
			return err
		}
		c, err := d.DescribeClaims(limit, over)
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
		if err := d.fitting().applyGrants(c, &r); err != nil {
			return err
		}
		if d.OverLimit() <= 0 {
			return nil
		}
		limit, over = limit-max(d.OverLimit(), min(d.OverLimit()<<(2*round), limit/max(mostSlack, int64(cutSlack)>>round))), true
	}
	return d.fitting().fitMinimum()
}

// restoreCuts shows whole what a window that this build has opened cuts, if there is room for all of it by now: results that came were clipped.
func (d fitting) restoreCuts() error {
	win, cut := d.Composed.Window, d.Composed
	if win.Cuts = nil; !d.inherited || len(cut.Window.Cuts) == 0 {
		return nil
	}
	if err := d.moveWindow(win); err != nil {
		return err
	}
	if d.OverLimit() > 0 {
		d.Composed = cut
	}
	return nil
}

// OverLimit is by how much the context exceeds its budget, before the factor.
func (d *Attempt) OverLimit() int64 { return d.Fixed + d.Composed.Tokens() - d.Settings.Limit }

// applyGrants makes the window that a fit has decided on, and clips the newest unit's results to what is left for them.
func (d fitting) applyGrants(c *Claims, r *compaction.FitResult) error {
	win := d.windowing().startingAt(r.Start)
	win.Restored, d.displaced = d.lastLapsed(win.Restored), nil // an earlier round may have left out more
	if r.Restored < len(c.Restored) {
		win.Restored = max(win.Restored, c.restorations[r.Restored])
		d.noteDisplaced(c.Restored[r.Restored:], win.Start)
	}
	if err := d.cutToGrants(&win, c, r); err != nil {
		return err
	}
	if err := d.moveWindow(win); err != nil {
		return err
	}
	return d.clipNewest(r.Newest)
}

// noteDisplaced notes units that were brought back lately and are not shown before a window's start: others have a stronger claim.
func (d fitting) noteDisplaced(units []compaction.Claim, start int32) {
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if u.Summary == nil && u.First() < start && compaction.HasClaim(units, u.First()) {
			d.displaced = append(d.displaced, u.Ranges()...)
		}
	}
}

// cutToGrants says what a window shows of what it has not the room for.
func (d fitting) cutToGrants(win *conversation.Window, c *Claims, r *compaction.FitResult) error {
	for i, claim := range []*compaction.Claim{c.Request, c.Opening} {
		granted := []int64{r.Request, r.Opening}[i]
		if claim == nil || claim.First >= win.Start || granted >= claim.Whole {
			continue
		}
		cut, err := d.cutMessage(claim.First, granted)
		if err != nil {
			return err
		}
		win.Cuts = append(win.Cuts, cut)
	}
	for _, claim := range slices.Concat(c.System[r.System:], c.Verbatim[r.Verbatim:]) {
		if !compaction.HasClaim(c.Restored[:r.Restored], claim.First) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: claim.First})
		}
	}
	for i, g := range r.Summaries {
		s := &c.summaries[i]
		if g.Stands && g.Text >= c.Summaries[i].Text && g.List >= c.Summaries[i].List {
			continue
		}
		cut, ok := compaction.CutSummary(s.text, s.body, s.id, g.Text+g.List, g.List, d.Settings.Counter)
		if !ok {
			cut = conversation.Cut{Summary: s.id}
		}
		win.Cuts = append(win.Cuts, cut)
	}
	return nil
}

// cutMessage is how much of a message's words is shown in so many tokens.
func (d fitting) cutMessage(index int32, granted int64) (conversation.Cut, error) {
	m, err := d.message(index)
	if err != nil {
		return conversation.Cut{}, err
	}
	words, err := d.userWords(m)
	if err != nil {
		return conversation.Cut{}, err
	}
	cut, ok := compaction.CutWords(words, index, granted-int64(m.Overhead()), d.Settings.Counter)
	if !ok {
		cut = conversation.Cut{Message: index}
	}
	return cut, nil
}

// userWords is what the user typed in a message, as the view shows it.
func (d fitting) userWords(m *conversation.Message) (string, error) {
	shown := m.Parts
	if it, ok := d.View.Beside(m); ok {
		shown = it.Parts
	}
	parts, err := d.Loaded.Inline(shown)
	return compaction.UserText(parts), err
}

// clipNewest clips the results of the newest unit, largest first, so that it weighs at most as much as is left for it.
func (d fitting) clipNewest(most int64) error {
	newest := d.Composed.Newest()
	if newest < d.Composed.Tail {
		return nil
	}
	targets := d.results(d.Composed.Units[newest : newest+1])
	weights, room := make([]int64, len(targets)), most-d.Composed.Weights[newest]
	for i, t := range targets {
		weights[i] = t.weight
		room += t.weight
	}
	var smaller []clipTarget
	for i, limit := range compaction.Allowances(weights, room) {
		if limit < targets[i].weight {
			targets[i].limit = limit
			smaller = append(smaller, targets[i])
		}
	}
	return d.clip(smaller, conversation.ReasonNewestUnitOverBudget)
}

// fitMinimum shows nothing but what must be shown: what is sent whatever the window, and the newest unit with its results at their
// shortest. A build that does not fit even so is refused.
func (d fitting) fitMinimum() error {
	newest := d.Composed.Units[d.Composed.Newest()].First()
	win := d.windowing().startingAt(max(newest, d.Composed.Window.Start))
	win.Restored = d.View.LastRestored(d.Turn)
	var c Claims
	d.addSystem(&c)
	d.addVerbatim(&c)
	for _, beside := range slices.Concat(c.System, c.Verbatim) {
		win.Cuts = append(win.Cuts, conversation.Cut{Message: beside.First})
	}
	for _, asked := range []int32{win.Request, win.Opening} {
		if asked >= 0 && !d.Kept.IsPinned(asked) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: asked})
		}
	}
	for _, e := range d.View.In(win).Summaries() {
		win.Cuts = append(win.Cuts, conversation.Cut{Summary: e.Summary.ID})
	}
	if err := d.moveWindow(win); err != nil {
		return err
	}
	// A result that came behind the newest unit, and stood beside its call before the window, is the newest now.
	if at := d.Composed.Units[d.Composed.Newest()].First(); at > win.Start && d.OverLimit() > 0 {
		return d.fitMinimum()
	}
	if err := d.clip(d.results(d.Composed.Units[d.Composed.Tail:]), conversation.ReasonNewestUnitOverBudget); err != nil {
		return err
	}
	if d.OverLimit() > 0 {
		if err := d.recalling().dropFromTail(); err != nil {
			return err
		}
	}
	if d.OverLimit() > 0 {
		return d.cannotFitError()
	}
	return nil
}

// cannotFitError says what does not fit. If the newest units are written as nothing, they would fit: it is what comes before them
// that does not, and without it nothing is left to show.
func (d fitting) cannotFitError() error {
	if d.Composed.Newest() < len(d.Composed.Units)-1 {
		return conversation.Errorf(conversation.EmptyContext,
			"the newest messages say nothing, and message %d before them does not fit", d.Composed.Units[d.Composed.Newest()].First())
	}
	var system, pins int64
	for i := range d.Composed.Units[:d.Composed.Tail] {
		if d.Composed.Units[i].First() < d.Kept.LeadingSystem {
			system += d.Composed.Weights[i]
		} else {
			pins += d.Composed.Weights[i]
		}
	}
	return conversation.Errorf(conversation.ContextCannotFit,
		"fixed input %d + leading system messages %d + pinned messages %d + newest unit %d tokens, with its results at their shortest, exceed %d (budget %d at factor %.2f)",
		d.Fixed, system, pins, d.Composed.Weights[d.Composed.Newest()], d.Settings.Limit, d.Settings.Budget, d.Settings.Factor)
}

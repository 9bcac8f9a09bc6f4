package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// protectedTurns is for how long what was expanded is kept from giving way to the rest of the view (behaviour §10).
const protectedTurns = 5

// fitRounds is how often a fit is tried: what a format adds to a text is only known once it is written.
const fitRounds = 7

// cutSlack is how much smaller a cut may be than what it is granted, as a divisor of the budget: what it exceeds is hidden by that. Later
// rounds allow for more, down to mostSlack.
const (
	cutSlack  = 128
	mostSlack = 32
)

// fit brings the context into its budget: claims on it are granted in their order, and the window's start moves (behaviour §4, §8).
func (d *deciding) fit() error {
	limit := d.settings.limit
	over := d.over() > 0
	if !over && d.fixed+d.out.Tokens() <= limit-d.excess() {
		return nil
	}
	before := d.out.Window
	for round := range fitRounds {
		if err := d.move(before); err != nil { // what an earlier round has left out may fit
			return err
		}
		c, err := d.claims(limit, over)
		if err != nil {
			return err
		}
		r := compaction.Fit(c.FitInput)
		if !r.Fits {
			break
		}
		if !over && r.Start == d.out.Window.Start { // it fits as it is, and nothing can leave
			return nil
		}
		if err := d.grant(c, &r); err != nil {
			return err
		}
		if d.over() <= 0 {
			return nil
		}
		limit, over = limit-max(d.over(), min(d.over()<<(2*round), limit/max(mostSlack, int64(cutSlack)>>round))), true
	}
	return d.fitLeast()
}

// uncut shows whole what a window that this build has opened cuts, if there is room for all of it by now: results that came were clipped.
func (d *deciding) uncut() error {
	win, cut := d.out.Window, d.out
	if win.Cuts = nil; !d.inherited || len(cut.Window.Cuts) == 0 {
		return nil
	}
	if err := d.move(win); err != nil {
		return err
	}
	if d.over() > 0 {
		d.out = cut
	}
	return nil
}

// over is by how much the context exceeds its budget, before the factor.
func (d *deciding) over() int64 { return d.fixed + d.out.Tokens() - d.settings.limit }

// protected says whether a unit was brought back lately enough to stay in view wherever the window starts.
func (d *deciding) protected(index int32) bool {
	edit, turn, ok := d.view.Restored(index)
	return ok && edit > d.out.Window.Restored && d.turn-turn <= protectedTurns
}

// lapsed is the last edit whose restoration keeps a unit in view no longer, once a window's start moves.
func (d *deciding) lapsed(before int64) int64 {
	return max(before, d.view.LastRestored(d.turn-protectedTurns-1))
}

// grant makes the window that a fit has decided on, and clips the newest unit's results to what is left for them.
func (d *deciding) grant(c *claims, r *compaction.FitResult) error {
	win := d.startingAt(r.Start)
	win.Restored, d.displaced = d.lapsed(win.Restored), nil // an earlier round may have left out more
	if r.Restored < len(c.Restored) {
		win.Restored = max(win.Restored, c.restorations[r.Restored])
		d.displace(c.Restored[r.Restored:], win.Start)
	}
	if err := d.cutDown(&win, c, r); err != nil {
		return err
	}
	if err := d.move(win); err != nil {
		return err
	}
	return d.clipNewest(r.Newest)
}

// displace notes units that were brought back lately and are not shown before a window's start: others have a stronger claim.
func (d *deciding) displace(units []compaction.Claim, start int32) {
	for i := range d.out.Units {
		u := &d.out.Units[i]
		if u.Summary == nil && u.First() < start && compaction.Claimed(units, u.First()) {
			d.displaced = append(d.displaced, conversation.Range{First: u.First(), End: u.Last() + 1})
		}
	}
}

// cutDown says what a window shows of what it has not the room for.
func (d *deciding) cutDown(win *conversation.Window, c *claims, r *compaction.FitResult) error {
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
	for _, claim := range c.System[r.System:] {
		if !compaction.Claimed(c.Restored[:r.Restored], claim.First) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: claim.First})
		}
	}
	for i, g := range r.Summaries {
		s := &c.summaries[i]
		if g.Stands && g.Text >= c.Summaries[i].Text && g.List >= c.Summaries[i].List {
			continue
		}
		cut, ok := compaction.CutSummary(s.text, s.body, s.id, g.Text+g.List, g.List, d.settings.counter)
		if !ok {
			cut = conversation.Cut{Summary: s.id}
		}
		win.Cuts = append(win.Cuts, cut)
	}
	return nil
}

// cutMessage is how much of a message's words is shown in so many tokens.
func (d *deciding) cutMessage(index int32, granted int64) (conversation.Cut, error) {
	m, err := d.recorded(index)
	if err != nil {
		return conversation.Cut{}, err
	}
	words, err := d.ownWords(m)
	if err != nil {
		return conversation.Cut{}, err
	}
	cut, ok := compaction.CutWords(words, index, granted-int64(m.Overhead()), d.settings.counter)
	if !ok {
		cut = conversation.Cut{Message: index}
	}
	return cut, nil
}

// ownWords is what the user typed in a message.
func (d *deciding) ownWords(m *conversation.Message) (string, error) {
	parts, err := d.Loaded.Inline(m.Parts)
	return compaction.OwnWords(parts), err
}

// move lays the view out for another window.
func (d *deciding) move(win conversation.Window) error {
	if win.Equal(&d.out.Window) {
		return nil
	}
	out, err := d.Compose(d.view, win)
	if err == nil {
		d.out = out
	}
	return err
}

// clipNewest clips the results of the newest unit, largest first, so that it weighs at most as much as is left for it.
func (d *deciding) clipNewest(most int64) error {
	newest := d.out.Newest()
	if newest < d.out.Tail {
		return nil
	}
	targets := d.results(d.out.Units[newest : newest+1])
	weights, room := make([]int64, len(targets)), most-d.out.Weights[newest]
	for i, t := range targets {
		weights[i] = t.weight
		room += t.weight
	}
	var smaller []target
	for i, limit := range compaction.Allowances(weights, room) {
		if limit < targets[i].weight {
			targets[i].limit = limit
			smaller = append(smaller, targets[i])
		}
	}
	return d.clip(smaller, conversation.ReasonNewestUnitOverBudget)
}

// fitLeast shows nothing but what must be shown: what is sent whatever the window, and the newest unit with its results at their
// shortest. A build that does not fit even so is refused.
func (d *deciding) fitLeast() error {
	newest := d.out.Units[d.out.Newest()].First()
	win := d.startingAt(max(newest, d.out.Window.Start))
	win.Restored = d.view.LastRestored(d.turn)
	var c claims
	d.claimSystem(&c)
	for _, system := range c.System {
		win.Cuts = append(win.Cuts, conversation.Cut{Message: system.First})
	}
	for _, asked := range []int32{win.Request, win.Opening} {
		if asked >= 0 && !d.pinned(asked) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: asked})
		}
	}
	for _, e := range d.view.In(win).Summaries() {
		win.Cuts = append(win.Cuts, conversation.Cut{Summary: e.Summary.ID})
	}
	if err := d.move(win); err != nil {
		return err
	}
	if err := d.clip(d.results(d.out.Units[d.out.Tail:]), conversation.ReasonNewestUnitOverBudget); err != nil {
		return err
	}
	if d.over() > 0 {
		return d.cannotFit()
	}
	return nil
}

// cannotFit says what does not fit. If the newest units are written as nothing, they would fit: it is what comes before them
// that does not, and without it nothing is left to show.
func (d *deciding) cannotFit() error {
	if d.out.Newest() < len(d.out.Units)-1 {
		return conversation.Errorf(conversation.EmptyContext,
			"the newest messages say nothing, and message %d before them does not fit", d.out.Units[d.out.Newest()].First())
	}
	var system, pins int64
	for i := range d.out.Units[:d.out.Tail] {
		if d.out.Units[i].First() < d.Kept.LeadingSystem {
			system += d.out.Weights[i]
		} else {
			pins += d.out.Weights[i]
		}
	}
	return conversation.Errorf(conversation.ContextCannotFit,
		"fixed input %d + leading system messages %d + pinned messages %d + newest unit %d tokens, with its results at their shortest, exceed %d (budget %d at factor %.2f)",
		d.fixed, system, pins, d.out.Weights[d.out.Newest()], d.settings.limit, d.settings.budget, d.settings.factor)
}

package engine

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

// deciding is one build on its way to what the model should see: the edits and the window that this attempt would commit.
type deciding struct {
	*composer
	settings *settings
	fixed    int64
	turn     int32
	now      time.Time
	aging    bool                // it begins a turn
	dry      bool                // it commits nothing, and asks no model
	closes   bool                // calls that wait are closed with a fixed result
	before   earlierBuild        // the previous build in this format
	start    conversation.Window // in force before this build
	view     *conversation.View  // with the edits of this build
	edits    []conversation.Edit
	out      *composition

	waits        *waits
	deferred     []conversation.Decision
	degradations []Degradation
	foreseen     []expiry.Due // whose summaries later builds will want
	erasures     []erasure    // that are left, if aging
	erased       erasing
	forget       [][32]byte           // contents that were erased
	gone         []string             // handles of contents that were erased with their messages
	contents     *slotChanges         // what that changes of contents; nil for nothing
	reclaims     []reclaim            // pruned results that are to be erased
	failures     []conversation.Event // compactions that were of no use
	preparing    bool                 // a summary was begun in the background
}

// decide lets go what is past its time, clips results that are too large for their budget, and fits the view into it.
func (d *deciding) decide(ctx context.Context) error {
	var err error
	if d.out, err = d.compose(ctx, d.view, d.start); err != nil {
		return err
	}
	if d.start.Start > 0 && (!d.out.speaks() || d.out.silentTail() || d.beheaded()) {
		if err := d.goBack(ctx); err != nil {
			return err
		}
	}
	if err := d.legal(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.age, d.reclaimPruned, d.prune, d.clipOverShare, d.compactIfFull, d.fit, d.expireErased} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// goBack looks for a window anew where nothing is left of the one in force, because it was hidden. It is the one way
// for a start to move back.
func (d *deciding) goBack(ctx context.Context) error {
	start, err := d.discover(ctx)
	if err != nil {
		return err
	}
	win := conversation.Window{Start: start, Anchor: -1}
	if err := d.window.loadView(ctx, d.engine, func() []conversation.Range { return d.needed(win) }); err != nil {
		return err
	}
	d.view = d.window.view
	d.out, err = d.compose(ctx, d.view, win)
	return err
}

// beheaded says whether the newest unit begins before the window: with calls that stand before messages that were hidden since.
func (d *deciding) beheaded() bool {
	u := &d.out.units[d.out.newest()]
	if u.Summary != nil {
		return false
	}
	first, known := u.Items[0].Message.UnitFirst()
	return first < u.First() || !known && d.view.Hidden(conversation.Range{First: first - 1, End: first})
}

// legal refuses what no provider takes: calls that wait for results, and a context without a message.
func (d *deciding) legal() error {
	if !d.out.speaks() {
		return conversation.Errorf(conversation.EmptyContext, "there is nothing to show but system messages")
	}
	for i := range d.out.units {
		u := &d.out.units[i]
		if u.Summary != nil || u.First() != d.window.head.UnitStart { // not the newest: nobody waits for it any more
			continue
		}
		if open := u.OpenCalls(); len(open) > 0 && !d.closes {
			return pending(u, open)
		}
	}
	return nil
}

// pending names the calls that wait.
func pending(u *conversation.Unit, open []*conversation.ToolCall) error {
	err := conversation.Errorf(conversation.PendingToolCalls, "%d tool calls of the unit of message %d wait for their results", len(open), u.First())
	for _, c := range open {
		err.Violations = append(err.Violations, conversation.Violation{Field: "call_id", Text: c.CallID})
	}
	return err
}

// clipOverShare clips single tool results that are over their share of the budget when they first enter a view.
func (d *deciding) clipOverShare(ctx context.Context) error {
	var large []target
	for _, t := range d.results(d.out.units[d.out.tail:]) {
		if t.index >= d.window.head.Seen && t.weight > d.settings.share {
			t.limit = d.settings.share
			large = append(large, t)
		}
	}
	return d.clip(ctx, large, conversation.ReasonResultOverShare)
}

// target is a tool result that may be clipped.
type target struct {
	index, part int32
	weight      int64 // as shown
	limit       int64 // to clip it to
}

// results lists the tool results that units show.
func (d *deciding) results(units []conversation.Unit) []target {
	var out []target
	for i := range units {
		for j := range units[i].Items {
			it := &units[i].Items[j]
			for k := range it.Parts {
				if it.Parts[k].Kind == conversation.PartToolResult {
					out = append(out, target{index: it.Message.Index, part: it.Position(k), weight: int64(it.Parts[k].Tokens)})
				}
			}
		}
	}
	return out
}

// clip clips results, one edit a message, and writes the view again.
func (d *deciding) clip(ctx context.Context, targets []target, reason conversation.Reason) error {
	made := len(d.edits)
	for at := 0; at < len(targets); {
		end := at + 1
		for end < len(targets) && targets[end].index == targets[at].index {
			end++
		}
		e, err := d.clipMessage(ctx, targets[at:end], reason)
		if err != nil {
			return err
		}
		if len(e.Parts) > 0 {
			d.add(e)
		}
		at = end
	}
	if len(d.edits) == made {
		return nil
	}
	out, err := d.compose(ctx, d.view, d.out.window)
	d.out = out
	return err
}

func (d *deciding) clipMessage(ctx context.Context, targets []target, reason conversation.Reason) (conversation.Edit, error) {
	index := targets[0].index
	e := conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: reason}
	m, ok := d.window.message(index)
	if !ok {
		return e, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	for _, t := range targets {
		if d.isErased(m, t.part) { // there is no original to show more or less of
			continue
		}
		// A stronger edit is always computed from the original.
		whole, err := d.engine.inline(ctx, d.window.key, d.window.head.Incarnation, m.Parts[t.part:t.part+1])
		if err != nil {
			return e, err
		}
		shown, ok := compaction.Clip(whole[0], index, t.limit, d.settings.counter)
		if !ok || int64(shown.Tokens) >= t.weight {
			continue
		}
		e.Before += t.weight
		e.After += int64(shown.Tokens)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.part, Level: conversation.Shortened, Shown: shown})
	}
	return e, nil
}

// fit moves the window's start until the context is in budget; if the newest unit alone is over it, its results are clipped.
func (d *deciding) fit(ctx context.Context) error {
	win := d.out.window
	if done, err := d.fitWindow(ctx); done || err != nil {
		return err
	}
	// What was expanded gives way before the newest unit does.
	if win.Restored < d.view.LastRestored(d.turn) {
		win.Restored = d.view.LastRestored(d.turn)
		if err := d.move(ctx, win); err != nil {
			return err
		}
		if done, err := d.fitWindow(ctx); done || err != nil {
			return err
		}
	}
	return d.clipNewest(ctx)
}

// fitWindow moves the window's start; it is false if not even the newest unit alone fits.
func (d *deciding) fitWindow(ctx context.Context) (done bool, err error) {
	if d.out.tail == len(d.out.units) { // all since the last summary was taken back
		return d.over() <= 0, nil
	}
	limit := d.settings.limit
	for limit > 0 {
		r := compaction.Fit(d.fitInput(limit))
		if r.Window.Start != d.out.window.Start {
			r.Window.Restored = max(r.Window.Restored, d.view.LastRestored(d.turn-protectedTurns-1))
		}
		if err := d.move(ctx, r.Window); err != nil {
			return false, err
		}
		over := d.over()
		if over <= 0 {
			return true, nil
		}
		if !r.Fits || d.minimal() {
			return false, nil
		}
		limit -= over // what the format adds (an opener, a closing) counts too
	}
	return false, nil
}

// protectedTurns is for how long what was expanded is kept from giving way to the window (behaviour §10). After that it does
// when the window's start moves anyway.
const protectedTurns = 5

// protected says whether a unit stays in view wherever the window starts: it is pinned, or was expanded lately.
func (d *deciding) protected(index int32) bool {
	edit, turn, ok := d.view.Restored(index)
	return d.pinned(index) || ok && edit > d.out.window.Restored && d.turn-turn <= protectedTurns
}

// minimal says whether the view shows nothing but what it must: the newest unit and what is always kept.
func (d *deciding) minimal() bool {
	return d.out.window.Start >= d.out.units[d.out.newest()].First() && d.out.window.Anchor < 0
}

func (d *deciding) move(ctx context.Context, win conversation.Window) error {
	if win == d.out.window {
		return nil
	}
	if win.Anchor >= 0 {
		anchor := conversation.Range{First: win.Anchor, End: win.Anchor + 1}
		if err := d.window.load(ctx, d.engine, anchor); err != nil {
			return err
		}
	}
	out, err := d.compose(ctx, d.view, win)
	d.out = out
	return err
}

// fitInput describes the composition to the policy.
func (d *deciding) fitInput(limit int64) compaction.FitInput {
	in := compaction.FitInput{Fixed: d.fixed, Now: d.out.window, Limit: limit, Target: min(d.settings.target, limit)}
	for i := range d.out.units {
		u := &d.out.units[i]
		switch {
		case u.First() == d.out.window.Anchor && i < d.out.tail:
			// The anchor is weighed apart, because it may leave.
		case i < d.out.tail:
			in.Fixed += d.out.weights[i]
		case i <= d.out.newest(): // what comes after it is written as nothing
			in.Pieces = append(in.Pieces, compaction.Piece{
				First: u.First(), Tokens: d.out.weights[i], Always: d.protected(u.First()), User: user(u),
			})
		}
	}
	in.Anchor = d.anchor()
	return in
}

func (d *deciding) pinned(index int32) bool {
	return slices.ContainsFunc(d.kept.Pins, func(r conversation.Range) bool { return r.Contains(index) })
}

func user(u *conversation.Unit) bool {
	return u.Summary == nil && u.Items[0].Message.Role == conversation.RoleUser
}

// anchor is the newest user message before the window, or the one that is shown there now.
func (d *deciding) anchor() *compaction.Piece {
	index := d.out.window.Anchor
	if last := d.window.head.LastUser; index < 0 && last >= 0 && last < d.out.window.Start {
		index = last
	}
	if index < 0 || d.pinned(index) {
		return nil
	}
	m, ok := d.window.message(index)
	if !ok {
		return nil
	}
	it, ok := d.view.Item(m)
	if !ok {
		return nil
	}
	return &compaction.Piece{First: index, Tokens: it.Tokens(), User: true}
}

// clipNewest clips the results of the newest unit, largest first, so that it fits with what is always kept; if it does not fit
// with all of them at the shortest, the build is refused (behaviour §4).
func (d *deciding) clipNewest(ctx context.Context) error {
	start := d.out.units[d.out.newest()].First()
	win := conversation.Window{Start: max(start, d.out.window.Start), Anchor: -1, Restored: d.view.LastRestored(d.turn)}
	if err := d.move(ctx, win); err != nil {
		return err
	}
	squeeze := int64(0)
	for range clipRounds {
		over := d.over()
		if over <= 0 {
			return nil
		}
		if err := d.squeeze(ctx, over+squeeze); err != nil {
			return err
		}
		squeeze += over
	}
	if err := d.bone(ctx); err != nil {
		return err
	}
	if d.over() > 0 {
		return d.cannotFit()
	}
	return nil
}

// clipRounds is how often clipping is tried before everything is clipped to the bone: what a format adds to a text is only
// known once it is written.
const clipRounds = 3

func (d *deciding) over() int64 { return d.fixed + d.out.tokens() - d.settings.limit }

func (d *deciding) squeeze(ctx context.Context, over int64) error {
	targets := d.results(d.out.units[d.out.tail:])
	weights := make([]int64, len(targets))
	room := -over
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
	return d.clip(ctx, smaller, conversation.ReasonNewestUnitOverBudget)
}

func (d *deciding) bone(ctx context.Context) error {
	return d.clip(ctx, d.results(d.out.units[d.out.tail:]), conversation.ReasonNewestUnitOverBudget)
}

// cannotFit says what does not fit. If the newest units are written as nothing, they would fit: it is what comes before them
// that does not, and without it nothing is left to show.
func (d *deciding) cannotFit() error {
	if d.out.newest() < len(d.out.units)-1 {
		return conversation.Errorf(conversation.EmptyContext,
			"the newest messages say nothing, and message %d before them does not fit", d.out.units[d.out.newest()].First())
	}
	kept := int64(0)
	for _, n := range d.out.weights[:d.out.tail] {
		kept += n
	}
	newest := d.out.weights[d.out.newest()]
	return conversation.Errorf(conversation.ContextCannotFit,
		"fixed input %d + system and pinned messages %d + newest unit %d tokens, clipped as far as clipping goes, exceed %d (budget %d at factor %.2f)",
		d.fixed, kept, newest, d.settings.limit, d.settings.budget, d.settings.factor)
}

package property

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// unforced demands that nothing is left out, cut or clipped where what was shown before and what came since fit together.
func (c *claims) unforced() {
	start, from := int32(0), int32(0)
	if c.before != nil {
		from, start = c.before.build.count, c.before.build.Manifest.Window.Start
	}
	fits := c.together(from)
	if c.moved() || len(c.last) > 1 || c.before == nil && len(c.last) > 0 || fits > c.budget {
		return
	}
	if at := c.sight.build.Manifest.Window.Start; at != start {
		c.t.Fatalf("the window's start moves from %d to %d, and no more than %d of %d tokens would be shown without it", start, at, fits, c.budget)
	}
	for _, e := range c.visible() {
		if c.before != nil && e.index < from && c.before.whole(e) != c.sight.whole(e) || e.index >= from && e.message.Role != conversation.RoleTool && !c.sight.whole(e) {
			c.t.Fatalf("message %d is shown as %q, and no more than %d of %d tokens would be shown without it", e.index, brief(flatAll(c.sight.parts(e))), fits, c.budget)
		}
	}
}

// together is what would be shown if nothing of what was shown before were left out, with all that came since, and what plugins added and
// is seen from now on.
func (c *claims) together(from int32) int {
	n := int(c.fixed) + frame
	if c.before != nil {
		n += c.before.tokens
	}
	for _, e := range c.sight.edits {
		if e.Kind == conversation.EditMask {
			n += int(max(0, e.After-e.Before))
		}
	}
	for _, e := range c.visible() {
		if e.index >= from {
			n += c.weight(e) + 2*frame + 12*len(e.message.Parts)
		}
	}
	return n
}

// moved says whether something but appends has changed the view since the last build at this budget.
func (c *claims) moved() bool {
	return c.before == nil && c.moves > 0 || c.before != nil && c.before.moves != c.moves
}

// stands demands that what a window shows of a message it has cut stands until the window's start moves, or stronger claims need its room.
func (c *claims) stands() {
	if c.before == nil || c.moved() || c.before.build.Manifest.Window.Start != c.sight.build.Manifest.Window.Start || c.together(c.before.build.count) > c.budget {
		return
	}
	for _, e := range c.visible() {
		if e.index >= c.before.build.count || e.message.Role != conversation.RoleUser || c.before.whole(e) || c.before.parts(e) == nil || e.removed {
			continue
		}
		if was, is := textOf(c.before.parts(e)), c.words(e); was != is {
			c.t.Fatalf("message %d was cut to %q and is shown as %q, and the window's start stands", e.index, brief(was), brief(is))
		}
	}
}

// place is where something stands in the view's order.
type place struct{ group, index int32 }

// The groups of behaviour §4, in order.
const (
	leads = iota
	kept
	summed
	restored
	requested
	tailed
)

// order demands the view's order.
func (c *claims) order() {
	var places []place
	m, err := c.engine.Manifest(ctx, c.key, c.sight.build.Manifest.Seq, conversation.FormatNeutral)
	if err != nil {
		c.t.Fatal(err)
	}
	apart := beside(c.record)
	for i := range m.Messages {
		switch n := &m.Messages[i]; {
		case n.Index >= 0 && apart[n.Index] && n.Role == conversation.RoleTool: // beside its call
		case n.Summary > 0:
			at := slices.IndexFunc(c.edits, func(e conversation.Edit) bool { return e.Summary != nil && e.Summary.ID == n.Summary })
			places = append(places, place{summed, c.edits[at].Range.First})
		case n.Index >= 0 && !(n.Role == conversation.RoleSystem && c.record[n.Index].restored >= 0): // for one of two reasons
			places = append(places, c.place(c.record[n.Index]))
		}
	}
	if !slices.IsSortedFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.index, b.index)) }) {
		c.t.Fatalf("the view is out of order: %v, window %+v", places, c.sight.build.Manifest.Window)
	}
}

// place is where a message must stand. What nothing keeps before the window's start is the request in force there.
func (c *claims) place(e *entry) place {
	start, first := c.sight.build.Manifest.Window.Start, c.sight.unitStart(e.index)
	at := place{requested, first}
	switch {
	case e.leading:
		at.group = leads
	case first >= start:
		at.group = tailed
	case e.pinned || e == c.first() || e.message.Role == conversation.RoleSystem:
		at.group = kept
	case c.record[first].restored >= 0: // it stays until the start moves
		at.group = restored
	case !e.message.OwnWords() || slices.ContainsFunc(c.sight.own(), func(o *entry) bool { return o.index > e.index && o.index < start }):
		c.t.Fatalf("message %d stands before the window's start, %d, and nothing keeps it there", e.index, start)
	}
	return at
}

// summaries demands that summaries which were shortened weigh no more than their shares.
func (c *claims) summaries() {
	n, short := 0, false
	for _, m := range c.sight.summaries {
		shown := m.Parts[0].Text.Inline
		n += count(shown) - 40
		for _, e := range c.edits {
			short = short || e.Summary != nil && e.Summary.ID == m.Summary && len(shown) < len(e.Summary.Text.Inline)
		}
	}
	if short && n > c.budget/5+frame {
		c.t.Fatalf("summaries weigh %d tokens of %d", n, c.budget)
	}
}

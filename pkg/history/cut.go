package history

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// standing are the entries of a tape that were not taken out.
func standing(tape []Entry) []Entry {
	if len(takenOut(tape)) == 0 {
		return tape
	}
	return slices.DeleteFunc(slices.Clone(tape), func(e Entry) bool { return e.TakenOut })
}

// takenOut are the messages of a tape that were taken out.
func takenOut(tape []Entry) []int32 {
	var out []int32
	for i := range tape {
		if tape[i].TakenOut {
			out = append(out, tape[i].Index)
		}
	}
	return out
}

// findCut looks for the list in the record, or in a view of it, with units missing that it may lack: any before the end, if they may be taken out,
// else what was taken out before. Where the record can be rewound, that is done if it leaves as much of it.
func (f *finder) findCut() *Reading {
	if !f.query.Hide && len(f.standing) == len(f.query.Record) {
		return nil
	}
	kept := -1 // messages that a rewind would leave
	if f.query.Rewind && f.best != nil {
		if kept = said(f.best.tape[:f.at]); kept+1 >= said(f.standing) {
			return nil // a list with a gap has no more
		}
	}
	for _, tape := range append([][]Entry{f.query.Record}, f.views...) {
		g := newGapped(f.list, tape, f.query.Hide)
		held := g.find()
		if held == nil || kept >= g.weigh(held) {
			continue
		}
		if r := f.readGapped(g, held); r != nil {
			return r
		}
	}
	return nil
}

// said is how many messages of a tape stand and say something.
func said(tape []Entry) int {
	n := 0
	for i := range tape {
		if e := &tape[i]; e.Gone == 0 && e.isSaid() {
			n++
		}
	}
	return n
}

// readGapped is the reading of a list that holds some of a tape's units. Of equal units, those nearest to the end are taken, unless no list
// could be read so.
func (f *finder) readGapped(g *gapped, held []*reach) *Reading {
	for _, held := range [][]*reach{g.latest(held), held} {
		tape := g.tape(held)
		t := f.list.follow(tape, false, false)
		if t.agreed() < len(tape) || t.overflow {
			continue
		}
		if c := t.furthest(len(tape)); c != nil {
			r := f.read(c, tape, -1)
			r.TakeOut, r.PutBack = g.lacks(held)
			return r
		}
	}
	return nil
}

// unit is a stretch of a tape that a list holds or lacks as one: a message, or calls with what follows on them up to their last result.
type unit struct {
	first, end int
	said       bool
	gone       bool // a list may lack it, because the view does not show it
}

// unitsOf divides a tape.
func unitsOf(tape []Entry) []unit {
	var out []unit
	for i := 0; i < len(tape); {
		u := unit{first: i, end: unitEnd(tape, i), gone: true}
		for ; i < u.end; i++ {
			u.said = u.said || tape[i].isSaid()
			u.gone = u.gone && (tape[i].Gone != 0 || tape[i].TakenOut)
		}
		out = append(out, u)
	}
	return out
}

// unitEnd is the end of the unit that begins at an entry.
func unitEnd(tape []Entry, first int) int {
	end, open := first+1, tape[first].ordinals(conversation.PartToolCall)
	for i := end; i < len(tape) && len(open) > 0 && tape[i].Role != conversation.RoleUser && tape[i].Role != conversation.RoleSystem; i++ {
		for _, answered := range tape[i].ordinals(conversation.PartToolResult) {
			if at := slices.Index(open, answered); at >= 0 {
				open, end = slices.Delete(open, at, at+1), i+1
			}
		}
		open = append(open, tape[i].ordinals(conversation.PartToolCall)...)
	}
	return end
}

// ordinals are those of the calls, or of the calls that results answer.
func (e *Entry) ordinals(kind conversation.PartKind) []int32 {
	var out []int32
	for i := range e.Parts {
		switch f := e.Parts[i].Forms; {
		case len(f) == 0 || f[0].Kind != kind:
		case kind == conversation.PartToolCall:
			out = append(out, f[0].Call.Ordinal)
		case f[0].Result.Ordinal > 0: // one without a call came with a list that was cut
			out = append(out, f[0].Result.Ordinal)
		}
	}
	return out
}

// gapped is a list that is followed along a tape of which it lacks units.
type gapped struct {
	trail *trail
	units []unit
	hide  bool
	last  int // the unit that the list has to hold: the last that anything is said in
}

// reach is how far a list was followed, by way of the units that it holds.
type reach struct {
	cursor

	unit  int // held last; -1 at the beginning
	entry int // the first of it that the list holds: calls may be cut off with the front
	held  int
	from  *reach
}

func newGapped(l *list, tape []Entry, hide bool) *gapped {
	t := &trail{list: l, tape: tape, open: waiting(tape), newest: newestReply(tape)}
	g := &gapped{trail: t, units: unitsOf(tape), hide: hide, last: -1}
	for i := range g.units {
		if g.units[i].said && !g.units[i].gone {
			g.last = i
		}
	}
	return g
}

// Ways of following a list with gaps that are held open at a time, and places from which its end is looked for. That a list's beginning is in a tape
// says that each shorter one is too: what went furthest is enough, but for texts that are followed in part.
const (
	maxReaches = 8
	maxEnds    = 64
)

// find is the units that the list holds, in order; nil if it does not come to the end of the tape.
func (g *gapped) find() []*reach {
	if g.last < 0 {
		return nil
	}
	at := []*reach{{cursor: cursor{segment: -1}, unit: -1}}
	all := slices.Clone(at)
	for n := range g.last {
		u := &g.units[n]
		if !u.said {
			continue
		}
		var next []*reach
		for _, r := range at {
			next = append(next, g.hold(r, n)...)
		}
		if at = slices.DeleteFunc(at, func(r *reach) bool { return r.offset > 0 }); !g.mayLack(u) {
			all, at = nil, nil
		}
		if len(next) > 0 {
			all = append(all, next...)
			at = furthest(append(at, next...), maxReaches) // what was held earlier comes first: it leaves most for what follows
		}
	}
	return g.end(all)
}

// mayLack says whether a list may lack a unit. A summary is the view that it stands in.
func (g *gapped) mayLack(u *unit) bool { return u.gone || g.hide && g.trail.tape[u.first].Index >= 0 }

// hold follows a list along all of a unit, or, at its beginning, along the unit's end.
func (g *gapped) hold(from *reach, n int) []*reach {
	u := &g.units[n]
	for first := u.first; first < u.end && (first == u.first || g.hide && from.segment < 0); first++ {
		ends := g.trail.stretch(from.cursor, first, u.end)
		out := make([]*reach, 0, len(ends))
		for _, c := range ends {
			out = append(out, &reach{cursor: c, unit: n, entry: first, held: from.held + 1, from: from})
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// stretch follows entries, all of them.
func (t *trail) stretch(c cursor, first, end int) []cursor {
	at := []cursor{c}
	for i := first; i < end && len(at) > 0; i++ {
		var next []cursor
		for _, c := range at {
			next = append(next, t.entry(c, i, &t.tape[i])...)
		}
		next = distinct(next)
		at = next[:min(len(next), maxCursors)]
	}
	return at
}

// furthest are the ways that went furthest, so many, each place once.
func furthest(reaches []*reach, most int) []*reach {
	seen := map[key]bool{}
	reaches = slices.DeleteFunc(reaches, func(r *reach) bool {
		was := seen[r.key()]
		seen[r.key()] = true
		return was
	})
	slices.SortStableFunc(reaches, func(a, b *reach) int {
		switch {
		case a.behind(&b.cursor):
			return -1
		case b.behind(&a.cursor):
			return 1
		}
		return cmp.Compare(b.held, a.held)
	})
	return reaches[:min(len(reaches), most)]
}

// end looks for the last unit behind what was reached: where most is held.
func (g *gapped) end(reached []*reach) []*reach {
	for _, r := range furthest(reached, maxEnds) {
		for _, last := range furthest(g.hold(r, g.last), maxReaches) {
			if g.isEnd(&last.cursor) {
				return last.path()
			}
		}
	}
	return nil
}

// isEnd says whether a list may go on behind a cursor. Results whose calls were cut off answer calls that the tape has open.
func (g *gapped) isEnd(c *cursor) bool {
	return g.trail.isEnd(c) && g.trail.list.orphans(c) <= g.trail.open
}

func (r *reach) path() []*reach {
	var out []*reach
	for ; r.from != nil; r = r.from {
		out = append(out, r)
	}
	slices.Reverse(out)
	return out
}

// weigh is how many messages a list holds.
func (g *gapped) weigh(held []*reach) int {
	n := 0
	for _, r := range held {
		for i := r.entry; i < g.units[r.unit].end; i++ {
			if g.trail.tape[i].isSaid() {
				n++
			}
		}
	}
	return n
}

// latest holds, of equal units, those nearest to the end.
func (g *gapped) latest(held []*reach) []*reach {
	out := slices.Clone(held)
	for i := len(out) - 2; i >= 0 && g.hide; i-- {
		for n := out[i+1].unit - 1; n > out[i].unit && out[i].entry == g.units[out[i].unit].first; n-- {
			if g.holds(out[i], n) {
				same := *out[i]
				same.unit, same.entry = n, g.units[n].first
				out[i] = &same
			}
		}
	}
	return out
}

// holds says whether a list holds a unit where it was found to hold another.
func (g *gapped) holds(r *reach, n int) bool {
	if !g.units[n].said {
		return false
	}
	before := r.from.cursor
	before.answers = nil // which calls these are is what is asked
	return slices.ContainsFunc(g.trail.stretch(before, g.units[n].first, g.units[n].end), func(c cursor) bool { return c.key() == r.key() })
}

// isHeld says of each unit whether a list holds it. One in which nothing is said goes with what comes before it.
func (g *gapped) isHeld(held []*reach) []bool {
	out := make([]bool, len(g.units))
	for _, r := range held {
		out[r.unit] = true
	}
	for i := range g.units {
		if !g.units[i].said {
			out[i] = i == 0 || out[i-1]
		}
	}
	return out
}

// tape is the tape of what a list holds.
func (g *gapped) tape(held []*reach) []Entry {
	var out []Entry
	for i, is := range g.isHeld(held) {
		first := g.units[i].first
		for _, r := range held {
			if r.unit == i {
				first = r.entry
			}
		}
		if is {
			out = append(out, g.trail.tape[first:g.units[i].end]...)
		}
	}
	return out
}

// lacks are the messages that a list lacks and that are to be taken out, and those that were and that it holds. Calls and the results that came
// behind other messages stay together.
func (g *gapped) lacks(held []*reach) (takeOut, putBack []int32) {
	is := g.isHeld(held)
	kept := map[int32]bool{}
	for i := range g.units {
		for _, ordinal := range g.ordinals(i) {
			kept[ordinal] = kept[ordinal] || is[i]
		}
	}
	for i := range g.units {
		is[i] = is[i] || slices.ContainsFunc(g.ordinals(i), func(o int32) bool { return kept[o] })
		for n := g.units[i].first; n < g.units[i].end; n++ {
			switch e := &g.trail.tape[n]; {
			case e.Index < 0:
			case !is[i] && !g.units[i].gone && !e.TakenOut:
				takeOut = append(takeOut, e.Index)
			case is[i] && e.TakenOut:
				putBack = append(putBack, e.Index)
			}
		}
	}
	return takeOut, putBack
}

// ordinals are the calls that a unit makes or answers.
func (g *gapped) ordinals(i int) []int32 {
	var out []int32
	for n := g.units[i].first; n < g.units[i].end; n++ {
		e := &g.trail.tape[n]
		out = append(append(out, e.ordinals(conversation.PartToolCall)...), e.ordinals(conversation.PartToolResult)...)
	}
	return out
}

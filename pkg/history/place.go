package history

import "slices"

// Place says which elements of a list a message of the record is, or a part of it.
type Place struct {
	Message    int32
	First, End int32 // elements, half-open
	// Changed: the list has the message in another form than that in which it was appended.
	Changed bool
	// Renamed: the list has calls of it by other ids.
	Renamed bool
}

// way is how a cursor came to where it is.
type way struct {
	path    *link
	changed bool // since the last link
	renamed bool
}

// link is an entry that was followed.
type link struct {
	entry  *Entry
	before cursor
	way    way // in which it was
}

// linked is a cursor that an entry has led to.
func (c cursor) linked(e *Entry, before *cursor) cursor {
	c.way = way{path: &link{entry: e, before: *before, way: c.way}}
	return c
}

// placesUpTo says where the messages stand that were followed up to a cursor, in their order, and in which elements something stands that formats
// have put there: a summary, or what they make up.
func (l *list) placesUpTo(c *cursor) (out []Place, madeUp map[int32]bool) {
	madeUp = l.madeUp()
	for to := c; to.path != nil; to = &to.path.before {
		places := l.placesOf(to.path.entry.Index, to)
		if to.path.entry.Index >= 0 {
			out = append(out, places...)
			continue
		}
		for _, p := range places {
			for e := p.First; e < p.End; e++ {
				madeUp[e] = true
			}
		}
	}
	slices.Reverse(out)
	return out, madeUp
}

// placesOf says where the message stands that led to a cursor, last first.
func (l *list) placesOf(message int32, to *cursor) []Place {
	var spots []int
	before := &to.path.before
	for n := max(before.segment, 0); n <= to.segment; n++ {
		from := cursor{segment: n}
		if n == before.segment {
			from = *before
		}
		spots = l.between(spots, &from, to)
	}
	slices.Sort(spots)
	var out []Place
	for _, i := range slices.Backward(slices.Compact(spots)) {
		m := &l.messages[i]
		if n := len(out); n > 0 && out[n-1].First <= int32(m.End) {
			out[n-1].First = min(out[n-1].First, int32(m.First))
			continue
		}
		out = append(out, Place{
			Message: message, First: int32(m.First), End: int32(m.End), Changed: to.path.way.changed, Renamed: to.path.way.renamed,
		})
	}
	return out
}

// between adds the messages of the list of which something stands in a cursor's segment, behind it and up to another.
func (l *list) between(spots []int, from, to *cursor) []int {
	s := &l.segments[from.segment]
	pieces, calls := len(s.pieces), len(s.calls)
	if from.segment == to.segment {
		pieces, calls = to.piece, to.calls
		if to.offset > 0 {
			pieces++
		}
	}
	for i := from.piece; i < pieces; i++ {
		if !l.isPieceMadeUp(from.segment, i) {
			spots = append(spots, s.pieces[i].at.message)
		}
	}
	for i := from.calls; i < calls; i++ {
		spots = append(spots, s.calls[i].at.message)
	}
	for i := range s.results {
		if !from.results.has(i) && (from.segment < to.segment || to.results.has(i)) {
			spots = append(spots, s.results[i].at.message)
		}
	}
	return spots
}

// madeUp are the elements in which something stands that formats may have put there.
func (l *list) madeUp() map[int32]bool {
	out := map[int32]bool{}
	add := func(at spot) {
		for e := l.messages[at.message].First; e < l.messages[at.message].End; e++ {
			out[int32(e)] = true
		}
	}
	for n := range l.segments {
		s := &l.segments[n]
		for i := range s.pieces {
			if l.isPieceMadeUp(n, i) {
				add(s.pieces[i].at)
			}
		}
		for i := range s.results {
			if s.results[i].isMadeUp() {
				add(s.results[i].at)
			}
		}
	}
	return out
}

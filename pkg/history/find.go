package history

import (
	"iter"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Query asks where a list goes on behind a record.
type Query struct {
	List []provider.InputMessage
	// Elements is how many elements the list has.
	Elements int
	// Record are the messages that stand, in order, without leading system messages.
	Record []Entry
	// Known: the list goes on behind a prefix that the record has, and Record behind what that prefix came to.
	Known bool
	// Views are the record as builds have shown it, where they left something out, to its end, newest first; nil for none. They are asked for if
	// the list is not the record.
	Views iter.Seq2[[]Entry, error]
	// Rewind allows the list to take the place of a part of the record.
	Rewind bool
	// Hide allows the list to lack units of the record before its end.
	Hide     bool
	Contents Contents
}

// Reading is where a list goes on.
type Reading struct {
	// Rest are the messages to append, or parts of them.
	Rest []provider.InputMessage
	// Matched is how many elements nothing of Rest is made of.
	Matched int
	// Rewind is the message from which the record has to be taken back before; -1 if nothing has.
	Rewind int32
	// TakeOut are the messages that the list lacks and that are to be taken out, PutBack those that were taken out and that it holds again.
	TakeOut, PutBack []int32
	// Places say where in the list the messages stand that it has of the record, in order.
	Places []Place
	// MadeUp are elements in which something stands that formats have put there: they are not only what the record has of them.
	MadeUp map[int32]bool
}

// Find reads a list. One that is not the record, nor a view of it, nor the end of it, nor may lack what it lacks is an error of kind
// HistoryDiverged, unless the record may be rewound to where they differ; one that may be several ends is of kind HistoryAmbiguous. The list's
// parts are shared with the reading.
func Find(q *Query) (*Reading, error) {
	f := finder{query: q, list: newList(q.List, q.Contents), standing: standing(q.Record)}
	found, err := f.find()
	if err != nil || found != nil {
		return found, err
	}
	return f.diverge()
}

type finder struct {
	query *Query
	list  *list
	// standing is the record without what was taken out, and views are as builds have shown it, once they were looked at.
	standing []Entry
	views    [][]Entry
	// best is the trail that went furthest, over at entries of it.
	best *trail
	at   int
}

// find looks for a reading that takes nothing back.
func (f *finder) find() (*Reading, error) {
	tapes := [][]Entry{f.standing}
	if len(f.standing) < len(f.query.Record) { // the list may hold again what was taken out
		tapes = [][]Entry{f.query.Record, f.standing}
	}
	var trails []*trail
	for _, tape := range tapes {
		for _, strict := range []bool{true, false} {
			t := f.list.follow(tape, strict, false)
			if r, err := f.accept(t); r != nil || err != nil {
				return r, err
			}
			trails = append(trails, t)
		}
	}
	for i := range trails { // of places behind the same of the list, one on what stands
		f.note(trails[(i+len(trails)-2)%len(trails)])
	}
	if !f.query.Known {
		if r, err := f.findView(); r != nil || err != nil {
			return r, err
		}
	}
	if r := f.findCut(); r != nil || f.query.Known || f.query.Hide {
		return r, nil
	}
	return f.findEnd()
}

// findView looks for the list among what builds have shown.
func (f *finder) findView() (*Reading, error) {
	if f.query.Views == nil {
		return nil, nil
	}
	for view, err := range f.query.Views {
		if err != nil {
			return nil, err
		}
		f.views = append(f.views, view)
		t := f.list.follow(standing(view), false, false)
		if r, err := f.accept(t); r != nil || err != nil {
			return r, err
		}
		f.note(t)
	}
	return nil, nil
}

// findEnd looks for the list's head at the end of the record: its front was cut off. A list that also begins as the record does may be one that
// was edited.
func (f *finder) findEnd() (*Reading, error) {
	for _, strict := range []bool{true, false} {
		t := f.list.follow(f.standing, strict, true)
		if t.overflow {
			return nil, ambiguous()
		}
		r, err := f.accept(t)
		if r != nil && f.best != nil {
			return nil, ambiguous()
		}
		if r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// accept is the reading of a trail to the end of its tape; nil if it does not come there.
func (f *finder) accept(t *trail) (*Reading, error) {
	if t.agreed() < len(t.tape) || t.overflow {
		return nil, nil
	}
	ends := t.ends(len(t.tape))
	switch {
	case len(ends) == 0:
		return nil, nil
	case len(ends) > 1 && (!t.strict || t.anywhere):
		return nil, ambiguous()
	}
	return f.read(&ends[0], t.tape, -1), nil
}

func ambiguous() error {
	return conversation.Errorf(conversation.HistoryAmbiguous, "the front of the list was cut off, and what is left stands at several places of the record: send more of the list, or set on_cut to HIDE")
}

// read is the reading behind a cursor, at the end of a tape.
func (f *finder) read(c *cursor, tape []Entry, rewind int32) *Reading {
	wordless := 0
	for wordless < len(tape) && !tape[len(tape)-1-wordless].isSaid() {
		wordless++
	}
	r := &Reading{Rest: f.list.rest(c, wordless), Rewind: rewind, PutBack: takenOut(tape)}
	r.Places, r.MadeUp = f.list.placesUpTo(c)
	r.Matched = f.query.Elements
	seen := 0
	for i := range r.Rest {
		m := &r.Rest[i]
		r.Matched -= max(0, m.End-max(m.First, seen))
		seen = max(seen, m.End)
	}
	return r
}

// note keeps where most of the list agrees with what it could go on from: of places behind the same of it, the first, because what was left out of
// a view may as well be what was edited.
func (f *finder) note(t *trail) {
	clean := t.borders()
	for n := 1; n <= t.agreed() && n < len(t.tape); n++ {
		c := t.furthest(n)
		if c != nil && clean[n] && (f.best == nil || c.behind(f.best.furthest(f.at))) {
			f.best, f.at = t, n
		}
	}
}

// borders says behind how many entries a list may go on in place of all others: these are what follows on record.
func (t *trail) borders() []bool {
	out, least := make([]bool, len(t.tape)), int32(math.MaxInt32)
	for n := len(t.tape) - 1; n >= 0; n-- {
		out[n] = t.tape[n].Index <= least
		least = min(least, t.tape[n].Index)
	}
	most := int32(-1)
	for n := range t.tape {
		out[n] = out[n] && t.tape[n].Index > most
		most = max(most, t.tape[n].Index)
	}
	return out
}

// furthest is the place behind n entries that leaves least of the list; nil if there is none behind anything that was said.
func (t *trail) furthest(n int) *cursor {
	var best *cursor
	ends := t.ends(n)
	for i := range ends {
		if c := &ends[i]; c.segment >= 0 && (best == nil || c.behind(best)) {
			best = c
		}
	}
	return best
}

func (c *cursor) behind(o *cursor) bool {
	if c.segment != o.segment {
		return c.segment > o.segment
	}
	return c.piece+c.calls+c.results.len() > o.piece+o.calls+o.results.len()
}

// diverge rewinds to where the list differs, or says where that is.
func (f *finder) diverge() (*Reading, error) {
	q := f.query
	if q.Rewind && f.best != nil {
		return f.read(f.best.furthest(f.at), f.best.tape[:f.at], f.best.tape[f.at].Index), nil
	}
	if q.Rewind && q.Known {
		return f.read(&cursor{segment: -1}, nil, f.standing[0].Index), nil
	}
	at, c := conversation.Divergence{Message: f.standing[0].Index}, &cursor{segment: -1}
	if f.best != nil {
		at.Message, c = f.best.tape[f.at].Index, f.best.furthest(f.at)
	}
	at.Element = int32(f.firstLeft(c))
	err := conversation.Errorf(conversation.HistoryDiverged, "the list differs from the record at element %d, message %d: %s", at.Element, at.Message, f.advice())
	err.Divergence = &at
	return nil, err
}

// advice is what to do about a list that differs.
func (f *finder) advice() string {
	switch {
	case f.query.Elements == 0:
		return "send at least one message"
	case f.query.Rewind || f.best == nil:
		return "to begin another conversation with it, set on_divergence to NEW, or send it under another conversation_id"
	default:
		return "to go on from there with what the list says, set on_divergence to REWIND or NEW"
	}
}

// firstLeft is the first element of which something is left behind a cursor, or the number of elements.
func (f *finder) firstLeft(c *cursor) int {
	if rest := f.list.rest(c, 0); len(rest) > 0 {
		return rest[0].First
	}
	return f.query.Elements
}

package history

import "slices"

// findOverGaps looks for the record in the list without some of its units: each unit that the list has where it has come to is taken, and the last
// must be among them, because what lacks the end was edited there.
func (f *finder) findOverGaps() *Reading {
	tape := f.query.Record
	t := &trail{list: f.list, tape: tape, open: waiting(tape), newest: newestReply(tape)}
	at, removed, last := []cursor{{segment: -1}}, []int32(nil), false
	for i := 0; i < len(tape); {
		end := unitEnd(tape, i)
		next := at
		for j := i; j < end && len(next) > 0; j++ {
			next = t.step(next, j)
		}
		if last = len(next) > 0; last {
			at = next
		} else {
			removed = append(removed, shownOf(tape[silentBefore(tape, i):end])...)
		}
		i = end
	}
	t.steps = [][]cursor{at}
	if ends := t.ends(0); last && !t.overflow && len(ends) > 0 && len(removed) > 0 {
		r := f.read(&ends[0], tape, -1)
		r.Removed = slices.Compact(removed)
		return r
	}
	return nil
}

// unitEnd is the end of the unit that begins at an entry.
func unitEnd(tape []Entry, i int) int {
	end := i + 1
	for end < len(tape) && tape[end].Unit != 0 && tape[end].Unit == tape[i].Unit {
		end++
	}
	return end
}

// silentBefore is where the assistant's messages without words begin that stand before an entry of its own: they go with it.
func silentBefore(tape []Entry, i int) int {
	for i > 0 && tape[i].Role == tape[i-1].Role && !tape[i-1].isSaid() {
		i--
	}
	return i
}

// shownOf are the messages of entries that are shown now.
func shownOf(entries []Entry) []int32 {
	var out []int32
	for i := range entries {
		if !entries[i].Removed {
			out = append(out, entries[i].Index)
		}
	}
	return out
}

// takenAgain are the messages that a reading passes over because the caller had once removed them, and that are shown now.
func (f *finder) takenAgain(r *Reading) []int32 {
	has := make(map[int32]bool, len(r.Places))
	for _, p := range r.Places {
		has[p.Message] = true
	}
	var out []int32
	for i := range f.query.Record {
		if e := &f.query.Record[i]; e.Taken && !e.Removed && !has[e.Index] && e.isSaid() && (r.Rewind < 0 || e.Index < r.Rewind) {
			out = append(out, e.Index)
		}
	}
	return out
}

// lackedBefore are the messages of whole units that stand before all that a reading has.
func (f *finder) lackedBefore(r *Reading) []int32 {
	tape, first := f.query.Record, len(f.query.Record)
	if len(r.Places) > 0 {
		first = slices.IndexFunc(tape, func(e Entry) bool { return e.Index == r.Places[0].Message })
	}
	var out []int32
	for i := 0; i < first; {
		end := unitEnd(tape, i)
		if end <= first {
			out = append(out, shownOf(tape[i:end])...)
		}
		i = end
	}
	return out
}

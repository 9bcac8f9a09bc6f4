package conversation

import (
	"cmp"
	"slices"
	"sort"
)

// spans holds the edits about ranges. Its slices are never changed in place; clone makes a copy that can be extended separately.
type spans struct {
	summaries   []Edit       // all that were made, in order of sequence
	hidden      []Edit       // those not undone, in order of sequence
	corrections []correction // the last one of each message, in order of sequence
	inForce     []Edit       // summaries in force, by range
	takenOut    []Edit       // what the caller's list lacks and was not put back: by range, disjoint
	moved       []Edit       // all edits that took out or put back, in order of sequence
	crossed     bool         // some summary overlaps an earlier one without covering it: the earlier one had dissolved
}

// correction records that an edit corrected a message.
type correction struct {
	seq   int64
	index int32
}

func (s *spans) empty() bool { return len(s.inForce)+len(s.hidden) == 0 }

// clone returns a copy to which further edits can be added without affecting the original.
func (s *spans) clone() spans {
	return spans{
		summaries: slices.Clip(s.summaries), hidden: slices.Clip(s.hidden), corrections: slices.Clip(s.corrections), inForce: s.inForce,
		takenOut: s.takenOut, moved: slices.Clip(s.moved), crossed: s.crossed,
	}
}

// add adds an edit.
func (s *spans) add(e *Edit) {
	switch e.Kind {
	case EditHide:
		s.hidden = append(s.hidden, *e)
		s.inForce = s.standing()
		return
	case EditUnhide:
		s.unhide(e.Range)
		s.inForce = s.standing()
		return
	case EditTakeOut, EditPutBack:
		s.takeOutOrPutBack(e)
		return
	case EditCorrect:
		s.correct(correction{e.Seq, e.Range.First})
		return
	}
	s.summarize(e)
}

// summarize adds a summary. Nothing that came later affects it yet, and it replaces the summaries that it covers.
func (s *spans) summarize(e *Edit) {
	s.crossed = s.crossed || slices.ContainsFunc(s.summaries, func(o Edit) bool { return e.Range.Overlaps(o.Range) && !e.Range.Covers(o.Range) })
	s.summaries = append(s.summaries, *e)
	if s.crossed {
		s.inForce = s.standing()
		return
	}
	inForce := []Edit{*e}
	for i := range s.inForce {
		if !e.Range.Covers(s.inForce[i].Range) {
			inForce = append(inForce, s.inForce[i])
		}
	}
	sortSpans(inForce)
	s.inForce = inForce
}

// correct adds a correction. It affects no summary unless one in force covers the message.
func (s *spans) correct(c correction) {
	earlier := slices.DeleteFunc(slices.Clone(s.corrections), func(o correction) bool { return o.index == c.index })
	s.corrections = slices.Concat(earlier, []correction{c})
	if slices.ContainsFunc(s.inForce, func(e Edit) bool { return e.Range.Contains(c.index) }) {
		s.inForce = s.standing()
	}
}

// unhide drops the newest hide of a range. Summaries that it dissolved are in force again.
func (s *spans) unhide(r Range) {
	for i := len(s.hidden) - 1; i >= 0; i-- {
		if s.hidden[i].Range == r {
			s.hidden = slices.Concat(s.hidden[:i], s.hidden[i+1:])
			return
		}
	}
}

// takeOutOrPutBack adds an edit that takes a range out or puts it back.
func (s *spans) takeOutOrPutBack(e *Edit) {
	s.moved = append(s.moved, *e)
	if s.takenOut = s.exceptPutBack(e); e.Kind == EditTakeOut {
		s.takenOut = append(s.takenOut, *e)
		sortSpans(s.takenOut)
	}
	if slices.ContainsFunc(s.inForce, func(o Edit) bool { return o.Range.Overlaps(e.Range) }) {
		s.inForce = s.standing()
	}
}

// exceptPutBack returns what was taken out and is not put back by the edit. If an edit is undone in part, the rest keeps its own weight.
func (s *spans) exceptPutBack(back *Edit) []Edit {
	out := make([]Edit, 0, len(s.takenOut)+1)
	for _, e := range s.takenOut {
		left := SubtractRanges([]Range{e.Range}, []Range{back.Range})
		if e.Range.Overlaps(back.Range) {
			e.Before = max(0, e.Before-back.After)
		}
		for _, r := range left {
			e.Range = r
			out = append(out, e)
			e.Before = 0
		}
	}
	return out
}

// takenOutBy returns the edit in force that took a message out; nil if there is none.
func (s *spans) takenOutBy(index int32) *Edit {
	at := sort.Search(len(s.takenOut), func(i int) bool { return s.takenOut[i].Range.End > index })
	if at == len(s.takenOut) || !s.takenOut[at].Range.Contains(index) {
		return nil
	}
	return &s.takenOut[at]
}

func sortSpans(edits []Edit) {
	slices.SortFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Range.First, b.Range.First), cmp.Compare(a.Seq, b.Seq))
	})
}

// standing returns the summaries in force, by range. A summary dissolves when messages that it tells of were taken back, taken out or
// corrected later, or when no message is left after it. Then the earlier summaries that it replaced are in force again, and the messages
// between them are shown. A summary is superseded by a later one in force that covers it. One that returns because a rewind was undone
// gives way to later summaries in its range, so that nothing is told twice.
func (s *spans) standing() []Edit {
	var out []Edit
	for i := len(s.summaries) - 1; i >= 0; i-- {
		e := &s.summaries[i]
		if s.dissolved(e) || slices.ContainsFunc(out, func(later Edit) bool { return later.Range.Overlaps(e.Range) }) {
			continue
		}
		out = append(out, *e)
	}
	sortSpans(out)
	return out
}

// dissolved reports whether something was taken back after the summary was made that the summary tells of, or that came right behind it:
// the newest message would be in the summary then, and it is always shown. A correction in its range dissolves it even if the summary does
// not stand for the message, because its writer may have seen the old words. A message that was put back later is not in the summary.
func (s *spans) dissolved(e *Edit) bool {
	corrected := slices.ContainsFunc(s.corrections, func(c correction) bool { return c.seq > e.Seq && e.Range.Contains(c.index) })
	moved := slices.ContainsFunc(s.moved, func(m Edit) bool { return m.Seq > e.Seq && m.Range.Overlaps(e.Range) })
	return corrected || moved || slices.ContainsFunc(s.hidden, func(h Edit) bool {
		return h.Seq > e.Seq && h.Range.First <= e.Range.End && e.Range.First < h.Range.End
	})
}

package conversation

import (
	"cmp"
	"slices"
	"sort"
)

// spans are the edits about ranges. What they hold is never changed; a copy that goes on by itself is made by clone.
type spans struct {
	summaries   []Edit       // all that were made, in order of sequence
	hidden      []Edit       // in order of sequence, without what was undone
	corrections []correction // the last of each message, in order of sequence
	inForce     []Edit       // summaries that stand, by range
	takenOut    []Edit       // what the caller's list lacks, without what was put back: by range, and apart
	moved       []Edit       // what was ever taken out or put back, in order of sequence
	crossed     bool         // one was made that overlaps an earlier one and does not cover it: that had dissolved
}

// correction is where an edit corrected a message.
type correction struct {
	seq   int64
	index int32
}

func (s *spans) empty() bool { return len(s.inForce)+len(s.hidden) == 0 }

// clone returns spans whose next edit does not write where those of the original would.
func (s *spans) clone() spans {
	return spans{
		summaries: slices.Clip(s.summaries), hidden: slices.Clip(s.hidden), corrections: slices.Clip(s.corrections), inForce: s.inForce,
		takenOut: s.takenOut, moved: slices.Clip(s.moved), crossed: s.crossed,
	}
}

// take takes in a further edit.
func (s *spans) take(e *Edit) {
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
		s.move(e)
		return
	case EditCorrect:
		s.correct(correction{e.Seq, e.Range.First})
		return
	}
	s.summarize(e)
}

// summarize takes in a summary. Nothing later speaks against it, and it takes the place of what it covers.
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

// correct notes a correction. One of a message in no summary that stands changes none.
func (s *spans) correct(c correction) {
	earlier := slices.DeleteFunc(slices.Clone(s.corrections), func(o correction) bool { return o.index == c.index })
	s.corrections = slices.Concat(earlier, []correction{c})
	if slices.ContainsFunc(s.inForce, func(e Edit) bool { return e.Range.Contains(c.index) }) {
		s.inForce = s.standing()
	}
}

// unhide drops the newest hide of a range. Summaries that it dissolved stand again.
func (s *spans) unhide(r Range) {
	for i := len(s.hidden) - 1; i >= 0; i-- {
		if s.hidden[i].Range == r {
			s.hidden = slices.Concat(s.hidden[:i], s.hidden[i+1:])
			return
		}
	}
}

// move takes a range out, or puts it back.
func (s *spans) move(e *Edit) {
	s.moved = append(s.moved, *e)
	if s.takenOut = s.without(e); e.Kind == EditTakeOut {
		s.takenOut = append(s.takenOut, *e)
		sortSpans(s.takenOut)
	}
	if slices.ContainsFunc(s.inForce, func(o Edit) bool { return o.Range.Overlaps(e.Range) }) {
		s.inForce = s.standing()
	}
}

// without is what was taken out and an edit does not move. What is left of an edit that is undone in part weighs what is left of it.
func (s *spans) without(back *Edit) []Edit {
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

// taken is the edit that took a message out; nil if none that stands did.
func (s *spans) taken(index int32) *Edit {
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

// standing are the summaries in force, by range. One that speaks of messages that were taken back, taken out or corrected since, or after which
// nothing is left, does not stand any more: the earlier summaries that it has taken up do, and the messages between them. One is
// superseded by a later one that covers it, as long as that stands. One that stands again because a rewind was undone gives way to what
// was summarized in its range meanwhile: nothing is told twice.
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

// dissolved says whether something was taken back since that the summary speaks of, or that stood right behind it: then what is the
// newest would be in the summary, and the newest is always shown. What was corrected since may have been told to who wrote the summary,
// also where that does not stand for the message. What was put back since, the summary does not tell.
func (s *spans) dissolved(e *Edit) bool {
	corrected := slices.ContainsFunc(s.corrections, func(c correction) bool { return c.seq > e.Seq && e.Range.Contains(c.index) })
	moved := slices.ContainsFunc(s.moved, func(m Edit) bool { return m.Seq > e.Seq && m.Range.Overlaps(e.Range) })
	return corrected || moved || slices.ContainsFunc(s.hidden, func(h Edit) bool {
		return h.Seq > e.Seq && h.Range.First <= e.Range.End && e.Range.First < h.Range.End
	})
}

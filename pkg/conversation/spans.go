package conversation

import (
	"cmp"
	"slices"
)

// spans are the edits about ranges. What they hold is never changed; a copy that goes on by itself is made by clone.
type spans struct {
	summaries []Edit // all that were made, in order of sequence
	hidden    []Edit // in order of sequence
	inForce   []Edit // summaries that stand, by range
}

func (s *spans) empty() bool { return len(s.inForce)+len(s.hidden) == 0 }

// clone returns spans whose next edit does not write where those of the original would.
func (s *spans) clone() spans {
	return spans{summaries: slices.Clip(s.summaries), hidden: slices.Clip(s.hidden), inForce: s.inForce}
}

// take takes in a further edit.
func (s *spans) take(e *Edit) {
	if e.Kind == EditHide {
		s.hidden = append(s.hidden, *e)
		s.inForce = s.standing()
		return
	}
	s.summaries = append(s.summaries, *e)
	inForce := []Edit{*e} // nothing later speaks against it, and it takes the place of what it covers
	for i := range s.inForce {
		if !e.Range.Covers(s.inForce[i].Range) {
			inForce = append(inForce, s.inForce[i])
		}
	}
	sortSpans(inForce)
	s.inForce = inForce
}

func sortSpans(edits []Edit) {
	slices.SortFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Range.First, b.Range.First), cmp.Compare(a.Seq, b.Seq))
	})
}

// standing are the summaries in force, by range. One that speaks of messages that were taken back since, or after which nothing
// is left, does not stand any more: the earlier summaries that it has taken up do, and the messages between them. One is
// superseded by a later one that covers it, as long as that stands.
func (s *spans) standing() []Edit {
	var out []Edit
	for i := len(s.summaries) - 1; i >= 0; i-- {
		e := &s.summaries[i]
		if s.dissolved(e) || slices.ContainsFunc(out, func(later Edit) bool { return later.Range.Covers(e.Range) }) {
			continue
		}
		out = append(out, *e)
	}
	sortSpans(out)
	return out
}

// dissolved says whether something was taken back since that the summary speaks of, or that stood right behind it: then what is the
// newest would be in the summary, and the newest is always shown.
func (s *spans) dissolved(e *Edit) bool {
	return slices.ContainsFunc(s.hidden, func(h Edit) bool {
		return h.Seq > e.Seq && h.Range.First <= e.Range.End && e.Range.First < h.Range.End
	})
}

package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// exceptions are the messages of a step that its summary does not stand for (behaviour §8): pinned units, the system's messages,
// newest first, as far as they have room; the opening and the request in force; units that were expanded lately; and what the plan keeps of
// important ones.
func (d summarizing) exceptions(s *SummaryStep) []conversation.Range {
	r, out := s.Range, slices.Clone(s.Verbatim)
	for _, p := range d.Kept.Pins {
		if r.Contains(p.First) {
			out = append(out, p)
		}
	}
	room := d.Settings.compact.system
	for i := len(d.Loaded.Messages) - 1; i >= 0; i-- {
		m := &d.Loaded.Messages[i]
		if !r.Contains(m.Index) || m.Index < d.Kept.LeadingSystem {
			continue
		}
		it, shown := d.View.Item(m)
		if !shown {
			continue
		}
		switch n := it.Tokens(); {
		case m.Role == conversation.RoleSystem:
			if room -= n; room >= 0 || d.expandedRecently(m.Index) {
				out = append(out, conversation.Range{First: m.Index, End: m.Index + 1})
			}
		case m.Index == d.request || m.Index == d.opening || d.expandedRecently(m.Index):
			out = append(out, conversation.Range{First: m.Index, End: m.Index + 1})
		}
	}
	return conversation.MergeRanges(out)
}

// expandedRecently says whether a message was brought back so short a while ago that nothing takes it away again (behaviour §10).
func (d summarizing) expandedRecently(index int32) bool {
	_, turn, ok := d.View.Restored(index)
	return ok && d.Turn-turn <= protectedTurns
}

// importantUnits are the positions of the units of high importance that the context shows before a cut, newest first. What stays for another
// reason is none of them.
func (d summarizing) importantUnits(cut int32) []int {
	var out []int
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if u.Summary != nil || u.First() >= cut || u.First() < d.Kept.LeadingSystem || !u.IsImportant() {
			continue
		}
		if at := u.First(); at != d.request && at != d.opening && !d.pinned(at) && !d.expandedRecently(at) {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return int(d.Composed.Units[b].First() - d.Composed.Units[a].First()) })
	return out
}

// verbatimUnits are those important units before a cut that stay beside the summaries: the newest that have room in their share together.
// One that has no room leaves it to older ones.
func (d summarizing) verbatimUnits(cut int32) []int {
	room := d.Settings.compact.verbatim
	return slices.DeleteFunc(d.importantUnits(cut), func(i int) bool {
		if d.Composed.Weights[i] > room {
			return true
		}
		room -= d.Composed.Weights[i]
		return false
	})
}

// keepVerbatim says of each step of a plan which important units stay beside its summary.
func (d summarizing) keepVerbatim(p *SummaryPlan) {
	for _, at := range d.verbatimUnits(p.Cut) {
		u := &d.Composed.Units[at]
		r := conversation.Range{First: u.First(), End: u.Last() + 1}
		for i := range p.Steps {
			if s := &p.Steps[i]; s.Range.Covers(r) {
				s.Verbatim = append(s.Verbatim, r)
			}
		}
	}
}

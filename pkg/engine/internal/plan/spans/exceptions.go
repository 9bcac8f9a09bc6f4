package spans

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
)

// Exceptions are the messages of a step that its summary does not stand for (behaviour §8): pinned units, the system's messages,
// newest first, as far as they have room; the opening and the request in force; units that were expanded lately; and what the plan keeps of
// important ones.
func (d *Planner) Exceptions(s *drafts.Step) []conversation.Range {
	r, out := s.Range, slices.Clone(s.Verbatim)
	for _, p := range d.Kept.Pins {
		if r.Contains(p.First) {
			out = append(out, p)
		}
	}
	room := d.Goal.System
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
			if room -= n; room >= 0 || d.Expanded(m.Index) {
				out = append(out, conversation.Range{First: m.Index, End: m.Index + 1})
			}
		case m.Index == d.Request || m.Index == d.Opening || d.Expanded(m.Index):
			out = append(out, conversation.Range{First: m.Index, End: m.Index + 1})
		}
	}
	return conversation.MergeRanges(out)
}

// ImportantUnit is a unit of high importance that the context shows.
type ImportantUnit struct {
	conversation.Range

	Weight int64
	inTail bool
	beside []conversation.Range // its results that came behind other messages
}

// ImportantUnits are those before a cut, newest first. What stays for another reason is none of them.
func (d *Planner) ImportantUnits(cut int32) []ImportantUnit {
	var out []ImportantUnit
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if u.Summary != nil || u.First() >= cut || u.First() < d.Kept.LeadingSystem || !u.IsImportant() {
			continue
		}
		if at := u.First(); at != d.Request && at != d.Opening && !d.Kept.IsPinned(at) && !d.Expanded(at) {
			ranges := u.Ranges()
			out = append(out, ImportantUnit{ranges[0], d.Composed.Weights[i], i >= d.Composed.Tail, ranges[1:]})
		}
	}
	slices.SortFunc(out, func(a, b ImportantUnit) int { return int(b.First - a.First) })
	return out
}

// verbatimUnits are those of them that stay beside the summaries: the newest that have room in their share together. One that has no room
// leaves it to older ones.
func (d *Planner) verbatimUnits(cut int32) []ImportantUnit {
	room := d.Goal.Verbatim
	return slices.DeleteFunc(d.ImportantUnits(cut), func(u ImportantUnit) bool {
		if u.Weight > room {
			return true
		}
		room -= u.Weight
		return false
	})
}

// verbatimInTail is what those weigh that the tail shows now. The others are no part of the tail's room.
func (d *Planner) verbatimInTail(cut int32) int64 {
	n := int64(0)
	for _, u := range d.verbatimUnits(cut) {
		if u.inTail {
			n += u.Weight
		}
	}
	return n
}

// keepVerbatim says of each step of a plan which important units stay beside its summary.
func (d *Planner) keepVerbatim(p *drafts.Plan) {
	for _, u := range d.verbatimUnits(p.Cut) {
		for i := range p.Steps {
			s := &p.Steps[i]
			for _, r := range append([]conversation.Range{u.Range}, u.beside...) {
				if s.Range.Covers(r) {
					s.Verbatim = append(s.Verbatim, r)
				}
			}
		}
	}
}

package plan

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// exceptions are the messages of a range that a summary over it does not stand for (behaviour §8): pinned units, the system's messages,
// newest first, as far as they have room; the opening and the request in force; and units that were expanded lately.
func (d summarizing) exceptions(r conversation.Range) []conversation.Range {
	var out []conversation.Range
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

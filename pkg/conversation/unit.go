package conversation

import (
	"iter"
	"slices"
)

// Item is a message as the view shows it. Message is the original, and Parts are what is shown for it. If nothing was edited, both share
// their parts.
type Item struct {
	Message *Message
	Parts   []Part
	Level   Level
	EditSeq int64 // the last edit of the message; 0 for none
	// Correction is the last edit that corrected the message; 0 for none.
	Correction int64
	Reason     Reason // why parts are replaced, or the message is removed
	Saved      int64  // tokens saved by replaced parts
	Masked     int64  // tokens of the blocks that masks drop
	Unseen     int64  // tokens of the blocks that only the first build showed
	// Positions are the positions of Parts in the original; nil if they are the same. RecalledPart stands for a block that is not part of
	// the original.
	Positions []int32
	// Copies are the copies to which lines in Parts refer; nil if nothing was deduplicated.
	Copies []NamedCopy
	// Beside is set if the item's results came behind other messages and are shown next to their calls.
	Beside bool
	// Of is the whole message if its parts are divided among several units; nil otherwise.
	Of *Item
}

// Holds reports whether a part of the message belongs to the item.
func (it *Item) Holds(part int32) bool { return it.Of == nil || slices.Contains(it.Positions, part) }

// Position is the position of a shown part in the original.
func (it *Item) Position(shown int) int32 {
	if it.Positions == nil {
		return int32(shown)
	}
	return it.Positions[shown]
}

// Tokens is the weight of the item, before the calibration factor.
func (it *Item) Tokens() int64 {
	n := int64(it.Message.Overhead())
	for i := range it.Parts {
		n += int64(it.Parts[i].Tokens)
	}
	return n
}

// Unit is what enters or leaves the view together (behaviour §1). It is a single message, or it is an assistant message with tool calls,
// further assistant messages directly behind open calls, and the tool messages directly after these.
type Unit struct {
	Items   []Item
	Summary *Edit // set instead of Items for a summary
}

// Items yields the items of units, in order.
func Items(units []Unit) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for i := range units {
			for j := range units[i].Items {
				if !yield(&units[i].Items[j]) {
					return
				}
			}
		}
	}
}

// First is the index of the unit's first message.
func (u *Unit) First() int32 {
	if u.Summary != nil {
		return u.Summary.Range.First
	}
	return u.Items[0].Message.Index
}

// Last is the index of the unit's last message. Results that are shown next to their calls do not count.
func (u *Unit) Last() int32 {
	if u.Summary != nil {
		return u.Summary.Range.End - 1
	}
	last := len(u.Items) - 1
	for last > 0 && u.Items[last].Beside {
		last--
	}
	return u.Items[last].Message.Index
}

// Ranges lists where the unit's messages lie: one range, and one for each message of results that are shown next to their calls.
func (u *Unit) Ranges() []Range {
	out := []Range{{First: u.First(), End: u.Last() + 1}}
	for i := range u.Items {
		if index := u.Items[i].Message.Index; u.Items[i].Beside && index >= out[0].End {
			out = append(out, Range{First: index, End: index + 1})
		}
	}
	return out
}

// Tokens is the weight of the unit, before the calibration factor.
func (u *Unit) Tokens() int64 {
	if u.Summary != nil {
		return int64(u.Summary.Summary.Tokens)
	}
	var n int64
	for i := range u.Items {
		n += u.Items[i].Tokens()
	}
	return n
}

// ToolOf returns the tool that a result of the unit comes from: as the result names it or else as the call does.
func (u *Unit) ToolOf(r *ToolResult) string {
	if r.Name != "" {
		return r.Name
	}
	for i := range u.Items {
		parts := u.Items[i].Message.Parts
		for p := range parts {
			if c := parts[p].Call; c != nil && c.Ordinal == r.Ordinal {
				return c.Name
			}
		}
	}
	return ""
}

// IsImportant reports whether a message or a tool result of the unit is of high importance. The importance of a tool's message applies to
// those of its results that have none.
func (u *Unit) IsImportant() bool {
	return slices.ContainsFunc(u.Items, func(it Item) bool {
		m := it.Message
		if m.Role != RoleTool && m.Importance == ImportanceHigh {
			return true
		}
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == PartToolResult && p.Result.Importance == ImportanceHigh && it.Holds(int32(i)) {
				return true
			}
		}
		return false
	})
}

// OpenCalls returns the calls of the unit that none of its results answers, in order.
func (u *Unit) OpenCalls() []*ToolCall {
	var open []*ToolCall
	for i := range u.Items {
		for j := range u.Items[i].Message.Parts {
			p := &u.Items[i].Message.Parts[j]
			switch p.Kind {
			case PartToolCall:
				open = append(open, p.Call)
			case PartToolResult:
				open = without(open, p.Result.Ordinal)
			}
		}
	}
	return open
}

func without(open []*ToolCall, ordinal int32) []*ToolCall {
	for i, c := range open {
		if c.Ordinal == ordinal {
			return append(open[:i:i], open[i+1:]...)
		}
	}
	return open
}

// Units groups items, which are in index order, into units, as their messages say. hidden reports whether all of a range is hidden:
// pairing ignores hidden messages.
func Units(items []Item, hidden func(Range) bool) []Unit {
	units := make([]Unit, 0, len(items))
	for start := 0; start < len(items); {
		end := start + 1
		for end < len(items) && together(items[start:end], items[end].Message, hidden) {
			end++
		}
		units = append(units, Unit{Items: items[start:end:end]})
		start = end
	}
	return units
}

// together reports whether a message belongs to the unit that the items begin.
func together(unit []Item, m *Message, hidden func(Range) bool) bool {
	begun := unit[0].Message
	if first, known := m.UnitFirst(); known {
		of, sure := begun.UnitFirst()
		return sure && of == first
	}
	gap := Range{First: unit[len(unit)-1].Message.Index + 1, End: m.Index}
	return begun.Role == RoleAssistant && begun.HasCalls() && (gap.Len() == 0 || hidden != nil && hidden(gap))
}

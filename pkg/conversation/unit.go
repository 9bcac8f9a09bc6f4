package conversation

import (
	"iter"
	"slices"
)

// Item is a message as the view shows it. Message is the original; Parts are what is shown for it. Where nothing was edited
// the two share their parts.
type Item struct {
	Message *Message
	Parts   []Part
	Level   Level
	EditSeq int64 // the last edit of it, 0 for none
	// Correction is the last edit that corrected it, 0 for none.
	Correction int64
	Reason     Reason // why its parts are replaced, or it is removed
	Saved      int64  // tokens that replaced parts save
	Masked     int64  // tokens of the blocks that a mask drops
	Unseen     int64  // tokens of the blocks that were for the first build alone
	// Positions of Parts in the original, where they are not those of the original; nil if they are. RecalledPart for a block that is not
	// of the original.
	Positions []int32
	// Copies are what the lines name that stand in Parts for others; nil if nothing of it is deduplicated.
	Copies []NamedCopy
	// Beside: its results came behind other messages, and stand beside the calls that they answer.
	Beside bool
	// Of is all of its message, if other parts of that stand in other units; nil otherwise.
	Of *Item
}

// Holds says whether a part of the message is the item's, as far as units divide it.
func (it *Item) Holds(part int32) bool { return it.Of == nil || slices.Contains(it.Positions, part) }

// Position is where a shown part stands in the original.
func (it *Item) Position(shown int) int32 {
	if it.Positions == nil {
		return int32(shown)
	}
	return it.Positions[shown]
}

// Tokens is what the item weighs, before the factor.
func (it *Item) Tokens() int64 {
	n := int64(it.Message.Overhead())
	for i := range it.Parts {
		n += int64(it.Parts[i].Tokens)
	}
	return n
}

// Unit is what enters or leaves the view together (behaviour §1): a message; or assistant messages of which the first asks for
// tools and the others stand directly behind open calls, and the tool messages directly after them.
type Unit struct {
	Items   []Item
	Summary *Edit // set instead of Items for a summary
}

// Items are the messages that units show, in their order.
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

// Last is the index of the unit's last message, but for results that stand beside their calls.
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

// Ranges are where the unit's messages lie: one range, and each message of results that stand beside their calls.
func (u *Unit) Ranges() []Range {
	out := []Range{{First: u.First(), End: u.Last() + 1}}
	for i := range u.Items {
		if index := u.Items[i].Message.Index; u.Items[i].Beside && index >= out[0].End {
			out = append(out, Range{First: index, End: index + 1})
		}
	}
	return out
}

// Tokens is what the unit weighs, before the factor.
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

// ToolOf is the tool that gave a result of the unit: as the result says, else as the call does.
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

// IsImportant says whether anything of the unit is of high importance: a message, or a tool result. What is said of a tool's message is
// said of those of its results that say nothing themselves.
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

// OpenCalls returns the calls of the unit that no result in it answers, in order.
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

// Units groups items, which are in index order, into units, as their messages say. Hidden says whether all of a range is hidden:
// hidden messages are invisible to pairing.
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

// together says whether a message is of the unit that items have begun.
func together(unit []Item, m *Message, hidden func(Range) bool) bool {
	begun := unit[0].Message
	if first, known := m.UnitFirst(); known {
		of, sure := begun.UnitFirst()
		return sure && of == first
	}
	gap := Range{First: unit[len(unit)-1].Message.Index + 1, End: m.Index}
	return begun.Role == RoleAssistant && begun.HasCalls() && (gap.Len() == 0 || hidden != nil && hidden(gap))
}

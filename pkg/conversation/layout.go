package conversation

import "slices"

// Kept says which messages before the window's start are shown nevertheless.
type Kept struct {
	LeadingSystem int32   // messages [0, n) of the record
	Pins          []Range // pinned units
}

// IsPinned reports whether a message belongs to a pinned unit.
func (k *Kept) IsPinned(index int32) bool { return InRanges(k.Pins, index) }

// Has reports whether a message is shown wherever a window starts.
func (k *Kept) Has(index int32) bool { return index < k.LeadingSystem || k.IsPinned(index) }

// In returns the view as a window shows it. If the window was opened anew, older summaries only stand for messages before its start; a
// summary that lies entirely behind the start gives way to its messages.
func (v *View) In(w Window) *View {
	if w.Afresh == 0 || len(v.spans.inForce) == 0 {
		return v
	}
	out := *v
	out.spans.inForce = nil
	for _, e := range v.spans.inForce {
		if e.Seq <= w.Afresh {
			e.Range.End = min(e.Range.End, w.Start)
		}
		if e.Range.Len() > 0 {
			out.spans.inForce = append(out.spans.inForce, e)
		}
	}
	return &out
}

// Beside returns the message as it is shown next to a summary that covers it; false if the view does not show it for another reason.
func (v *View) Beside(m *Message) (Item, bool) {
	if v.hidden(m.Index) {
		return Item{}, false
	}
	s := v.stateOf(m.Index)
	return s.item(m, v.Level(m.Index))
}

// ItemIn returns the message as a window shows it, also next to a summary; false if the window does not show it.
func (v *View) ItemIn(m *Message, w Window) (Item, bool) { return v.In(w).inWindow(m, w) }

func (v *View) inWindow(m *Message, w Window) (Item, bool) {
	it, ok := v.Item(m)
	if !ok && m.Index < w.Start && (m.Index == w.Opening || m.Index == w.Request) {
		return v.Beside(m)
	}
	return it, ok
}

// Layout returns the units of the view in its order (behaviour §4): leading system messages; the opening, pinned units before the start,
// and system messages and important units that are shown again next to a summary; summaries by range; restored units before the start; the
// request; and the tail from the start on. Each group is in index order. Units that the window's cuts leave out are not included. messages
// must be in index order and hold at least what the layout shows; others are ignored.
func (v *View) Layout(messages []Message, w Window, kept Kept) []Unit {
	v = v.In(w)
	items := make([]Item, 0, len(messages))
	for i := range messages {
		if it, ok := v.inWindow(&messages[i], w); ok {
			items = append(items, it)
		}
	}
	var groups [6][]Unit
	for _, u := range standBeside(Units(items, v.Hidden), func(u *Unit) bool { return v.showsUnit(u, w, kept) }) {
		if g, ok := v.group(u.First(), u.Items[0].Message, w, kept); ok {
			groups[g] = append(groups[g], u)
		}
	}
	for i := range v.spans.inForce {
		e := &v.spans.inForce[i]
		if cut, ok := w.CutOf(0, e.Summary.ID); !ok || !cut.Leaves() {
			groups[summaries] = append(groups[summaries], Unit{Summary: e})
		}
	}
	return slices.Concat(groups[:]...)
}

// The groups of a view, in order.
const (
	leading = iota
	pinned
	summaries
	restored
	request
	tail
)

// group returns the group in which a window shows the unit that begins at first; false if it does not show it. m is any message of the
// unit.
func (v *View) group(first int32, m *Message, w Window, kept Kept) (int, bool) {
	if first < kept.LeadingSystem {
		return leading, true
	}
	if first >= w.Start {
		return tail, true
	}
	if cut, ok := w.CutOf(first, 0); ok && cut.Leaves() {
		return 0, false
	}
	if first == w.Opening || kept.IsPinned(first) {
		return pinned, true
	}
	if edit, _, ok := v.Restored(first); ok && edit > w.Restored {
		return restored, true
	}
	if v.ShownAgain(m) {
		return pinned, true
	}
	return request, first == w.Request
}

func (v *View) showsUnit(u *Unit, w Window, kept Kept) bool {
	_, ok := v.group(u.First(), u.Items[0].Message, w, kept)
	return ok
}

// Shows reports whether a window shows a message, as Layout would with its unit.
func (v *View) Shows(m *Message, w Window, kept Kept) bool {
	v = v.In(w)
	if _, ok := v.inWindow(m, w); !ok {
		return false
	}
	first, known := m.UnitFirst()
	if unit, ok := v.VerbatimUnit(m.Index); ok && !known {
		first, known = unit.First, true
	}
	if !known || m.Index >= w.Start {
		first = m.Index
	}
	_, ok := v.group(first, m, w, kept)
	if !ok && joins(Item{Message: m}) { // it may be shown next to its call
		_, ok = v.group(m.Index, m, w, kept)
	}
	return ok
}

// ShownAgain reports whether a message is shown next to the summary that covers its index: a system message, or one of an important unit.
func (v *View) ShownAgain(m *Message) bool {
	if _, ok := v.VerbatimUnit(m.Index); ok {
		return true
	}
	return m.Role == RoleSystem && InRanges(v.Excepted(), m.Index)
}

// VerbatimUnit returns the important unit of a message that is shown next to the summary covering its index; false if there is none.
func (v *View) VerbatimUnit(index int32) (Range, bool) {
	for _, r := range v.Verbatim() {
		if r.Contains(index) {
			return r, true
		}
	}
	return Range{}, false
}

// Verbatim returns the important units that are shown next to summaries in force, in the order of these summaries.
func (v *View) Verbatim() []Range {
	var out []Range
	for i := range v.spans.inForce {
		out = append(out, v.spans.inForce[i].Summary.Verbatim...)
	}
	return out
}

package conversation

import "slices"

// Kept says which messages before the window's start are shown all the same.
type Kept struct {
	LeadingSystem int32   // messages [0, n) of the record
	Pins          []Range // pinned units
}

// IsPinned says whether a message is of a pinned unit.
func (k *Kept) IsPinned(index int32) bool { return InRanges(k.Pins, index) }

// Has says whether a message is shown wherever a window starts.
func (k *Kept) Has(index int32) bool { return index < k.LeadingSystem || k.IsPinned(index) }

// In is the view as a window shows it. A summary that was made before the window was opened afresh stands only for what lies before
// the window's start; one that lies wholly behind it gives way to its messages.
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

// Beside is the message as it is shown beside a summary that stands for it; false if the view does not show it for another reason.
func (v *View) Beside(m *Message) (Item, bool) {
	if v.hidden(m.Index) {
		return Item{}, false
	}
	s := v.stateOf(m.Index)
	return s.item(m, v.Level(m.Index))
}

// ItemIn is the message as a window shows it, beside a summary too; false if it does not.
func (v *View) ItemIn(m *Message, w Window) (Item, bool) { return v.In(w).inWindow(m, w) }

func (v *View) inWindow(m *Message, w Window) (Item, bool) {
	it, ok := v.Item(m)
	if !ok && m.Index < w.Start && (m.Index == w.Opening || m.Index == w.Request) {
		return v.Beside(m)
	}
	return it, ok
}

// Layout returns the units of the view in its order (behaviour §4): leading system messages; the opening, pinned units before the start,
// and system messages and units of high importance that are shown again beside a summary; summaries by range; restored units before the
// start; the request; and the tail from the start on; index order inside each. What the window's cuts leave out is not among them. Messages
// are in index order and hold at least what the layout shows; what they hold beside that is ignored.
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

// The groups of the view's order.
const (
	leading = iota
	pinned
	summaries
	restored
	request
	tail
)

// group is where a window shows a unit that begins at first, of which m is any message; false if it does not show it.
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

// Shows says whether a window shows a message, as Layout would with its unit.
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
	if !ok && joins(Item{Message: m}) { // beside its call
		_, ok = v.group(m.Index, m, w, kept)
	}
	return ok
}

// ShownAgain says whether a message is shown beside the summary in whose range it lies: it is the system's, or of an important unit.
func (v *View) ShownAgain(m *Message) bool {
	if _, ok := v.VerbatimUnit(m.Index); ok {
		return true
	}
	return m.Role == RoleSystem && InRanges(v.Excepted(), m.Index)
}

// VerbatimUnit is the unit of high importance with a message that stands beside the summary in whose range it lies; false if there is none.
func (v *View) VerbatimUnit(index int32) (Range, bool) {
	for _, r := range v.Verbatim() {
		if r.Contains(index) {
			return r, true
		}
	}
	return Range{}, false
}

// Verbatim are the units of high importance that stand beside summaries in force, in order of these.
func (v *View) Verbatim() []Range {
	var out []Range
	for i := range v.spans.inForce {
		out = append(out, v.spans.inForce[i].Summary.Verbatim...)
	}
	return out
}

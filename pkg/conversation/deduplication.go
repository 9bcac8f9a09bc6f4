package conversation

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// NamedCopy is a copy that a shown part names.
type NamedCopy struct {
	Copy
	Of   int32 // the part that names it
	Edit int64 // that made it do so
}

// Returning is the edit of items that a view shows as if an edit had brought them back. No edit has this number.
const Returning = math.MaxInt64

// WithReturned is the view as it would be if what deduplication left out of messages came back.
func (v *View) WithReturned(messages []int32) *View {
	if len(messages) == 0 {
		return v
	}
	out := v.clone()
	for _, i := range messages {
		out.update(i, func(s *state) { s.giveBack(Returning) })
	}
	return out
}

// giveBack shows what deduplication left out. Other forms stay.
func (s *state) giveBack(edit int64) {
	s.parts = maps.Clone(s.parts)
	maps.DeleteFunc(s.parts, func(_ int32, p shownPart) bool { return p.copies != nil })
	s.edit = edit
	if s.removed {
		return
	}
	s.reason = ReasonUnspecified
	last := int64(0)
	for _, p := range s.parts {
		if p.edit > last {
			last, s.reason = p.edit, p.reason
		}
	}
}

// Returned is the item as it is shown once what deduplication left out of it came back, beside no other change.
func (it *Item) Returned() Item {
	out := *it
	if len(it.Copies) == 0 {
		return out
	}
	out.Copies, out.Parts = nil, append([]Part(nil), it.Parts...)
	for i := range out.Parts {
		if at := it.Position(i); it.NamesCopies(at) {
			out.Parts[i] = it.Message.Parts[at]
			out.Saved -= int64(it.Message.Parts[at].Tokens - it.Parts[i].Tokens)
		}
	}
	return out
}

// NamesCopies says whether what is shown of a part names copies of its lines.
func (it *Item) NamesCopies(part int32) bool {
	i := it.copyBehind(part, 0)
	return i < len(it.Copies) && it.Copies[i].Of == part
}

// copyBehind is the first of the copies that ends behind a line of a part; they are in order. Hostile results name thousands.
func (it *Item) copyBehind(part, line int32) int {
	i, _ := slices.BinarySearchFunc(it.Copies, line, func(c NamedCopy, line int32) int {
		return cmp.Or(cmp.Compare(c.Of, part), cmp.Compare(c.End, line+1))
	})
	return i
}

// Missing says whether a copy that the item names is not shown among items, which are by the index of their message.
func (it *Item) Missing(shown map[int32]*Item) bool {
	for i := range it.Copies {
		c := &it.Copies[i]
		if by := shown[c.Message]; by == nil || !by.shows(c) {
			return true
		}
	}
	return false
}

// shows says whether the item shows lines as they stood when another came to name them: whole, or where they stand beside lines that it
// names itself.
func (it *Item) shows(c *NamedCopy) bool {
	if it.Correction > c.Edit {
		return false
	}
	shown, ok := int(c.Part), int(c.Part) < len(it.Parts)
	if it.Positions != nil {
		shown, ok = slices.BinarySearch(it.Positions, c.Part)
	}
	return ok && it.verbatim(shown, c)
}

func (it *Item) verbatim(shown int, c *NamedCopy) bool {
	i := it.copyBehind(c.Part, c.At)
	if i == len(it.Copies) || it.Copies[i].Of != c.Part {
		return it.Whole(shown) || it.NamesCopies(c.Part)
	}
	return it.Copies[i].First-c.At >= c.End-c.First
}

// Whole says whether a shown part is one text, as it was appended or corrected.
func (it *Item) Whole(shown int) bool {
	at := it.Position(shown)
	if at == RecalledPart {
		return false
	}
	original, part := &it.Message.Parts[at], &it.Parts[shown]
	text, one := part.OneText()
	return one && text.Erased == nil && part.Kind == original.Kind && part.Result == original.Result && part.Text == original.Text
}

// OneText is the text of a part that is one text: a text, or a result that is one.
func (p *Part) OneText() (Content, bool) {
	switch {
	case p.Kind == PartText:
		return p.Text, true
	case p.Kind != PartToolResult:
		return Content{}, false
	case p.Result.Output == OutputText:
		return p.Result.Text, true
	case p.Result.Output == OutputParts && len(p.Result.Parts) == 1 && p.Result.Parts[0].Media == nil:
		return p.Result.Parts[0].Text, true
	default:
		return Content{}, false
	}
}

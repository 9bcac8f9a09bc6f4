package conversation

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// NamedCopy is a copy of lines that a shown part refers to.
type NamedCopy struct {
	Copy
	Of   int32 // the part that refers to it
	Edit int64 // the edit that made the part refer to it
}

// Returning is the EditSeq of items that are shown as if an edit had brought them back. No edit has this number.
const Returning = math.MaxInt64

// WithReturned returns the view as if the lines that deduplication left out of messages came back.
func (v *View) WithReturned(messages []int32) *View {
	if len(messages) == 0 {
		return v
	}
	out := v.clone()
	for _, i := range messages {
		out.update(i, func(s *state) { s.showLeftOut(Returning) })
	}
	return out
}

// showLeftOut shows the lines that deduplication left out. Other forms stay.
func (s *state) showLeftOut(edit int64) {
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

// Returned returns the item as it is shown once the lines that deduplication left out came back, with no other change.
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

// NamesCopies reports whether the shown form of a part refers to copies of its lines.
func (it *Item) NamesCopies(part int32) bool {
	i := it.copyBehind(part, 0)
	return i < len(it.Copies) && it.Copies[i].Of == part
}

// copyBehind returns the index of the first copy that ends behind a line of a part. Copies are in order, so it searches by halving:
// hostile results refer to thousands.
func (it *Item) copyBehind(part, line int32) int {
	i, _ := slices.BinarySearchFunc(it.Copies, line, func(c NamedCopy, line int32) int {
		return cmp.Or(cmp.Compare(c.Of, part), cmp.Compare(c.End, line+1))
	})
	return i
}

// Missing reports whether a copy that the item refers to is not shown. shown holds the shown items by message index.
func (it *Item) Missing(shown map[int32]*Item) bool {
	for i := range it.Copies {
		c := &it.Copies[i]
		if by := shown[c.Message]; by == nil || !by.shows(c) {
			return true
		}
	}
	return false
}

// shows reports whether the item shows the lines of a copy as they were when the other part came to refer to them: in full, or next to
// lines for which it refers to copies itself.
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

// Whole reports whether a shown part is a single text in full, as it was appended or corrected.
func (it *Item) Whole(shown int) bool {
	at := it.Position(shown)
	if at == RecalledPart {
		return false
	}
	original, part := &it.Message.Parts[at], &it.Parts[shown]
	text, one := part.OneText()
	return one && text.Erased == nil && part.Kind == original.Kind && part.Result == original.Result && part.Text == original.Text
}

// OneText returns the text of a part that is a single text: a text part, or a result that consists of one text.
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

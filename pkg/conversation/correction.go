package conversation

import (
	"maps"
	"slices"
)

// correctedPart is a part with the words that a correction gave it.
type correctedPart struct {
	part Part
	edit int64
}

// correct applies a correction. Parts that were shown in a shorter form are shown in full with the new words; parts that were not
// shown stay out of view.
func (s *state) correct(e *Edit) {
	corrected, parts := make(map[int32]correctedPart, len(s.corrected)+len(e.Parts)), maps.Clone(s.parts)
	maps.Copy(corrected, s.corrected)
	for i := range e.Parts {
		p := &e.Parts[i]
		corrected[p.Part] = correctedPart{part: p.Shown, edit: e.Seq}
		forms := s.formsWith(p)
		if slices.ContainsFunc(forms, func(part int32) bool { return s.parts[part].part.Kind != PartUnspecified }) {
			for _, part := range forms {
				delete(parts, part)
			}
		}
	}
	s.corrected, s.correction, s.parts, s.edit = corrected, e.Seq, parts, e.Seq
}

// formsWith lists the parts whose forms show words of a corrected part. The words of a message are shortened together: the first
// part has the text, and the others show nothing. In a message that expired except for retained parts, all of them show nothing.
func (s *state) formsWith(p *PartEdit) []int32 {
	var out []int32
	for i, form := range s.parts {
		words := form.part.Kind == PartText || form.part.Kind == PartUnspecified
		if i == p.Part || p.Shown.Kind == PartText && words {
			out = append(out, i)
		}
	}
	return out
}

// Correction is the last edit that corrected the message; 0 for none.
func (v *View) Correction(i int32) int64 { return v.messages[i].correction }

// CorrectedPart reports whether a part was corrected after the message was last brought back.
func (v *View) CorrectedPart(i, part int32) bool {
	s := v.messages[i]
	c, ok := s.corrected[part]
	return ok && c.edit > s.restored
}

// LastCorrection is the last edit that corrected a message of a range; 0 for none.
func (v *View) LastCorrection(r Range) int64 {
	last := int64(0)
	for i := range v.spans.corrections {
		if c := v.spans.corrections[i]; r.Contains(c.index) {
			last = c.seq
		}
	}
	return last
}

// Corrections returns the indices of corrected messages, in the order of their last corrections.
func (v *View) Corrections() []int32 {
	out := make([]int32, len(v.spans.corrections))
	for i := range v.spans.corrections {
		out[i] = v.spans.corrections[i].index
	}
	return out
}

// Dissolves reports whether a correction dissolves any summary that was ever made.
func (v *View) Dissolves(correction *Edit) bool {
	return slices.ContainsFunc(v.spans.summaries, func(e Edit) bool {
		return e.Seq < correction.Seq && e.Range.Contains(correction.Range.First)
	})
}

// Corrected returns a message as it was appended, with its corrections applied. If there are none, it returns the message itself.
func (v *View) Corrected(m *Message) *Message {
	corrected := v.messages[m.Index].corrected
	if len(corrected) == 0 {
		return m
	}
	out := *m
	out.Parts = slices.Clone(m.Parts)
	out.Tokens = m.Overhead()
	for i := range out.Parts {
		if by, ok := corrected[int32(i)]; ok {
			out.Parts[i] = out.Parts[i].Corrected(by.part)
		}
		out.Tokens += out.Parts[i].Tokens
	}
	out.Estimated = slices.ContainsFunc(out.Parts, func(p Part) bool { return p.Estimated })
	return &out
}

// Corrected returns the part with the words of another: the text of a text, or the output of a result. Everything else stays.
func (p Part) Corrected(by Part) Part {
	switch {
	case p.Kind == PartText && by.Kind == PartText:
		p.Text = by.Text
	case p.Kind == PartToolResult && by.Kind == PartToolResult:
		r := *p.Result
		r.Output, r.Text, r.Parts = by.Result.Output, by.Result.Text, nil
		p.Result = &r
	default:
		return p
	}
	p.Tokens, p.Estimated = by.Tokens, by.Estimated
	p.Residue = nil // it belonged to the old words, as citations do
	return p
}

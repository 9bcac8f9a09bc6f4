package property

import (
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// cited takes in what an append has cited, and demands that it was to be cited, all of it, and that it weighs less.
func (j *journey) cited(e *entry) {
	made := j.news()
	want := j.citable(e)
	for i := range made {
		ed := &made[i]
		if ed.Kind != conversation.EditParts || ed.Reason != conversation.ReasonOverCitationThreshold || len(ed.Parts) != 1 || ed.Range.First != e.index {
			j.t.Fatalf("an append of message %d makes %+v", e.index, ed)
		}
		p := &ed.Parts[0]
		whole, shown := tokensOf(&e.message.Parts[p.Part]), tokensOf(&p.Shown)
		if !slices.Contains(want, p.Part) || p.Level != conversation.Cited || p.Shown.Citation == nil || shown >= whole || ed.Before != int64(whole) || ed.After != int64(shown) {
			j.t.Fatalf("part %d of message %d, of %d tokens, is cited with %d: %+v", p.Part, e.index, whole, shown, ed)
		}
		want = slices.DeleteFunc(want, func(part int32) bool { return part == p.Part })
		j.fold(ed)
	}
	for _, part := range want {
		if n := tokensOf(&e.message.Parts[part]); n > mostCited {
			j.t.Fatalf("part %d of message %d, of %d tokens, is not cited", part, e.index, n)
		}
	}
}

// mostCited is what no citation of what is generated here weighs.
const mostCited = 500

// citable lists the parts of a message that are to be cited by the rule of behaviour §9, if that makes them lighter.
func (j *journey) citable(e *entry) []int32 {
	p := j.policy.Citations
	if p.On == nil || !*p.On || e.message.Pinned {
		return nil
	}
	var out []int32
	acted := e.message.Type == conversation.TypeActionResult || e.message.Type == conversation.TypeSubAgentResult
	for i := range e.message.Parts {
		part := &e.message.Parts[i]
		long := utf8.RuneCountInString(blockText(part)) > int(*p.ThresholdChars)
		result := part.Kind == conversation.PartToolResult && part.Result.Recalled == nil
		if long && (result || part.Kind == conversation.PartText && acted && e.message.Role == conversation.RoleUser) {
			out = append(out, int32(i))
		}
	}
	return out
}

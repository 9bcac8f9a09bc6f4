package gemini

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result writes the response to a call. Gemini pairs by name, so the response has the name of the call.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	kept := s.Kept(&l.Parts[0])
	var text, wrapper string
	var more int32
	var attached []byte
	shown := *r
	if r.Output == conversation.OutputParts && (kept.Is("parts", '[') || takesMediaInResponses(s.Context.Model)) {
		text, more, attached, shown.Output = splitMedia(s, l, r, kept)
	}
	if attached == nil {
		shown.Output = r.Output
		text, more = s.ResultText(r, l.Index)
	}
	out := make([]byte, 0, len(text)+len(text)/16+96)
	out = provider.AppendField(out, `{"name":`, cleanName(l.Call.Name))
	out = append(out, `,"response":`...)
	out, wrapper = appendResponse(out, &shown, text, kept)
	more += s.Count(wrapper)
	out = append(out, attached...)
	if answersByID(s, r, kept) {
		out = s.AppendCallID(append(out, `,"id":`...), l.Call)
	}
	out = kept.Append(append(out, '}'), '"', "scheduling")
	if goesOn := string(kept["willContinue"]); goesOn == "true" || goesOn == "false" { // it ends the response
		out = append(out[:len(out)-1], `,"willContinue":`+goesOn+`}`...)
	}
	out = kept.AppendUnread(out, "data", "id", "parts", "scheduling", "willContinue")
	s.AddIn(l, "user", content(kept), beside(wrapObject(`{"functionResponse":`, out), kept), l.Parts[0].Tokens+more)
}

// answersByID reports whether a response has the id of its call. It does if the call has one, unless the response came without.
func answersByID(s *provider.UnitWriter, r *conversation.ToolResult, kept provider.Fields) bool {
	call := s.CallOf(r.Ordinal)
	return call != nil && hasID(s.Kept(call)) && kept["id"] == nil
}

// splitMedia splits a result into its text and its attached media. Nothing is attached if no media may be, or if not all media came attached.
func splitMedia(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult, kept provider.Fields) (text string, more int32, attached []byte, output conversation.OutputKind) {
	came := kept.Is("parts", '[')
	attaches := func(p conversation.ResultPart) bool { return p.Media != nil && isAttached(p.Media, came) }
	refused := func(p conversation.ResultPart) bool { return p.Media != nil && !isAttached(p.Media, came) }
	if !slices.ContainsFunc(r.Parts, attaches) || came && slices.ContainsFunc(r.Parts, refused) {
		return "", 0, nil, output
	}
	if kept.Is("response", '{') {
		output = conversation.OutputJSON
	}
	attached = []byte(`,"parts":[`)
	var words []string
	for i := range r.Parts {
		p := &r.Parts[i]
		switch {
		case p.Media == nil:
			words = append(words, p.Text.Inline)
		case attaches(*p):
			attached = append(append(attached, media(p.Media, besidePiece(kept, i))...), ',')
		default:
			line, n := s.ResultMediaAsText(r, p.Media, l.Index)
			if more += n; line != "" {
				words = append(words, line)
			}
		}
	}
	attached[len(attached)-1] = ']'
	return strings.Join(words, "\n"), more, attached, output
}

// newest are models of version 3 and later, by number or by an alias for the newest (ai.google.dev/gemini-api/docs/models,
// github.com/google-gemini/gemini-cli/issues/20588, read 2026-11-26).
var newest = regexp.MustCompile(`^gemini-(?:(?:[3-9]|\d\d)(?:[.-]|$)|(?:pro|flash|flash-lite)-latest$)`)

// takesMediaInResponses reports whether a model takes media in a function's response, as models from version 3 on do
// (ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"). It is false for a model without a name.
func takesMediaInResponses(model string) bool { return newest.MatchString(provider.BareModel(model)) }

// isAttached reports whether a medium is attached to a response: one that came attached and can be sent, or else an image or PDF sent with
// the request.
func isAttached(m *conversation.Media, came bool) bool {
	return (writer{}).Takes(m) && (came || provider.HasData(m) && provider.IsImageOrPDF(m))
}

// besidePiece returns what was kept for a piece of a response. The text is the first piece, and nothing is kept for it.
func besidePiece(kept provider.Fields, i int) provider.Fields {
	var pieces []provider.Fields
	if json.Unmarshal(kept["parts"], &pieces) != nil || i == 0 || i > len(pieces) {
		return nil
	}
	return pieces[i-1]
}

// appendResponse writes a result as an object. A text is wrapped without extra weight; for JSON, the wrapper's weight is not in the stored
// count.
func appendResponse(dst []byte, r *conversation.ToolResult, text string, kept provider.Fields) (out []byte, wrapper string) {
	key := `{"result":`
	switch {
	case r.State == conversation.ResultError:
		key = `{"error":`
	case kept.Object("response")["output"] != nil:
		key = `{"output":`
	}
	switch {
	case r.Output != conversation.OutputJSON || !provider.IsValue(text):
		dst = provider.AppendField(dst, key, text)
	case r.State != conversation.ResultError && provider.IsObject(text):
		return append(dst, text...), ""
	default:
		dst = append(append(dst, key...), text...)
		wrapper = key + "}"
	}
	return append(dst, '}'), wrapper
}

// Package gemini writes contexts for Google's Gemini API.
package gemini

import (
	"encoding/base64"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// New returns the format: the user opens and ends, roles alternate, and every block is a part of a content.
func New() provider.Format {
	return provider.NewFormat(conversation.FormatGemini, provider.Traits{
		Name: "gemini", Provider: "gemini",
		SystemApart: true, SystemPrefix: `{"parts":[`, SystemSuffix: "]}",
		Merge: true, ContentKey: "parts", UserFirst: true, UserLast: true,
		TextPrefix: `{"text":`, TextSuffix: `}`,
		Request: provider.RequestShape{System: "systemInstruction", Messages: "contents"},
	}, writer{})
}

type writer struct{}

// Takes images, audio, video and PDF, inline or where Google can fetch them.
func (writer) Takes(m *conversation.Media) bool {
	return known(m.MIMEType) && (provider.HasData(m) || strings.HasPrefix(m.URI, "https://") || strings.HasPrefix(m.URI, "gs://"))
}

func known(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf",
		"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
		"video/mp4", "video/mpeg", "video/quicktime", "video/webm":
		return true
	default:
		return false
	}
}

// Text writes parts of the user's.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	for i := range contents {
		p := &contents[i]
		if p.Media == nil {
			s.Add(l, "user", s.Traits.AppendText(nil, p.Text), p.Tokens)
		} else {
			s.Add(l, "user", media(p.Media), p.Tokens)
		}
	}
}

func media(m *conversation.Media) []byte {
	var out []byte
	if provider.HasData(m) {
		out = append(out, `{"inlineData":{"mimeType":"`+m.MIMEType+`","data":`...)
		out = provider.AppendBase64(out, m.Data.Inline)
	} else {
		out = append(out, `{"fileData":{"mimeType":"`+m.MIMEType+`","fileUri":`...)
		out = provider.AppendString(out, m.URI)
	}
	return append(out, "}}"...)
}

// Assistant writes the parts of a model's content.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	w := content{sheet: s}
	for i := range turn {
		l := &turn[i]
		for j := range l.Parts {
			w.part(l, &l.Parts[j])
		}
	}
	w.drop()
}

// content is a model's content that is being written.
type content struct {
	sheet     *provider.UnitWriter
	signature *conversation.Part // of the next part: reasoning that has no text of its own
	line      *provider.Line     // that holds it
}

func (w *content) part(l *provider.Line, p *conversation.Part) {
	json, tokens := part(w.sheet, l, p)
	switch {
	case isSignature(w.sheet, l, p):
		w.drop()
		w.signature, w.line = p, l
	case json != nil:
		if w.signature != nil && p.Kind != conversation.PartReasoning && p.Kind != conversation.PartOpaque {
			json = sign(json, w.signature.Reasoning.Signature.Inline)
			tokens += w.sheet.Charge(w.line, w.signature.Tokens)
			w.signature = nil
		}
		w.sheet.Add(l, "model", json, tokens)
	}
}

// drop leaves out a signature that no part has taken.
func (w *content) drop() {
	if w.signature != nil {
		w.sheet.Drop(w.line.Index, w.signature)
		w.signature = nil
	}
}

// part gives one part and what it weighs; nil if there is nothing to show.
func part(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	switch {
	case p.Kind == conversation.PartText && s.Blank(p.Text.Inline), isSignature(s, l, p):
		return nil, 0
	case p.Kind == conversation.PartText:
		return s.Traits.AppendText(nil, p.Text.Inline), p.Tokens
	case p.Kind == conversation.PartMedia:
		line, n := s.MediaAsText(l.Index, p)
		return s.Traits.AppendText(nil, line), n
	case p.Kind == conversation.PartToolCall:
		return call(s, l, p)
	case p.Kind == conversation.PartReasoning && s.Native(l, p) && isBase64(p.Reasoning.Signature.Inline):
		out := provider.AppendString([]byte(`{"text":`), p.Reasoning.Text.Inline)
		return sign(append(out, `,"thought":true}`...), p.Reasoning.Signature.Inline), p.Tokens
	case p.Kind == conversation.PartOpaque && s.Native(l, p) && isThought(p.Opaque.JSON.Inline):
		return []byte(p.Opaque.JSON.Inline), p.Tokens
	}
	s.Drop(l.Index, p)
	return nil, 0
}

func call(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	name := cleanName(p.Call.Name)
	more := s.Renamed(l.Index, p.Call.Name, name)
	arguments, wrapped := s.Arguments(l.Index, p.Call.Arguments.Inline, provider.IsObject)
	out := provider.AppendString([]byte(`{"functionCall":{"name":`), name)
	out = append(out, `,"args":`...)
	out = append(out, arguments...)
	return append(out, "}}"...), p.Tokens + more + wrapped
}

// cleanName allows what Gemini allows more than others, and demands a letter or '_' in front.
func cleanName(name string) string {
	clean := provider.CleanName(name, ".:")
	if strings.IndexByte("0123456789-.:", clean[0]) >= 0 {
		clean = "_" + clean[:min(len(clean), 63)]
	}
	return clean
}

// sign puts a signature behind the last member of a part.
func sign(part []byte, signature string) []byte {
	part = append(part[:len(part)-1], `,"thoughtSignature":`...)
	part = provider.AppendString(part, signature)
	return append(part, '}')
}

// isSignature reports whether reasoning has only a signature, as Gemini gives it for the part that follows.
func isSignature(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) bool {
	return p.Kind == conversation.PartReasoning && p.Reasoning.Text.Inline == "" && s.Native(l, p) && isBase64(p.Reasoning.Signature.Inline)
}

// isBase64 reports whether a signature can be read: one that cannot makes Gemini refuse the request.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	if strings.ContainsAny(s, "-_") {
		_, err := base64.RawURLEncoding.DecodeString(s)
		return err == nil && s != ""
	}
	_, err := base64.RawStdEncoding.DecodeString(s)
	return err == nil && s != ""
}

func isThought(json string) bool {
	fields, _ := provider.Fields(json)
	return provider.Only(fields, "text", "thought", "thoughtSignature") && string(fields["thought"]) == "true" && provider.StringField(fields, "text") != "" &&
		isBase64(provider.StringField(fields, "thoughtSignature"))
}

// Result writes the response to a call. Gemini pairs by name, so it carries the call's name, not its own.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	text, more := s.ResultText(r, l.Index)
	out := make([]byte, 0, len(text)+len(text)/16+96)
	out = append(out, `{"functionResponse":{"name":`...)
	out = provider.AppendString(out, cleanName(l.Call.Name))
	out = append(out, `,"response":`...)
	out, wrapper := appendResponse(out, r, text)
	more += s.Count(wrapper)
	s.Add(l, "user", append(out, "}}"...), l.Parts[0].Tokens+more)
}

// appendResponse writes a result as an object. A text in a wrapper weighs as text; around JSON the wrapper is JSON that the
// stored count does not know.
func appendResponse(dst []byte, r *conversation.ToolResult, text string) (out []byte, wrapper string) {
	key := `{"result":`
	if r.State == conversation.ResultError {
		key = `{"error":`
	}
	switch {
	case r.Output != conversation.OutputJSON || !provider.IsValue(text):
		dst = provider.AppendString(append(dst, key...), text)
	case r.State != conversation.ResultError && provider.IsObject(text):
		return append(dst, text...), ""
	default:
		dst = append(append(dst, key...), text...)
		wrapper = key + "}"
	}
	return append(dst, '}'), wrapper
}

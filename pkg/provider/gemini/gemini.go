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
		Residue: append(besideKeys(), "displayName", "response", "parts", "willContinue", "scheduling"),
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
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", provider.PDF,
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
			s.Add(l, "user", p.Kept.Append(s.Traits.AppendText(nil, p.Text), '{', besideKeys()...), p.Tokens)
		} else {
			s.Add(l, "user", media(p.Media, p.Kept), p.Tokens)
		}
	}
}

func media(m *conversation.Media, kept provider.Fields) []byte {
	key, inner := `{"fileData":`, []byte(`{"mimeType":"`+m.MIMEType+`",`)
	if provider.HasData(m) {
		key = `{"inlineData":`
		inner = provider.AppendBase64(append(inner, `"data":`...), m.Data.Inline)
	} else {
		inner = provider.AppendField(inner, `"fileUri":`, m.URI)
	}
	inner = kept.Append(append(inner, '}'), '"', "displayName")
	return kept.Append(append(append([]byte(key), inner...), '}'), '{', besideKeys()...)
}

// Assistant writes the parts of a model's content.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	w := content{unit: s}
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
	unit      *provider.UnitWriter
	signature *conversation.Part // of the next part: reasoning that has no text of its own
	line      *provider.Line     // that holds it
}

func (w *content) part(l *provider.Line, p *conversation.Part) {
	json, tokens := part(w.unit, l, p)
	switch {
	case isSignature(w.unit, l, p):
		w.drop()
		w.signature, w.line = p, l
	case json != nil:
		if w.signature != nil && p.Kind != conversation.PartReasoning && p.Kind != conversation.PartOpaque {
			json = sign(json, w.signature.Reasoning.Signature.Inline)
			tokens += w.unit.Charge(w.line, w.signature.Tokens)
			w.signature = nil
		}
		w.unit.Add(l, "model", json, tokens)
	}
}

// drop leaves out a signature that no part has taken.
func (w *content) drop() {
	if w.signature != nil {
		w.unit.Drop(w.line.Index, w.signature)
		w.signature = nil
	}
}

// part gives one part and what it weighs; nil if there is nothing to show.
func part(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	switch {
	case p.Kind == conversation.PartText && s.Blank(p.Text.Inline), isSignature(s, l, p):
		return nil, 0
	case p.Kind == conversation.PartText:
		return s.Kept(p).Append(s.Traits.AppendText(nil, p.Text.Inline), '{', besideKeys()...), p.Tokens
	case p.Kind == conversation.PartMedia && writer{}.Takes(p.Media):
		return media(p.Media, s.Kept(p)), p.Tokens
	case p.Kind == conversation.PartMedia:
		line, n := s.MediaAsText(l.Index, p)
		return s.Traits.AppendText(nil, line), n
	case p.Kind == conversation.PartToolCall:
		return call(s, l, p)
	case p.Kind == conversation.PartReasoning && s.Native(l, p) && isBase64(p.Reasoning.Signature.Inline):
		out := provider.AppendField(nil, `{"text":`, p.Reasoning.Text.Inline)
		return sign(append(out, `,"thought":true}`...), p.Reasoning.Signature.Inline), p.Tokens
	case p.Kind == conversation.PartOpaque && s.Native(l, p) && isBlock(p.Opaque.JSON.Inline):
		return []byte(p.Opaque.JSON.Inline), p.Tokens
	}
	s.Drop(l.Index, p)
	return nil, 0
}

func call(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	name, arguments, tokens := s.Call(l.Index, p, cleanName, provider.IsObject)
	out := provider.AppendField(nil, `{"functionCall":{"name":`, name)
	out = append(out, `,"args":`...)
	out = append(append(out, arguments...), "}}"...)
	return s.Kept(p).Append(out, '{', besideKeys()...), tokens
}

// cleanName allows what Gemini allows more than others, and demands a letter or '_' in front.
func cleanName(name string) string {
	clean := provider.CleanNameWith(name, ".:")
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

// isBlock reports whether an opaque block is a thought, or one of what Gemini's own tools leave.
func isBlock(json string) bool {
	fields, _ := provider.ReadFields(json)
	_, signed := fields["thoughtSignature"]
	if signed && !isBase64(fields.Text("thoughtSignature")) {
		return false
	}
	if fields.Only("text", "thought", "thoughtSignature") {
		return string(fields["thought"]) == "true" && fields.Text("text") != "" && signed
	}
	held := 0
	for _, key := range nativeKeys() {
		if len(fields.Object(key)) > 0 {
			held++
		}
	}
	return held == 1 && fields.Only(append(append(nativeKeys(), besideKeys()...), "thoughtSignature")...)
}

// Package gemini writes contexts for Google's Gemini API.
package gemini

import (
	"encoding/base64"
	"slices"
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
		Residue: append(besideKeys(), "displayName", "response", "parts", "willContinue", "scheduling", "id", "members", "data", "content"),
		Request: provider.RequestShape{System: "systemInstruction", Messages: "contents"},
	}, writer{})
}

type writer struct{}

// Takes reports true for images, audio, video and PDF, sent inline or stored where Google can fetch them.
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

// Text writes parts of the user.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	for i := range contents {
		p := &contents[i]
		if p.Media == nil {
			s.AddIn(l, "user", content(p.Kept), beside(s.Traits.AppendText(nil, p.Text), p.Kept), p.Tokens)
		} else {
			s.AddIn(l, "user", content(p.Kept), media(p.Media, p.Kept), p.Tokens)
		}
	}
}

// content returns the kept members of the content that began with this part, except those that every content has.
func content(kept provider.Fields) string { return kept.Head("content", "role", "parts") }

// beside adds to a part the members that were kept for it.
func beside(part []byte, kept provider.Fields) []byte {
	return kept.AppendUnread(kept.Append(part, '{', besideKeys()...), "members", append(dataKeys(), "thoughtSignature")...)
}

func media(m *conversation.Media, kept provider.Fields) []byte {
	key, inner := `{"fileData":`, []byte(`{"mimeType":"`+m.MIMEType+`",`)
	if provider.HasData(m) {
		key = `{"inlineData":`
		inner = provider.AppendBase64(append(inner, `"data":`...), m.Data.Inline)
	} else {
		inner = provider.AppendField(inner, `"fileUri":`, m.URI)
	}
	inner = kept.AppendUnread(kept.Append(append(inner, '}'), '"', "displayName"), "data")
	return beside(wrapObject(key, inner), kept)
}

// Assistant writes the parts of a content of the model.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	w := turnWriter{unit: s}
	for i := range turn {
		l := &turn[i]
		for j := range l.Parts {
			w.part(l, &l.Parts[j])
		}
	}
	w.flush()
}

// turnWriter writes a model's content.
type turnWriter struct {
	unit      *provider.UnitWriter
	signature *conversation.Part // signature that belongs to the next part: reasoning without text
	line      *provider.Line     // the line of that signature
	called    bool               // the content has a call
}

func (w *turnWriter) part(l *provider.Line, p *conversation.Part) {
	json, tokens := writePart(w.unit, l, p)
	switch {
	case isSignature(w.unit, l, p):
		w.flush()
		w.signature, w.line = p, l
	case json != nil:
		opens := content(w.unit.Kept(p))
		signed := w.signature != nil && p.Kind != conversation.PartReasoning && p.Kind != conversation.PartOpaque
		if signed {
			json = sign(json, w.signature.Reasoning.Signature.Inline)
			tokens += w.unit.Charge(w.line, w.signature.Tokens)
			opens = content(w.unit.Kept(w.signature))
			w.signature = nil
		}
		if p.Kind == conversation.PartToolCall {
			if !signed && !w.called && provider.ChatDialectOf(w.unit.Context.Model).NeedsSignature {
				n := w.unit.Count(provider.SkippedSignature)
				json, tokens = sign(json, provider.SkippedSignature), tokens+n
				w.unit.Repair(l.Index, conversation.ReasonSignatureAdded, int64(n))
			}
			w.called = true
		}
		w.unit.AddIn(l, "model", opens, json, tokens)
	}
}

// flush writes a signature that no part has taken. It writes it with an empty text, as Gemini returns such a signature.
func (w *turnWriter) flush() {
	if w.signature != nil {
		w.unit.AddIn(w.line, "model", content(w.unit.Kept(w.signature)), sign([]byte(`{"text":""}`), w.signature.Reasoning.Signature.Inline), w.signature.Tokens)
		w.signature = nil
	}
}

// writePart returns a part and its weight; nil if nothing of it is shown.
func writePart(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	switch {
	case p.Kind == conversation.PartText && s.Blank(p.Text.Inline), isSignature(s, l, p):
		return nil, 0
	case p.Kind == conversation.PartText:
		return beside(s.Traits.AppendText(nil, p.Text.Inline), s.Kept(p)), p.Tokens
	case p.Kind == conversation.PartMedia && writer{}.Takes(p.Media):
		return media(p.Media, s.Kept(p)), p.Tokens
	case p.Kind == conversation.PartMedia:
		line, n := s.MediaAsText(l.Index, p)
		return s.Traits.AppendText(nil, line), n
	case p.Kind == conversation.PartToolCall:
		return call(s, l, p)
	case p.Kind == conversation.PartReasoning && s.Native(l, p) && isBase64(p.Reasoning.Signature.Inline):
		out := append(provider.AppendField(nil, `{"text":`, p.Reasoning.Text.Inline), `,"thought":true}`...)
		return sign(beside(out, s.Kept(p)), p.Reasoning.Signature.Inline), p.Tokens
	case p.Kind == conversation.PartOpaque && s.Native(l, p) && isBlock(p.Opaque.JSON.Inline):
		return []byte(p.Opaque.JSON.Inline), p.Tokens
	}
	s.Drop(l.Index, p)
	return nil, 0
}

func call(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) ([]byte, int32) {
	kept := s.Kept(p)
	name, arguments, tokens := s.Call(l.Index, p, cleanName, provider.IsObject)
	out := provider.AppendField(nil, `{"name":`, name)
	out = append(out, `,"args":`...)
	out = append(out, arguments...)
	if hasID(kept) {
		out = s.AppendCallID(append(out, `,"id":`...), p.Call)
	}
	out = kept.AppendUnread(append(out, '}'), "data", "id")
	return beside(wrapObject(`{"functionCall":`, out), kept), tokens
}

// wrapObject returns a part with an object under a name.
func wrapObject(name string, object []byte) []byte {
	return append(append(append(make([]byte, 0, len(name)+len(object)+64), name...), object...), '}')
}

// hasID reports whether a call came with an id. Most have none.
func hasID(call provider.Fields) bool { return call.Text("id") != "" }

// cleanName makes a name legal: Gemini allows more characters than other providers, and requires a letter or '_' first.
func cleanName(name string) string {
	clean := provider.CleanNameWith(name, ".:")
	if strings.IndexByte("0123456789-.:", clean[0]) >= 0 {
		clean = "_" + clean[:min(len(clean), 63)]
	}
	return clean
}

// sign adds a signature to a part.
func sign(part []byte, signature string) []byte {
	part = append(part[:len(part)-1], `,"thoughtSignature":`...)
	part = provider.AppendString(part, signature)
	return append(part, '}')
}

// isSignature reports whether reasoning consists of a signature only, which Gemini returns for the part that follows.
func isSignature(s *provider.UnitWriter, l *provider.Line, p *conversation.Part) bool {
	return p.Kind == conversation.PartReasoning && p.Reasoning.Text.Inline == "" && s.Native(l, p) && isBase64(p.Reasoning.Signature.Inline)
}

// isBase64 reports whether a signature can be decoded. Gemini refuses a request with one that cannot.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	if strings.ContainsAny(s, "-_") {
		_, err := base64.RawURLEncoding.DecodeString(s)
		return err == nil && s != ""
	}
	_, err := base64.RawStdEncoding.DecodeString(s)
	return err == nil && s != ""
}

// isBlock reports whether an opaque block is a thought, a signature with an empty text, or a block of one of Gemini's own
// tools.
func isBlock(json string) bool {
	fields := provider.ReadFields(json)
	_, signed := fields["thoughtSignature"]
	if signed && !isBase64(fields.Text("thoughtSignature")) {
		return false
	}
	held := ""
	for _, key := range dataKeys() {
		if fields[key] == nil {
			continue
		}
		if held != "" {
			return false
		}
		held = key
	}
	if held == "text" {
		return signed && fields.Is("text", '"') && (string(fields["thought"]) == "true" || fields.Text("text") == "")
	}
	return slices.Contains(nativeKeys(), held) && len(fields.Object(held)) > 0
}

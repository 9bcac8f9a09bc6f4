// Package openaichat writes contexts for OpenAI's chat completions, and for the many servers with the same API.
package openaichat

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// New returns the format: roles may stand in any order, and every block is a whole message.
func New() provider.Format {
	return provider.NewFormat(conversation.FormatOpenAIChat, provider.Traits{
		Name: "openai-chat", Provider: "openai", NameField: true,
		TextPrefix: `{"role":"user","content":`, TextSuffix: `}`,
		Residue: []string{"role", "type", "file_id", "filename", "audio", "content", "message", "part", "inner", "as", "empty", "named"},
		IDs:     provider.ChatIDForm,
		Request: provider.RequestShape{Messages: "messages", CacheKey: "prompt_cache_key"},
	}, writer{})
}

type writer struct{}

// Takes reports true for images, audio and PDF.
func (writer) Takes(m *conversation.Media) bool {
	if provider.IsImage(m.MIMEType) {
		return provider.IsReachable(m)
	}
	return provider.HasData(m) && (audio(m.MIMEType) != "" || m.MIMEType == provider.PDF)
}

func audio(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	default:
		return ""
	}
}

// Text writes a message of the system or the user.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	role := provider.OpenAIRole(l, contents)
	out := append(appendContent(appendRole(s, l.Index, role, l.Name), contents), '}')
	for i := range contents {
		out = contents[i].Kept.AppendUnread(out, "message", provider.ChatMembers()...)
	}
	s.Add(l, role, out, provider.Weigh(contents))
}

// appendRole begins a message with its role and, if it is known, the name of the speaker.
func appendRole(s *provider.UnitWriter, index int32, role, name string) []byte {
	out := []byte(`{"role":"` + role + `",`)
	if name != "" {
		clean := provider.CleanSpeaker(name)
		if clean != name {
			s.Repair(index, conversation.ReasonNameReplaced, 0)
		}
		out = provider.AppendField(out, `"name":`, clean)
		out = append(out, ',')
	}
	return append(out, `"content":`...)
}

// appendContent writes a single text as a string, and anything else as a list, so that parts stay separate as they were
// appended.
func appendContent(dst []byte, contents []provider.Content) []byte {
	if len(contents) == 1 && contents[0].Media == nil && contents[0].Kept["part"] == nil {
		return provider.AppendString(dst, contents[0].Text)
	}
	for i := range contents {
		c := &contents[i]
		dst = append(dst, "[,"[min(i, 1)])
		piece := append(provider.AppendField(nil, `{"type":"text","text":`, c.Text), '}')
		if c.Media != nil {
			piece = appendMedia(nil, c)
		}
		dst = append(dst, c.Kept.AppendUnread(piece, "part", "type", "text", "refusal", "image_url", "input_audio", "file")...)
	}
	return append(dst, ']')
}

func appendMedia(dst []byte, c *provider.Content) []byte {
	m := c.Media
	var inner []byte
	var key string
	switch {
	case c.Kept.Text("file_id") != "" || c.Kept.Text("filename") != "":
		key, inner = "file", file(c)
	case provider.IsImage(m.MIMEType):
		key, inner = "image_url", provider.AppendURL([]byte(`{"url":`), m)
		if slices.Contains([]string{"auto", "low", "high"}, m.Detail) {
			inner = append(inner, `,"detail":"`+m.Detail+`"`...)
		}
		inner = append(inner, '}')
	case m.MIMEType == provider.PDF:
		key, inner = "file", append(provider.AppendURL([]byte(`{"filename":"document.pdf","file_data":`), m), '}')
	default:
		key, inner = "input_audio", provider.AppendBase64([]byte(`{"data":`), m.Data.Inline)
		inner = append(inner, `,"format":"`+audio(m.MIMEType)+`"}`...)
	}
	dst = append(dst, `{"type":"`+key+`","`+key+`":`...)
	return append(append(dst, c.Kept.AppendUnread(inner, "inner", "url", "detail", "data", "format", "filename", "file_id", "file_data")...), '}')
}

// file returns a file by the id under which OpenAI keeps it, or with its name.
func file(c *provider.Content) []byte {
	file := []byte("{}")
	if c.Kept.Text("file_id") == "" {
		file = append(provider.AppendURL([]byte(`{"file_data":`), c.Media), '}')
	}
	return c.Kept.Append(file, '"', "file_id", "filename")
}

// Result writes a tool message. Its content is a list, and it names the tool, if it came like that.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	kept := s.Kept(&l.Parts[0])
	prefix := []byte(`{"role":"tool",`)
	if name := provider.CleanName(r.Name); kept.Is("named", 't') && r.Name != "" {
		prefix = append(provider.AppendField(prefix, `"name":`, name), ',')
		n := s.Count(name)
		l.Parts[0].Tokens, l.Tokens = l.Parts[0].Tokens+n, l.Tokens+n
	}
	list := provider.ResultList{Role: "tool", Prefix: string(prefix) + `"tool_call_id":`, Key: `,"content":`, TextPrefix: `{"type":"text","text":`}
	switch {
	case saysAsMuch(kept, r):
		out := append(s.AppendCallID([]byte(list.Prefix), l.Call), list.Key...)
		out = append(append(out, kept["content"]...), '}')
		s.Add(l, list.Role, kept.AppendUnread(out, "message", provider.ChatMembers()...), l.Parts[0].Tokens)
	case !kept.Is("content", '[') || !s.AddPieces(l, r, list, kept):
		s.AddResult(l, r, list.Role, list.Prefix, list.Key, kept)
	}
}

// saysAsMuch reports whether the kept pieces of a result are texts with the same words as the result.
func saysAsMuch(kept provider.Fields, r *conversation.ToolResult) bool {
	pieces := kept.List("content")
	texts := r.Parts
	if r.Output == conversation.OutputText {
		texts = []conversation.ResultPart{{Text: r.Text}}
	}
	if len(pieces) == 0 || len(pieces) != len(texts) {
		return false
	}
	for i, piece := range pieces {
		if piece.Text("type") != "text" || texts[i].Media != nil || piece.Text("text") != texts[i].Text.Inline || texts[i].Text.Inline == "" {
			return false
		}
	}
	return true
}

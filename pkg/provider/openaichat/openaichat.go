// Package openaichat writes contexts for OpenAI's chat completions and the many servers that speak the same.
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
		Request: provider.RequestShape{Messages: "messages", CacheKey: "prompt_cache_key"},
	}, writer{})
}

type writer struct{}

// Takes images, audio and PDF.
func (writer) Takes(m *conversation.Media) bool {
	if provider.IsImage(m.MIMEType) {
		return provider.HasData(m) || provider.IsWeb(m)
	}
	return provider.HasData(m) && (audio(m.MIMEType) != "" || m.MIMEType == "application/pdf")
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

// Text writes a message of the system's or the user's.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	role := l.Role.String()
	out := appendContent(appendRole(s, l.Index, role, l.Name), contents)
	s.Add(l, role, append(out, '}'), provider.Weigh(contents))
}

// appendRole begins a message: with its role, and with who speaks if that is known.
func appendRole(s *provider.UnitWriter, index int32, role, name string) []byte {
	out := []byte(`{"role":"` + role + `",`)
	if name != "" {
		clean := provider.CleanSpeaker(name)
		if clean != name {
			s.Repair(index, conversation.ReasonNameReplaced, 0)
		}
		out = provider.AppendString(append(out, `"name":`...), clean)
		out = append(out, ',')
	}
	return append(out, `"content":`...)
}

// appendContent writes one text as a string and everything else as a list, so that parts stay apart as they were appended.
func appendContent(dst []byte, contents []provider.Content) []byte {
	if len(contents) == 1 && contents[0].Media == nil {
		return provider.AppendString(dst, contents[0].Text)
	}
	return provider.AppendContents(dst, contents, `{"type":"text","text":`, appendMedia)
}

func appendMedia(dst []byte, m *conversation.Media) []byte {
	switch {
	case provider.IsImage(m.MIMEType):
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		dst = provider.AppendURL(dst, m)
		if slices.Contains([]string{"auto", "low", "high"}, m.Detail) {
			dst = append(dst, `,"detail":"`+m.Detail+`"`...)
		}
	case m.MIMEType == "application/pdf":
		dst = append(dst, `{"type":"file","file":{"filename":"document.pdf","file_data":`...)
		dst = provider.AppendURL(dst, m)
	default:
		dst = append(dst, `{"type":"input_audio","input_audio":{"data":`...)
		dst = provider.AppendBase64(dst, m.Data.Inline)
		dst = append(dst, `,"format":"`+audio(m.MIMEType)+`"`...)
	}
	return append(dst, "}}"...)
}

// Assistant writes texts and calls in one message; reasoning cannot go back to chat completions.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	var m assistantTurn
	for i := range turn {
		m.take(s, &turn[i])
	}
	if len(m.contents) > 0 || m.calls != nil {
		s.Add(&turn[0], "assistant", message(appendRole(s, turn[0].Index, "assistant", m.name), m.contents, m.calls), m.tokens)
	}
}

// assistantTurn is what the assistant says and asks for in one turn.
type assistantTurn struct {
	name     string // of all who say something; none if they differ
	contents []provider.Content
	calls    []byte
	tokens   int32
}

func (m *assistantTurn) take(s *provider.UnitWriter, l *provider.Line) {
	before := len(m.contents) + len(m.calls)
	tokens := int32(0)
	for i := range l.Parts {
		switch p := &l.Parts[i]; p.Kind {
		case conversation.PartText:
			if !s.Blank(p.Text.Inline) {
				m.contents = append(m.contents, provider.Content{Text: p.Text.Inline})
				tokens += p.Tokens
			}
		case conversation.PartMedia:
			line, n := s.MediaAsText(l.Index, p)
			m.contents = append(m.contents, provider.Content{Text: line})
			tokens += n
		case conversation.PartToolCall:
			var n int32
			m.calls, n = appendCall(s, l.Index, m.calls, p.Call)
			tokens += p.Tokens + n
		default:
			s.Drop(l.Index, p)
		}
	}
	if len(m.contents)+len(m.calls) > before {
		if before == 0 {
			m.name = l.Name
		} else if m.name != l.Name {
			m.name = ""
		}
		m.tokens += s.Charge(l, tokens)
	}
}

func message(out []byte, contents []provider.Content, calls []byte) []byte {
	if len(contents) == 0 {
		out = append(out, "null"...)
	} else {
		out = appendContent(out, contents)
	}
	if calls != nil {
		out = append(out, `,"tool_calls":`...)
		out = append(out, calls...)
		out = append(out, ']')
	}
	return append(out, '}')
}

func appendCall(s *provider.UnitWriter, index int32, dst []byte, call *conversation.ToolCall) ([]byte, int32) {
	name := provider.CleanName(call.Name, "")
	more := s.Renamed(index, call.Name, name)
	arguments, wrapped := s.Arguments(index, call.Arguments.Inline, provider.IsJSON)
	dst = append(dst, "[,"[min(len(dst), 1)])
	dst = append(dst, `{"id":`...)
	dst = provider.AppendCallID(dst, call.Ordinal)
	dst = append(dst, `,"type":"function","function":{"name":`...)
	dst = provider.AppendString(dst, name)
	dst = append(dst, `,"arguments":`...)
	dst = provider.AppendString(dst, arguments)
	return append(dst, "}}"...), more + wrapped
}

// Result writes a tool message.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	s.AddResult(l, r, "tool", `{"role":"tool","tool_call_id":`, `,"content":`)
}

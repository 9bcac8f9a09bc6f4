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
		Residue: []string{"role", "type", "file_id", "filename", "audio", "content"},
		IDs:     provider.ChatIDForm,
		Request: provider.RequestShape{Messages: "messages", CacheKey: "prompt_cache_key"},
	}, writer{})
}

type writer struct{}

// Takes images, audio and PDF.
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

// Text writes a message of the system's or the user's.
func (writer) Text(s *provider.UnitWriter, l *provider.Line, contents []provider.Content) {
	role := provider.OpenAIRole(l, contents)
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
		out = provider.AppendField(out, `"name":`, clean)
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

func appendMedia(dst []byte, c *provider.Content) []byte {
	m := c.Media
	switch {
	case c.Kept.Text("file_id") != "" || c.Kept.Text("filename") != "":
		return append(appendFile(dst, c), '}')
	case provider.IsImage(m.MIMEType):
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		dst = provider.AppendURL(dst, m)
		if slices.Contains([]string{"auto", "low", "high"}, m.Detail) {
			dst = append(dst, `,"detail":"`+m.Detail+`"`...)
		}
	case m.MIMEType == provider.PDF:
		dst = append(dst, `{"type":"file","file":{"filename":"document.pdf","file_data":`...)
		dst = provider.AppendURL(dst, m)
	default:
		dst = append(dst, `{"type":"input_audio","input_audio":{"data":`...)
		dst = provider.AppendBase64(dst, m.Data.Inline)
		dst = append(dst, `,"format":"`+audio(m.MIMEType)+`"`...)
	}
	return append(dst, "}}"...)
}

// appendFile writes a file as OpenAI keeps it, or with the name that it has.
func appendFile(dst []byte, c *provider.Content) []byte {
	dst = append(dst, `{"type":"file","file":`...)
	file := []byte("{}")
	if c.Kept.Text("file_id") == "" {
		file = append(provider.AppendURL([]byte(`{"file_data":`), c.Media), '}')
	}
	return append(dst, c.Kept.Append(file, '"', "file_id", "filename")...)
}

// Assistant writes texts and calls in one message; reasoning cannot go back to chat completions.
func (writer) Assistant(s *provider.UnitWriter, turn []provider.Line) {
	var m assistantTurn
	for i := range turn {
		m.take(s, &turn[i])
	}
	if len(m.contents) > 0 || m.calls != nil || m.audio != nil {
		s.Add(&turn[0], "assistant", m.message(appendRole(s, turn[0].Index, "assistant", m.name)), m.tokens)
	}
}

// assistantTurn is what the assistant says and asks for in one turn.
type assistantTurn struct {
	name     string // of all who say something; none if they differ
	contents []provider.Content
	audio    []byte // what was said aloud, by its id
	calls    []byte
	tokens   int32
}

func (m *assistantTurn) take(s *provider.UnitWriter, l *provider.Line) {
	before := len(m.contents) + len(m.calls) + len(m.audio)
	tokens := int32(0)
	for i := range l.Parts {
		switch p := &l.Parts[i]; p.Kind {
		case conversation.PartText:
			tokens += m.say(s, p)
		case conversation.PartMedia:
			line, n := s.MediaAsText(l.Index, p)
			m.contents = append(m.contents, provider.Content{Text: line})
			tokens += n
		case conversation.PartToolCall:
			var n int32
			m.calls, n = appendCall(s, l.Index, m.calls, p)
			tokens += n
		default:
			s.Drop(l.Index, p)
		}
	}
	if len(m.contents)+len(m.calls)+len(m.audio) > before {
		if before == 0 {
			m.name = l.Name
		} else if m.name != l.Name {
			m.name = ""
		}
		m.tokens += s.Charge(l, tokens)
	}
}

// say takes a text, and returns its weight.
func (m *assistantTurn) say(s *provider.UnitWriter, p *conversation.Part) int32 {
	kept := s.Kept(p)
	audio := kept.Object("audio")
	switch {
	case m.audio == nil && audio.Text("id") != "" && audio.Only("id"):
		m.audio = kept["audio"]
	case s.Blank(p.Text.Inline):
		return 0
	default:
		m.contents = append(m.contents, provider.Content{Text: p.Text.Inline, Kept: kept})
	}
	return p.Tokens
}

// message closes a message. A refusal that stands alone is the message's own.
func (m *assistantTurn) message(out []byte) []byte {
	switch {
	case len(m.contents) == 0:
		out = append(out, "null"...)
	case len(m.contents) == 1 && m.contents[0].Kept.Text("type") == "refusal":
		out = provider.AppendField(out, `null,"refusal":`, m.contents[0].Text)
	default:
		out = appendSaid(out, m.contents)
	}
	if m.audio != nil {
		out = append(append(out, `,"audio":`...), m.audio...)
	}
	if m.calls != nil {
		out = append(out, `,"tool_calls":`...)
		out = append(out, m.calls...)
		out = append(out, ']')
	}
	return append(out, '}')
}

// appendSaid writes texts, among which refusals may be.
func appendSaid(dst []byte, contents []provider.Content) []byte {
	if !slices.ContainsFunc(contents, func(c provider.Content) bool { return c.Kept.Text("type") == "refusal" }) {
		return appendContent(dst, contents)
	}
	for i := range contents {
		kind := "text"
		if contents[i].Kept.Text("type") == "refusal" {
			kind = "refusal"
		}
		dst = append(dst, "[,"[min(i, 1)])
		dst = append(dst, `{"type":"`+kind+`","`+kind+`":`...)
		dst = append(provider.AppendString(dst, contents[i].Text), '}')
	}
	return append(dst, ']')
}

// appendCall writes a call behind others, and returns what it weighs.
func appendCall(s *provider.UnitWriter, index int32, dst []byte, p *conversation.Part) ([]byte, int32) {
	dst = append(dst, "[,"[min(len(dst), 1)])
	dst = append(dst, `{"id":`...)
	dst = s.AppendCallID(dst, p.Call)
	if s.Kept(p).Text("type") == "custom" {
		name, more := s.ToolName(index, p.Call.Name, provider.CleanName)
		dst = provider.AppendField(dst, `,"type":"custom","custom":{"name":`, name)
		dst = provider.AppendField(dst, `,"input":`, p.Call.Arguments.Inline)
		return append(dst, "}}"...), p.Tokens + more
	}
	name, arguments, tokens := s.Call(index, p, provider.CleanName, provider.IsJSON)
	dst = provider.AppendField(dst, `,"type":"function","function":{"name":`, name)
	dst = provider.AppendField(dst, `,"arguments":`, arguments)
	return append(dst, "}}"...), tokens
}

// Result writes a tool message: its content is a list if that is how it came.
func (writer) Result(s *provider.UnitWriter, l *provider.Line, r *conversation.ToolResult) {
	list := provider.ResultList{Role: "tool", Prefix: `{"role":"tool","tool_call_id":`, Key: `,"content":`, TextPrefix: `{"type":"text","text":`}
	if kept := s.Kept(&l.Parts[0]); !kept.Is("content", '[') || !s.AddPieces(l, r, list, kept) {
		s.AddResult(l, r, list.Role, list.Prefix, list.Key, kept)
	}
}

package anthropic

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readOpaque gives, by position, the type of each opaque block that may stand in an assistant's message, empty for others.
// Blocks of Anthropic's own tools may only come in pairs.
func readOpaque(s *provider.Sheet, l *provider.Line) map[int]string {
	var types map[int]string
	uses := map[string]int{}
	for i := range l.Parts {
		p := &l.Parts[i]
		if p.Kind != conversation.PartOpaque || !s.Native(l, p) {
			continue
		}
		if types == nil {
			types = make(map[int]string)
		}
		fields, _ := provider.Fields(p.Opaque.JSON.Inline)
		field := func(key string) string { return provider.StringField(fields, key) }
		switch kind := field("type"); {
		case kind == "redacted_thinking" && field("data") != "" && provider.Only(fields, "type", "data"),
			kind == "thinking" && field("signature") != "" && isString(fields["thinking"]) && provider.Only(fields, "type", "thinking", "signature"),
			kind == "text" && strings.TrimSpace(field("text")) != "" && provider.Only(fields, "type", "text", "citations"):
			types[i] = kind
		case kind == "server_tool_use" && field("id") != "":
			uses[field("id")] = i
		case strings.HasSuffix(kind, "_tool_result"):
			if use, ok := uses[field("tool_use_id")]; ok {
				types[use], types[i] = "server_tool_use", kind
				delete(uses, field("tool_use_id"))
			}
		}
	}
	return types
}

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

func isThinkingType(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

func isThinking(s *provider.Sheet, l *provider.Line, p *conversation.Part, opaque string) bool {
	return p.Kind == conversation.PartReasoning && s.Native(l, p) || isThinkingType(opaque)
}

// thinkingFirst says whether the thinking of a message may stay.
func thinkingFirst(s *provider.Sheet, l *provider.Line, opaque map[int]string) bool {
	content := false
	for i := range l.Parts {
		p := &l.Parts[i]
		switch {
		case isThinking(s, l, p, opaque[i]):
			if content {
				return false
			}
		case p.Kind == conversation.PartText:
			content = content || !s.Blank(p.Text.Inline)
		case p.Kind == conversation.PartMedia, p.Kind == conversation.PartToolCall, opaque[i] != "":
			content = true
		}
	}
	return content && !s.Context.AfterAssistant
}

func thought(p *conversation.Part) []byte {
	if p.Kind == conversation.PartOpaque {
		return []byte(p.Opaque.JSON.Inline)
	}
	out := []byte(`{"type":"thinking","thinking":`)
	out = provider.AppendString(out, p.Reasoning.Text.Inline)
	out = append(out, `,"signature":`...)
	out = provider.AppendString(out, p.Reasoning.Signature.Inline)
	return append(out, '}')
}

package anthropic

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readOpaque gives the type of each opaque block that may stand in a turn of the assistant's.
func readOpaque(s *provider.UnitWriter, turn []provider.Line) map[*conversation.Part]string {
	var r opaqueBlocks
	for i := range turn {
		for j := range turn[i].Parts {
			if p := &turn[i].Parts[j]; p.Kind == conversation.PartOpaque && s.Native(&turn[i], p) {
				r.read(p)
			}
		}
	}
	return r.types
}

// opaqueBlocks are blocks as they are read. Those of Anthropic's own tools may only come in pairs.
type opaqueBlocks struct {
	types map[*conversation.Part]string
	uses  map[string]*conversation.Part // by id: calls whose result has not come yet
}

func (r *opaqueBlocks) read(p *conversation.Part) {
	if r.types == nil { // most turns have none
		r.types, r.uses = map[*conversation.Part]string{}, map[string]*conversation.Part{}
	}
	fields, _ := provider.ReadFields(p.Opaque.JSON.Inline)
	switch kind := fields.Text("type"); {
	case kind == "redacted_thinking" && fields.Text("data") != "" && fields.Only("type", "data"),
		kind == "thinking" && fields.Text("signature") != "" && fields.Is("thinking", '"') && fields.Only("type", "thinking", "signature"),
		kind == "text" && strings.TrimSpace(fields.Text("text")) != "" && fields.Only("type", "text", "citations"):
		r.types[p] = kind
	case kind == "container_upload" && fields.Text("file_id") != "" && fields.Only("type", "file_id"),
		kind == "compaction" && fields.Only("type", "content", "encrypted_content"):
		r.types[p] = kind
	case (kind == "server_tool_use" || kind == "mcp_tool_use") && fields.Text("id") != "":
		r.uses[fields.Text("id")] = p
	case strings.HasSuffix(kind, "_tool_result"):
		if use, ok := r.uses[fields.Text("tool_use_id")]; ok {
			r.types[use], r.types[p] = "server_tool_use", kind // or another's, which stands as it is too
			delete(r.uses, fields.Text("tool_use_id"))
		}
	}
}

func isThinkingType(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

func isThinking(s *provider.UnitWriter, l *provider.Line, p *conversation.Part, opaque string) bool {
	return p.Kind == conversation.PartReasoning && s.Native(l, p) || isThinkingType(opaque)
}

// thinkingFirst reports whether the thinking of a message may stay.
func thinkingFirst(s *provider.UnitWriter, l *provider.Line, opaque map[*conversation.Part]string) bool {
	content := false
	for i := range l.Parts {
		p := &l.Parts[i]
		switch {
		case isThinking(s, l, p, opaque[p]):
			if content {
				return false
			}
		case p.Kind == conversation.PartText:
			content = content || !s.Blank(p.Text.Inline)
		case p.Kind == conversation.PartMedia, p.Kind == conversation.PartToolCall, opaque[p] != "":
			content = true
		}
	}
	return content && !s.Context.AfterAssistant
}

func thinkingJSON(p *conversation.Part) []byte {
	if p.Kind == conversation.PartOpaque {
		return []byte(p.Opaque.JSON.Inline)
	}
	out := []byte(`{"type":"thinking","thinking":`)
	out = provider.AppendString(out, p.Reasoning.Text.Inline)
	out = provider.AppendField(out, `,"signature":`, p.Reasoning.Signature.Inline)
	return append(out, '}')
}

// mayCall reports whether what made a call is there: the model itself, or a block of Anthropic's own that is written beside it.
func mayCall(kept provider.Fields, opaque map[*conversation.Part]string) bool {
	caller := kept.Object("caller")
	id := caller.Text("tool_id")
	if id == "" {
		return caller.Text("type") == "direct"
	}
	for p, kind := range opaque {
		if kind != "server_tool_use" {
			continue
		}
		if fields, _ := provider.ReadFields(p.Opaque.JSON.Inline); fields.Text("id") == id {
			return true
		}
	}
	return false
}

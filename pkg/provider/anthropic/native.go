package anthropic

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// ownBlock is a block of a type only Anthropic has, in a turn of the model.
type ownBlock struct {
	part    *conversation.Part
	kind    string // empty for a block that may not be sent
	id      string // id of a call of one of Anthropic's own tools
	answers string // id of the call that it is the result of
	caller  string // the id of the call that made it
	aborted bool   // its message was cut off
}

// ownKinds are blocks that are sent back wherever the model put them, without a counterpart.
// https://platform.claude.com/docs/en/api/messages, and the types of anthropic 2.14.0 for Python, read 2026-11-26.
var ownKinds = []string{"container_upload", "compaction", "fallback", "mcp_tool_listing", "tool_addition", "tool_removal"}

// ownResults are the types of results of Anthropic's own tools.
var ownResults = []string{
	"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
	"text_editor_code_execution_tool_result", "mcp_tool_result", "tool_search_tool_result", "advisor_tool_result",
}

func readOwn(p *conversation.Part, aborted bool) ownBlock {
	fields := provider.ReadFields(p.Opaque.JSON.Inline)
	b := ownBlock{part: p, aborted: aborted, caller: fields.Object("caller").Text("tool_id")}
	switch kind := fields.Text("type"); {
	case kind == "redacted_thinking" && fields.Text("data") != "",
		kind == "thinking" && fields.Text("signature") != "" && fields.Is("thinking", '"'),
		kind == "text" && strings.TrimSpace(fields.Text("text")) != "",
		kind == "container_upload" && fields.Text("file_id") != "",
		kind != "container_upload" && slices.Contains(ownKinds, kind):
		b.kind = kind
	case (kind == "server_tool_use" || kind == "mcp_tool_use") && fields.Text("id") != "":
		b.kind, b.id = kind, fields.Text("id")
	case slices.Contains(ownResults, kind) && fields.Text("tool_use_id") != "":
		b.kind, b.answers = kind, fields.Text("tool_use_id")
	}
	return b
}

// ownBlocks holds the types of Anthropic's own blocks that stay in a turn, and the calls of its tools that are in the turn or open.
type ownBlocks struct {
	kinds map[*conversation.Part]string
	calls map[string]bool
}

// readOwnBlocks finds the blocks that stay in a turn. A call of Anthropic's own tools stays if its result is in the same turn or in a
// neighboring unit.
func readOwnBlocks(s *provider.UnitWriter, turn []provider.Line) ownBlocks {
	var blocks []ownBlock
	for i := range turn {
		for j := range turn[i].Parts {
			if p := &turn[i].Parts[j]; p.Kind == conversation.PartOpaque && s.Native(&turn[i], p) {
				blocks = append(blocks, readOwn(p, turn[i].Aborted))
			}
		}
	}
	near := &s.Context.Neighbors
	o := ownBlocks{calls: map[string]bool{}}
	for _, id := range near.Asked {
		o.calls[id] = true
	}
	if len(blocks) == 0 { // the usual case
		return o
	}
	o.kinds = map[*conversation.Part]string{}
	asked, before := map[string]*ownBlock{}, slices.Clone(near.Asked)
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.id != "":
			asked[b.id] = b
		case b.answers == "":
			o.keep(b)
		case asked[b.answers] != nil:
			o.keep(asked[b.answers])
			o.keep(b)
			delete(asked, b.answers)
		default:
			s.Ties().Answers = append(s.Ties().Answers, b.answers)
			if at := slices.Index(before, b.answers); at >= 0 {
				o.keep(b)
				before = slices.Delete(before, at, at+1)
			}
		}
	}
	for i := range blocks {
		if b := &blocks[i]; b.id != "" && asked[b.id] == b && !b.aborted {
			s.Ties().Asks = append(s.Ties().Asks, b.id)
			if slices.Contains(near.Awaited, b.id) {
				o.keep(b)
			}
		}
	}
	o.dropCalledByNone(blocks)
	return o
}

func (o *ownBlocks) keep(b *ownBlock) {
	if b.kind == "" {
		return
	}
	o.kinds[b.part] = b.kind
	if b.id != "" {
		o.calls[b.id] = true
	}
}

// dropCalledByNone drops blocks that were made by a call which is not there.
func (o *ownBlocks) dropCalledByNone(blocks []ownBlock) {
	for i := range blocks {
		b := &blocks[i]
		if b.id != "" && b.caller != "" && o.kinds[b.part] != "" && !o.calls[b.caller] {
			delete(o.kinds, b.part)
			delete(o.calls, b.id)
		}
	}
	for i := range blocks { // results of dropped calls
		if b := &blocks[i]; b.answers != "" && !o.calls[b.answers] {
			delete(o.kinds, b.part)
		}
	}
}

func isThinkingType(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

func isThinking(s *provider.UnitWriter, l *provider.Line, p *conversation.Part, own string) bool {
	return p.Kind == conversation.PartReasoning && s.Native(l, p) || isThinkingType(own)
}

func thinkingJSON(s *provider.UnitWriter, p *conversation.Part) []byte {
	if p.Kind == conversation.PartOpaque {
		return []byte(p.Opaque.JSON.Inline)
	}
	out := []byte(`{"type":"thinking","thinking":`)
	out = provider.AppendString(out, p.Reasoning.Text.Inline)
	out = provider.AppendField(out, `,"signature":`, p.Reasoning.Signature.Inline)
	return besideBlock(append(out, '}'), s.Kept(p))
}

// mayCall reports whether the caller of a call is there: the model itself, or a call of one of Anthropic's own tools that is in the turn or
// still open.
func (o *ownBlocks) mayCall(kept provider.Fields) bool {
	caller := kept.Object("caller")
	if id := caller.Text("tool_id"); id != "" {
		return o.calls[id]
	}
	return caller.Text("type") == "direct"
}

// endsServerTool reports whether a block is the result of one of Anthropic's own tools.
func endsServerTool(b *provider.Block) bool {
	return strings.HasSuffix(provider.ReadFields(string(b.JSON)).Text("type"), "_tool_result")
}

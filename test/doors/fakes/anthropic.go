package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// maxCacheMarks are as many as Anthropic takes in a request.
const maxCacheMarks = 4

// anthropic plays Anthropic's Messages.
type anthropic struct{}

func (anthropic) read(body []byte, r *request) {
	m := r.members(body, "request",
		"model", "max_tokens", "messages", "cache_control", "container", "context_management", "diagnostics", "inference_geo", "mcp_servers",
		"metadata", "output_config", "output_format", "service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking",
		"tool_choice", "tools", "top_k", "top_p", "user_profile_id", "workspace_id")
	if m == nil {
		return
	}
	r.model, r.stream = m.text("model"), m.truth("stream")
	r.required(m, "model", "max_tokens", "messages")
	if r.header.Get("Anthropic-Version") == "" {
		r.fault("anthropic-version: header is required")
	}
	r.anthropicTools(m)
	r.cacheMarks(body)
	r.thinks(m)
	r.judge(validate.Anthropic, m["system"], m["messages"])
}

func (r *request) anthropicTools(m members) {
	tools := r.list(m, "tools")
	for i, raw := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		var kind struct {
			Type *string `json:"type"`
			Name string  `json:"name"`
		}
		if json.Unmarshal(raw, &kind) == nil && kind.Type != nil && *kind.Type != "custom" {
			r.offer(where, kind.Name, longToolName) // a tool of Anthropic's own
			continue
		}
		f := r.members(raw, where, "type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming",
			"defer_loading", "allowed_callers", "input_examples")
		r.offer(where, f.text("name"), longToolName)
		if !f.has("input_schema") {
			r.fault("%s.input_schema: is required", where)
			continue
		}
		r.schema(where+".input_schema", f["input_schema"], false)
		if string(f["input_schema"]) == "{}" {
			r.fault("%s.input_schema.type: is required", where)
		}
	}
	if m.has("tool_choice") {
		choice := r.members(m["tool_choice"], "tool_choice", "type", "name", "disable_parallel_tool_use")
		r.one(choice, "type", "auto", "any", "tool", "none")
		r.mute, r.single = choice.text("type") == "none", choice.truth("disable_parallel_tool_use")
		if len(tools) == 0 {
			r.fault("tool_choice: may only be specified while providing tools")
		}
	}
}

// cacheMarks counts the cache marks, wherever they stand.
func (r *request) cacheMarks(body []byte) {
	var whole any
	if json.Unmarshal(body, &whole) != nil {
		return
	}
	if marks := r.marksIn(whole); marks > maxCacheMarks {
		r.fault("a maximum of %d blocks with cache_control may be provided, found %d", maxCacheMarks, marks)
	}
}

func (r *request) marksIn(v any) (marks int) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			marks += r.marksIn(element)
		}
	case map[string]any:
		for key, value := range v {
			if key != "input" && key != "input_schema" && key != "cache_control" { // arguments and schemas hold what they like
				marks += r.marksIn(value)
			}
		}
		if mark := v["cache_control"]; mark != nil {
			marks++
			r.cacheMark(mark)
		}
	}
	return marks
}

func (r *request) cacheMark(mark any) {
	m, ok := mark.(map[string]any)
	ttl, has := m["ttl"]
	if !ok || m["type"] != "ephemeral" || has && ttl != "5m" && ttl != "1h" {
		r.fault("cache_control: must be of type ephemeral, with a ttl of 5m or 1h")
	}
}

// thinks: thinking comes back unchanged, and a turn that it began goes on with it.
func (r *request) thinks(m members) {
	var thinking members
	_ = json.Unmarshal(m["thinking"], &thinking) // one that is no object asks for nothing
	kind := thinking.text("type")
	r.thinking = kind == "enabled" || kind == "adaptive"
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(m["messages"], &messages) != nil {
		return // the judge says what is wrong
	}
	for i, message := range messages {
		blocks := thoughts(message.Content)
		for _, b := range blocks {
			if b.Type == "thinking" && b.Signature != seal(b.Thinking) {
				r.fault("messages[%d]: invalid signature in thinking block", i)
			}
		}
		asks := slices.ContainsFunc(blocks, func(b thoughtBlock) bool { return b.Type == "tool_use" })
		if kind == "enabled" && asks && i == len(messages)-2 && !strings.HasSuffix(blocks[0].Type, "thinking") {
			r.fault("messages[%d]: expected thinking or redacted_thinking before tool_use", i)
		}
	}
}

type thoughtBlock struct{ Type, Thinking, Signature string }

func thoughts(content json.RawMessage) (blocks []thoughtBlock) {
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a text
	}
	return blocks
}

func (anthropic) refusal(faults []string) any {
	return object{
		"type": "error", "request_id": "req_fake", "error": object{"type": "invalid_request_error", "message": strings.Join(faults, "; ")},
	}
}

// content are the blocks of an answer.
func (r *request) content(a *answer) (blocks []object) {
	if r.thinking && a.thought != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": a.thought, "signature": seal(a.thought)})
	}
	if a.text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.text, "citations": nil})
	}
	for _, c := range a.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": json.RawMessage(c.arguments)})
	}
	return blocks
}

func (anthropic) whole(r *request, a *answer) any {
	return with(r.message(a), object{"content": r.content(a), "stop_reason": a.stopReason(), "usage": r.anthropicUsage(a.weight())})
}

// message is the object as it begins.
func (r *request) message(a *answer) object {
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": r.model, "content": []object{}, "stop_reason": nil,
		"stop_sequence": nil, "usage": r.anthropicUsage(1),
	}
}

func (a *answer) stopReason() string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// anthropicUsage counts what was read from the cache apart.
func (r *request) anthropicUsage(output int) object {
	return object{
		"input_tokens": r.tokens - r.cached(), "cache_read_input_tokens": r.cached(), "cache_creation_input_tokens": 0, "output_tokens": output,
		"cache_creation": object{"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
	}
}

// anthropicStream collects events, each named in its data too.
type anthropicStream struct{ stream }

func (s *anthropicStream) add(kind string, data object) *event {
	return s.stream.add(kind, with(data, object{"type": kind}))
}

func (anthropic) events(r *request, a *answer) []event {
	s := &anthropicStream{}
	s.add("message_start", object{"message": r.message(a)})
	s.add("ping", object{})
	blocks := r.content(a)
	for i, block := range blocks {
		s.block(i, block, i == len(blocks)-1)
	}
	s.add("message_delta", object{
		"delta": object{"stop_reason": a.stopReason(), "stop_sequence": nil}, "usage": r.anthropicUsage(a.weight()),
	})
	s.add("message_stop", object{})
	return s.out
}

func (s *anthropicStream) block(i int, block object, last bool) {
	delta := func(d object) *event { return s.add("content_block_delta", object{"index": i, "delta": d}) }
	begin := func(empty object) {
		s.add("content_block_start", object{"index": i, "content_block": with(block, empty)})
	}
	switch block["type"] {
	case "thinking":
		begin(object{"thinking": "", "signature": ""})
		delta(object{"type": "thinking_delta", "thinking": block["thinking"]})
		delta(object{"type": "signature_delta", "signature": block["signature"]})
	case "text":
		begin(object{"text": ""})
		text, _ := block["text"].(string)
		for j, piece := range pieces(text, 4) {
			delta(object{"type": "text_delta", "text": piece}).cut = last && j == 1
		}
	default:
		begin(object{"input": object{}})
		input, _ := block["input"].(json.RawMessage)
		delta(object{"type": "input_json_delta", "partial_json": ""})
		for j, piece := range pieces(string(input), 2) {
			delta(object{"type": "input_json_delta", "partial_json": piece}).cut = last && j == 0
		}
	}
	s.add("content_block_stop", object{"index": i})
}

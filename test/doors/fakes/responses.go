package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// encrypted is what reasoning must be asked for where nothing is stored.
const encrypted = "reasoning.encrypted_content"

// responses plays OpenAI's Responses.
type responses struct{}

func (responses) read(body []byte, r *request) {
	m := r.members(body, "request",
		"access_programs", "background", "background_options", "context_management", "conversation", "image", "include", "input", "instructions",
		"max_output_tokens", "max_tool_calls", "metadata", "model", "moderation", "parallel_tool_calls", "previous_response_id", "prompt",
		"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream",
		"stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user")
	if m == nil {
		return
	}
	r.model, r.stream, r.thinking = m.text("model"), m.truth("stream"), true
	r.mute = m.text("tool_choice") == "none"
	r.single = m.has("parallel_tool_calls") && !m.truth("parallel_tool_calls")
	r.required(m, "model", "input")
	if m.has("stream_options") && !r.stream {
		r.fault("stream_options: only allowed when stream is true")
	}
	for _, key := range []string{"previous_response_id", "conversation"} {
		if m.has(key) {
			r.fault("%s: not found", key)
		}
	}
	r.includes(m)
	r.responsesTools(m)
	r.cacheKey(m)
	input := m["input"]
	if text := textOf(input); text != "" {
		// A text is a message of the user's. Strings cannot fail to encode.
		input, _ = json.Marshal([]object{{"role": "user", "content": text}})
	}
	r.reasoned(input, m.has("store") && !m.truth("store"))
	r.judge(validate.OpenAIResponses, nil, input)
}

func (r *request) includes(m members) {
	for _, raw := range r.list(m, "include") {
		name := textOf(raw)
		r.sealed = r.sealed || name == encrypted
		if !slices.Contains([]string{
			"file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url",
			"computer_call_output.output.image_url", "code_interpreter_call.outputs", encrypted, "message.output_text.logprobs",
		}, name) {
			r.fault("include: an unsupported value")
		}
	}
}

// reasoned: what is not stored cannot be referred to, and encrypted reasoning is bound to its item.
func (r *request) reasoned(input []byte, unstored bool) {
	var items []struct {
		Type             string `json:"type"`
		ID               string `json:"id"`
		EncryptedContent string `json:"encrypted_content"`
	}
	if json.Unmarshal(input, &items) != nil {
		return // the judge says what is wrong
	}
	seen := map[string]bool{}
	for i, item := range items {
		where := fmt.Sprintf("input[%d]", i)
		if item.ID != "" && seen[item.ID] {
			r.fault("%s: duplicate item found with this id", where)
		}
		seen[item.ID] = true
		switch {
		case item.Type == "item_reference":
			r.fault("%s: item not found", where)
		case item.Type != "reasoning":
		case item.EncryptedContent == "" && unstored:
			r.fault("%s: item not found: items are not persisted when store is false", where)
		case item.EncryptedContent != "" && item.EncryptedContent != seal(item.ID):
			r.fault("%s: the encrypted content could not be verified", where)
		}
	}
}

// seal stands for what only the provider can read, and notices if it is changed.
func seal(of string) string { return "c2VhbA" + digest("sealed "+of) + "==" }

func (r *request) responsesTools(m members) {
	for i, raw := range r.list(m, "tools") {
		where := fmt.Sprintf("tools[%d]", i)
		var kind struct {
			Type string `json:"type"`
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &kind) != nil || kind.Type == "" {
			r.fault("%s.type: is required", where)
			continue
		}
		if kind.Type == "custom" {
			r.offered = append(r.offered, kind.Name)
		}
		if kind.Type != "function" {
			continue // tools of OpenAI's own
		}
		f := r.members(raw, where,
			"type", "name", "description", "parameters", "strict", "allowed_callers", "defer_loading", "output_schema")
		r.offer(where, f.text("name"), toolName)
		if f.has("parameters") {
			r.schema(where+".parameters", f["parameters"], f.truth("strict"))
		}
	}
}

func (responses) refusal(faults []string) any { return openAIRefusal(faults) }

// output are the items of an answer.
func (r *request) output(a *answer) (items []object) {
	if !a.scripted && len(a.calls) > 0 || a.scripted && a.thought != "" {
		items = append(items, r.reasoning(a))
	}
	if a.text != "" {
		items = append(items, object{
			"type": "message", "id": "msg_" + a.id, "status": "completed", "role": "assistant", "content": []object{textPart(a.text)},
		})
	}
	for _, c := range a.calls {
		items = append(items, object{
			"type": "function_call", "id": "fc_" + c.id, "call_id": "call_" + c.id, "name": c.name, "arguments": c.arguments, "status": "completed",
		})
	}
	return items
}

func (r *request) reasoning(a *answer) object {
	id := "rs_" + a.id
	item := object{"type": "reasoning", "id": id, "summary": []object{}}
	if a.scripted {
		item["summary"] = []object{{"type": "summary_text", "text": a.thought}}
	}
	if r.sealed {
		item["encrypted_content"] = seal(id)
	}
	return item
}

func textPart(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (responses) whole(r *request, a *answer) any { return r.response(a, "completed", r.output(a)) }

// response is the object, at its beginning or at its end.
func (r *request) response(a *answer, status string, output []object) object {
	out := object{
		"id": "resp_" + a.id, "object": "response", "created_at": created, "status": status, "model": r.model, "output": output,
		"background": false, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": !r.single,
		"previous_response_id": nil, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1, "usage": nil,
		"store": !r.sealed, "text": object{"format": object{"type": "text"}}, "truncation": "disabled",
	}
	if status == "completed" {
		out["usage"] = object{
			"input_tokens": r.tokens, "input_tokens_details": object{"cached_tokens": r.cached(), "cache_write_tokens": 0},
			"output_tokens": a.weight(), "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": r.tokens + a.weight(),
		}
	}
	return out
}

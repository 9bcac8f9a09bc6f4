package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// created is when all answers were made.
const created = 1790000000

// chat plays OpenAI's Chat Completions.
type chat struct{}

func (chat) read(body []byte, r *request) {
	m := r.members(body, "request",
		"messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
		"max_tokens", "metadata", "modalities", "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
		"prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop",
		"store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
		"web_search_options")
	if m == nil {
		return
	}
	r.model, r.stream = m.text("model"), m.truth("stream")
	r.mute = m.text("tool_choice") == "none"
	r.single = m.has("parallel_tool_calls") && !m.truth("parallel_tool_calls")
	r.required(m, "model", "messages")
	r.chatTools(m)
	r.chatStream(m)
	r.cacheKey(m)
	r.judge(validate.OpenAIChat, nil, m["messages"])
}

// chatStream: options of a stream belong to a stream.
func (r *request) chatStream(m members) {
	if !m.has("stream_options") {
		return
	}
	options := r.members(m["stream_options"], "stream_options", "include_usage", "include_obfuscation")
	r.usage = options.truth("include_usage")
	if !r.stream {
		r.fault("stream_options: only allowed when stream is true")
	}
}

func (r *request) cacheKey(m members) {
	if m.has("prompt_cache_key") && (m.text("prompt_cache_key") == "" || len(m.text("prompt_cache_key")) > 64) {
		r.fault("prompt_cache_key: must be a text of at most 64 characters")
	}
}

func (r *request) chatTools(m members) {
	tools := r.list(m, "tools")
	if m.has("tools") && len(tools) == 0 {
		r.fault("tools: [] is too short")
	}
	for i, raw := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		tool := r.members(raw, where, "type", "function", "custom")
		r.one(tool, "type", "function", "custom")
		if tool.text("type") == "custom" {
			r.offer(where, r.members(tool["custom"], where+".custom", "name", "description", "format").text("name"), toolName)
			continue
		}
		f := r.members(tool["function"], where+".function", "name", "description", "parameters", "strict")
		r.required(tool, "type")
		r.offer(where, f.text("name"), toolName)
		if f.has("parameters") {
			r.schema(where+".function.parameters", f["parameters"], f.truth("strict"))
		}
	}
	for _, key := range []string{"tool_choice", "parallel_tool_calls"} {
		if m.has(key) && len(tools) == 0 {
			r.fault("%s: only allowed when tools are specified", key)
		}
	}
}

func (chat) refusal(faults []string) any { return openAIRefusal(faults) }

func openAIRefusal(faults []string) any {
	return object{"error": object{"message": strings.Join(faults, "; "), "type": "invalid_request_error", "param": nil, "code": nil}}
}

func (chat) whole(r *request, a *answer) any {
	message := object{"role": "assistant", "content": nil, "refusal": nil, "annotations": []any{}}
	if a.text != "" {
		message["content"] = a.text
	}
	if a.scripted && a.thought != "" { // as DeepSeek and its like think
		message["reasoning_content"] = a.thought
	}
	calls := make([]object, 0, len(a.calls))
	for _, c := range a.calls {
		calls = append(calls, object{"id": "call_" + c.id, "type": "function", "function": object{"name": c.name, "arguments": c.arguments}})
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-" + a.id, "object": "chat.completion", "created": created, "model": r.model, "service_tier": "default",
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": a.chatFinish()}},
		"usage":   r.chatUsage(a),
	}
}

func (a *answer) chatFinish() string {
	if len(a.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (r *request) chatUsage(a *answer) object {
	return object{
		"prompt_tokens": r.tokens, "completion_tokens": a.weight(), "total_tokens": r.tokens + a.weight(),
		"prompt_tokens_details":     object{"cached_tokens": r.cached(), "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
}

func (chat) events(r *request, a *answer) []event {
	var s stream
	chunk := func(choices []object, usage any) *event {
		data := object{"id": "chatcmpl-" + a.id, "object": "chat.completion.chunk", "created": created, "model": r.model, "choices": choices}
		if r.usage {
			data["usage"] = usage
		}
		return s.add("", data)
	}
	delta := func(d object, finish any) *event {
		return chunk([]object{{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	if a.scripted && a.thought != "" {
		delta(object{"reasoning_content": a.thought}, nil)
	}
	for i, piece := range pieces(a.text, 4) {
		delta(object{"content": piece}, nil).cut = len(a.calls) == 0 && i == 1
	}
	for i, c := range a.calls {
		delta(object{"tool_calls": []object{{
			"index": i, "id": "call_" + c.id, "type": "function", "function": object{"name": c.name, "arguments": ""},
		}}}, nil)
		for j, piece := range pieces(c.arguments, 2) {
			e := delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
			e.cut = i == len(a.calls)-1 && j == 0
		}
	}
	delta(object{}, a.chatFinish())
	if r.usage {
		chunk([]object{}, r.chatUsage(a))
	}
	return append(s.out, event{raw: "[DONE]"})
}

// text is of a JSON value that is a string, or empty.
func textOf(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

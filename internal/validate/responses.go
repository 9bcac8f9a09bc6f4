package validate

import (
	"slices"
	"strings"
)

// hostedItems are the items that OpenAI's own tools leave in a conversation.
// They come back as they came, so their inside is OpenAI's matter.
func hostedItems() []string {
	return []string{
		"file_search_call", "web_search_call", "image_generation_call", "code_interpreter_call", "mcp_list_tools", "mcp_approval_request",
		"mcp_approval_response", "mcp_call", "item_reference", "compaction", "program", "program_output", "tool_search_call",
		"tool_search_output", "additional_tools", "configuration_update",
	}
}

// responsesItem reads an input item of Responses.
func responsesItem(r *reader, raw []byte) entry {
	kind := "message"
	for _, m := range splitIfObject(raw) {
		if m.key == "type" {
			kind, _ = r.text(m.raw, ".type")
		}
	}
	switch {
	case kind == "message":
		return responsesMessage(r, raw)
	case kind == "function_call":
		return responsesCall(r, raw)
	case kind == "function_call_output", kind == "custom_tool_call_output":
		return responsesOutput(r, raw, kind)
	case clientCalls()[kind] != nil:
		return responsesAction(r, raw, kind)
	case clientOutputs()[kind] != nil:
		return responsesOutcome(r, raw, kind)
	case kind == "reasoning":
		return responsesReasoning(r, raw)
	case slices.Contains(hostedItems(), kind):
		item := Item{Kind: Opaque, Texts: []string{string(raw)}}
		return entry{role: kind, bare: true, blocks: []Block{r.block(kind, raw, item)}}
	default:
		r.fault(".type", RuleValue)
		return entry{}
	}
}

func splitIfObject(raw []byte) []member {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return splitObject(raw)
}

// responsesMessage reads a message that somebody gives (EasyInputMessageParam, Message) or one that the model gave
// (ResponseOutputMessageParam): the assistant's words are a text, or the list of an output message with its id and status.
func responsesMessage(r *reader, raw []byte) entry {
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	e := entry{role: o.one("role", RuleRole, "system", "developer", "user", "assistant")}
	var items []Item
	switch {
	case e.role == "assistant" && o.has("content") && o.fields["content"][0] == '[':
		items = o.responsesOutputMessage()
	case e.role == "assistant":
		items = []Item{{Kind: Text, Texts: []string{o.full("content")}}}
		o.only("role", "content", "phase")
	case e.role == "user":
		o.only("role", "content", "status")
		items = o.responsesContent("content", "input_text", "input_image", "input_file", "input_audio")
	default:
		o.only("role", "content", "status")
		items = o.responsesContent("content", "input_text")
	}
	e.blocks = []Block{r.block(e.role, raw, items...)}
	return e
}

func (o object) responsesOutputMessage() []Item {
	o.full("id")
	o.one("status", RuleValue, statuses()...)
	o.one("type", RuleValue, "message")
	return o.responsesContent("content", "output_text", "refusal")
}

func statuses() []string { return []string{"in_progress", "completed", "incomplete"} }

func responsesCall(r *reader, raw []byte) entry {
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	id := o.matched("call_id", RuleID, responsesID)
	call := Item{Kind: Call, ID: id, Name: o.matched("name", RuleName, openAIName), Texts: []string{o.jsonText("arguments")}}
	return entry{role: "function_call", bare: true, calls: []string{id}, blocks: []Block{r.block("function_call", raw, call)}}
}

func responsesID(s string) bool { return len(s) >= 1 && len(s) <= 64 }

// clientCalls are the keys of calls that the caller answers, beside those of functions: the required ones.
func clientCalls() map[string][]string {
	return map[string][]string{
		"custom_tool_call": {"call_id", "name", "input"},
		"computer_call":    {"id", "call_id", "pending_safety_checks", "status"},
		"local_shell_call": {"id", "call_id", "action", "status"},
		"shell_call":       {"call_id", "action"},
		"apply_patch_call": {"call_id", "operation", "status"},
	}
}

// clientOutputs are the keys of their answers.
func clientOutputs() map[string][]string {
	return map[string][]string{
		"computer_call_output":    {"call_id", "output"},
		"local_shell_call_output": {"id", "output"},
		"shell_call_output":       {"call_id", "output"},
		"apply_patch_call_output": {"call_id", "status"},
	}
}

func responsesAction(r *reader, raw []byte, kind string) entry {
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	o.requireAll(clientCalls()[kind])
	id := o.matched("call_id", RuleID, responsesID)
	call := Item{Kind: Call, ID: id, Name: strings.TrimSuffix(kind, "_call")}
	if kind == "custom_tool_call" {
		input, _ := o.text("input")
		call.Name, call.Texts = o.matched("name", RuleName, openAIName), []string{input}
	}
	return entry{role: kind, bare: true, calls: []string{id}, blocks: []Block{r.block(kind, raw, call)}}
}

func responsesOutcome(r *reader, raw []byte, kind string) entry {
	o, ok := r.object(raw, "", "type", "id", "call_id", "output", "status", "acknowledged_safety_checks", "max_output_length", "caller", "name", "namespace")
	if !ok {
		return entry{}
	}
	required := clientOutputs()[kind]
	o.requireAll(required)
	result := Item{Kind: Result, ID: o.matched(required[0], RuleID, responsesID)}
	switch kind {
	case "computer_call_output":
		if shot, ok := r.object(o.fields["output"], ".output", "type", "image_url", "file_id"); ok {
			shot.one("type", RuleValue, "computer_screenshot")
			shot.any("image_url", "file_id")
		}
		result.Media = 1
	case "shell_call_output":
		if pieces, ok := splitArray(o.fields["output"]); !ok || len(pieces) == 0 {
			r.fault(".output", RuleType)
		}
	default:
		text := o.optional("output")
		result.Texts = []string{text}
	}
	if kind == "apply_patch_call_output" {
		o.one("status", RuleValue, "completed", "failed")
	}
	return entry{role: kind, blocks: []Block{r.block(kind, raw, result)}}
}

// requireAll faults the keys that are missing.
func (o object) requireAll(keys []string) {
	for _, key := range keys {
		if !o.has(key) {
			o.r.fault(o.path(key), RuleMissing)
		}
	}
}

func responsesOutput(r *reader, raw []byte, kind string) entry {
	o, ok := r.object(raw, "", "type", "call_id", "output", "id", "status", "caller", "name", "namespace")
	if !ok {
		return entry{}
	}
	result := Item{Kind: Result, ID: o.matched("call_id", RuleID, responsesID)}
	if out := o.fields["output"]; len(out) > 0 && out[0] == '"' {
		text, _ := o.text("output")
		result.Texts = []string{text}
	} else {
		result.hold(o.responsesContent("output", "input_text", "input_image", "input_file"))
	}
	return entry{role: kind, blocks: []Block{r.block(kind, raw, result)}}
}

// responsesReasoning reads a ResponseReasoningItemParam, whose encrypted form is bound to its id.
func responsesReasoning(r *reader, raw []byte) entry {
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	o.full("id")
	if string(o.fields["encrypted_content"]) != "null" {
		o.optional("encrypted_content")
	}
	if o.has("status") {
		o.one("status", RuleValue, statuses()...)
	}
	item := Item{Kind: Reasoning, Texts: o.reasoningTexts("summary", "summary_text")}
	if o.has("content") {
		item.Texts = append(item.Texts, o.reasoningTexts("content", "reasoning_text")...)
	}
	return entry{role: "reasoning", bare: true, blocks: []Block{r.block("reasoning", raw, item)}}
}

// reasoningTexts reads a required list of texts of one type, which may be empty.
func (o object) reasoningTexts(key, kind string) (texts []string) {
	if !o.has(key) {
		o.r.fault(o.path(key), RuleMissing)
		return nil
	}
	raws, ok := splitArray(o.fields[key])
	if !ok {
		o.r.fault(o.path(key), RuleType)
	}
	for i, raw := range raws {
		if p, ok := o.r.written(raw, at(o.path(key), i)); ok {
			p.one("type", RuleValue, kind)
			text, _ := p.text("text")
			texts = append(texts, text)
		}
	}
	return texts
}

// responsesContent reads a text or a list of parts of these types.
func (o object) responsesContent(key string, types ...string) []Item {
	if raw := o.fields[key]; len(raw) > 0 && raw[0] == '"' {
		return []Item{{Kind: Text, Texts: []string{o.full(key)}}}
	}
	var items []Item
	for i, raw := range o.list(key) {
		if p, ok := o.r.written(raw, at(o.path(key), i)); ok {
			items = append(items, p.responsesPart(p.one("type", RuleValue, types...)))
		}
	}
	return items
}

func (o object) responsesPart(kind string) Item {
	switch kind {
	case "input_text":
		o.only("text")
		return Item{Kind: Text, Texts: []string{o.full("text")}}
	case "output_text":
		o.without("refusal", "detail", "image_url")
		if _, ok := splitArray(o.fields["annotations"]); !o.has("annotations") {
			o.r.fault(o.path("annotations"), RuleMissing)
		} else if !ok {
			o.r.fault(o.path("annotations"), RuleType)
		}
		return Item{Kind: Text, Texts: []string{o.full("text")}}
	case "refusal":
		o.without("text", "detail", "image_url")
		return Item{Kind: Text, Texts: []string{o.full("refusal")}}
	case "input_image":
		o.only("image_url", "file_id", "detail")
		o.any("image_url", "file_id")
		o.one("detail", RuleValue, "auto", "low", "high", "original")
		if o.has("image_url") {
			o.matched("image_url", RuleValue, dataURI)
		}
	case "input_file":
		o.only("file_data", "file_id", "file_url", "filename")
		o.any("file_data", "file_id", "file_url")
	case "input_audio":
		o.only("input_audio")
	}
	return Item{Kind: Media, Media: 1}
}

// only faults the keys, beside type, that are not among these.
func (o object) only(keys ...string) {
	for key := range o.fields {
		if key != "type" && !slices.Contains(keys, key) {
			o.r.fault(o.at, RuleUnknownKey)
		}
	}
}

// without faults the keys of other types of parts.
func (o object) without(keys ...string) {
	if slices.ContainsFunc(keys, o.has) {
		o.r.fault(o.at, RuleUnknownKey)
	}
}

// any faults an object that has none of the keys.
func (o object) any(keys ...string) {
	if !slices.ContainsFunc(keys, o.has) {
		o.r.fault(o.at, RuleMissing)
	}
}

// responsesOrder: one output per call after it, one call per output, and no
// reasoning that nothing of the model's follows.
func responsesOrder(r *reader, entries []*entry) {
	open, used := []string{}, map[string]bool{}
	for i, e := range entries {
		where := at("input", i)
		r.use(used, e.calls, where)
		open = r.answer(append(open, e.calls...), e, where)
		if e.role == "reasoning" && (i+1 == len(entries) || !entries[i+1].byModel()) {
			r.fault(where, RuleReasoning)
		}
	}
	r.closed(open, "input")
}

// byModel says whether the model wrote the item.
func (e *entry) byModel() bool { return e.bare || e.role == "assistant" }

package validate

import (
	"encoding/json"
	"regexp"
	"slices"
)

var (
	openAIName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString
	openAISpeaker = regexp.MustCompile(`^[^\s\p{Z}<|\\/>]{1,64}$`).MatchString
	dataURI       = regexp.MustCompile(`^(https?://|data:[a-z]+/[^;]+;base64,)`).MatchString
)

// OpenAI keeps system messages among the others.
func noSystem(r *reader, raw []byte) entry {
	r.fault("", RuleSystem)
	return entry{role: "system", blocks: []Block{r.block("system", raw, Item{Kind: Opaque, Texts: []string{string(raw)}})}}
}

// chatMessage reads a message of Chat Completions.
func chatMessage(r *reader, raw []byte) entry {
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	e := entry{role: o.one("role", RuleRole, "system", "developer", "user", "assistant", "tool")}
	if e.role != "assistant" { // which the provider wrote
		o.known("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio")
	}
	o.chatKeys(e.role)
	var items []Item
	switch e.role {
	case "assistant":
		items = o.chatAssistant(&e)
	case "tool":
		items = o.chatResult()
	case "user":
		items = o.chatContent("text", "image_url", "input_audio", "file")
	default:
		items = o.chatContent("text")
	}
	e.blocks, e.calls = []Block{r.block(e.role, raw, items...)}, callIDs(items)
	return e
}

// chatKeys faults the keys that belong to another role's messages.
func (o object) chatKeys(role string) {
	for key, owner := range map[string]string{"tool_calls": "assistant", "refusal": "assistant", "audio": "assistant", "tool_call_id": "tool"} {
		if o.has(key) && role != owner {
			o.r.fault(o.path(key), RuleUnknownKey)
		}
	}
	if o.has("name") { // a tool message may name its tool: developers.openai.com/cookbook/examples/how_to_call_functions_with_chat_models
		o.matched("name", RuleSpeaker, openAISpeaker)
	}
}

// chatAssistant reads a message that the provider wrote. Beside calls, servers write no text as well as null.
func (o object) chatAssistant(e *entry) []Item {
	var items []Item
	content := string(o.fields["content"])
	if content != "" && content != "null" && (content != `""` || !o.has("tool_calls")) {
		items = o.chatContent("text", "refusal", "thinking", "reference", "tool_reference")
	} else if !o.has("tool_calls") && !o.has("refusal") && !o.has("audio") {
		o.r.fault(o.path("content"), RuleMissing)
	}
	if o.has("refusal") {
		items = append(items, Item{Kind: Text, Texts: []string{o.full("refusal")}})
	}
	for _, key := range []string{"reasoning_content", "reasoning"} {
		if o.has(key) {
			thought, _ := o.text(key)
			items = append(items, Item{Kind: Reasoning, Texts: []string{thought}})
		}
	}
	if o.has("audio") {
		if audio, ok := o.r.object(o.fields["audio"], o.path("audio"), "id"); ok {
			audio.full("id")
		}
	}
	e.said = &chatSaid{fields: o.fields}
	if !o.has("tool_calls") {
		return items
	}
	for i, raw := range o.list("tool_calls") {
		if call, ok := o.r.chatCall(raw, at(o.path("tool_calls"), i)); ok {
			items = append(items, call)
			e.said.signed = append(e.said.signed, isSigned(raw))
		}
	}
	return items
}

func (r *reader) chatCall(raw []byte, where string) (Item, bool) {
	o, ok := r.written(raw, where)
	if !ok {
		return Item{}, false
	}
	id := o.matched("id", RuleID, func(s string) bool { return len(s) >= 1 && len(s) <= 40 })
	if kind := o.one("type", RuleValue, "function", "custom"); !o.has(kind) || o.has("function") && o.has("custom") {
		r.fault(where, RuleUnknownKey)
	} else if kind == "custom" {
		c, _ := r.written(o.fields[kind], o.path(kind))
		input, _ := c.text("input")
		return Item{Kind: Call, ID: id, Name: c.matched("name", RuleName, openAIName), Texts: []string{input}}, true
	}
	f, ok := r.written(o.fields["function"], o.path("function"))
	if !ok {
		return Item{}, false
	}
	return Item{Kind: Call, ID: id, Name: f.matched("name", RuleName, openAIName), Texts: []string{f.jsonText("arguments")}}, true
}

// jsonText returns a required string that must hold JSON.
func (o object) jsonText(key string) string {
	return o.matched(key, RuleArguments, func(s string) bool { return json.Valid([]byte(s)) })
}

// chatResult reads a tool message. Its content may be the empty text: a tool
// that says nothing has still answered.
func (o object) chatResult() []Item {
	item := Item{Kind: Result, ID: o.matched("tool_call_id", RuleID, func(s string) bool { return s != "" })}
	if raw := o.fields["content"]; len(raw) > 0 && raw[0] == '"' {
		text, _ := o.text("content")
		item.Texts = []string{text}
		return []Item{item}
	}
	for _, piece := range o.chatContent("text") {
		item.Texts = append(item.Texts, piece.Texts...)
	}
	return []Item{item}
}

// chatContent reads content that is a text or a list of parts of these types.
func (o object) chatContent(types ...string) []Item {
	if raw := o.fields["content"]; len(raw) > 0 && raw[0] == '"' {
		return []Item{{Kind: Text, Texts: []string{o.full("content")}}}
	}
	var items []Item
	for i, raw := range o.list("content") {
		p, ok := o.r.written(raw, at(o.path("content"), i))
		if !ok {
			continue
		}
		assistants := slices.Contains(types, "refusal")
		kind := p.one("type", RuleValue, types...)
		if assistants && kind != "text" && kind != "refusal" && slices.Contains(types, kind) { // Mistral's own
			items = append(items, Item{Kind: Opaque, Texts: []string{string(raw)}})
			continue
		}
		if len(p.fields) > 2 && !assistants || !p.has(kind) {
			o.r.fault(p.at, RuleUnknownKey)
			continue
		}
		items = append(items, p.chatPart(kind))
	}
	return items
}

func (o object) chatPart(kind string) Item {
	switch kind {
	case "text", "refusal":
		return Item{Kind: Text, Texts: []string{o.full(kind)}}
	case "image_url":
		if image, ok := o.r.object(o.fields[kind], o.path(kind), "url", "detail"); ok {
			image.matched("url", RuleValue, dataURI)
			image.detail()
		}
	case "input_audio":
		if audio, ok := o.r.object(o.fields[kind], o.path(kind), "data", "format"); ok {
			audio.full("data")
			audio.one("format", RuleValue, "wav", "mp3")
		}
	case "file":
		if file, ok := o.r.object(o.fields[kind], o.path(kind), "file_data", "file_id", "filename"); ok && !file.has("file_data") && !file.has("file_id") {
			o.r.fault(file.at, RuleMissing)
		}
	}
	return Item{Kind: Media, Media: 1}
}

func (o object) detail() {
	if o.has("detail") {
		o.one("detail", RuleValue, "auto", "low", "high")
	}
}

// chatOrder: every call is answered directly after its message, by messages
// that answer nothing else.
func chatOrder(r *reader, entries []*entry) {
	var open []string
	opener := 0
	for i, e := range entries {
		if e.role == "tool" {
			open = r.answer(open, e, at("messages", i))
			continue
		}
		r.closed(open, at("messages", opener))
		open, opener = slices.Clone(e.calls), i
		r.use(map[string]bool{}, e.calls, at("messages", i))
	}
	r.closed(open, at("messages", opener))
}

// answer takes the calls that an entry answers out of the open ones.
func (r *reader) answer(open []string, e *entry, where string) []string {
	for _, id := range e.results() {
		k := slices.Index(open, id)
		if k < 0 {
			r.fault(where, RuleUnasked)
			continue
		}
		open = slices.Delete(open, k, k+1)
	}
	return open
}

func (r *reader) closed(open []string, where string) {
	for range open {
		r.fault(where, RuleUnanswered)
	}
}

// use faults ids that were used before.
func (r *reader) use(used map[string]bool, ids []string, where string) {
	for _, id := range ids {
		if used[id] {
			r.fault(where, RuleIDUnique)
		}
		used[id] = true
	}
}

// callIDs are the ids of the calls among items.
func callIDs(items []Item) (ids []string) {
	for _, item := range items {
		if item.Kind == Call {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// results returns the ids of the calls that the entry answers.
func (e *entry) results() []string {
	var ids []string
	for _, b := range e.blocks {
		for _, item := range b.Items {
			if item.Kind == Result {
				ids = append(ids, item.ID)
			}
		}
	}
	return ids
}

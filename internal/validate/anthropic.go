package validate

import (
	"regexp"
	"slices"
	"strings"
)

var (
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`).MatchString
)

// anthropicSystem reads the system prompt: a text or a list of text blocks.
func anthropicSystem(r *reader, raw []byte) entry {
	e := entry{role: "system"}
	if raw[0] == '"' {
		text, _ := r.text(raw, "")
		r.spoken(text, "")
		e.blocks = []Block{r.block("system", raw, Item{Kind: Text, Texts: []string{text}})}
		return e
	}
	blocks, ok := splitArray(raw)
	if !ok || len(blocks) == 0 {
		r.fault("", RuleType)
	}
	for i, block := range blocks {
		e.blocks = append(e.blocks, r.anthropicBlock(block, at("", i), "system", "text"))
	}
	return e
}

// spoken faults text that says nothing: Anthropic refuses a text block without
// anything but white space.
func (r *reader) spoken(text, where string) {
	if strings.TrimSpace(text) == "" {
		r.fault(where, RuleEmpty)
	}
}

func anthropicMessage(r *reader, raw []byte) entry {
	o, ok := r.object(raw, "", "role", "content")
	if !ok {
		return entry{}
	}
	e := entry{role: o.one("role", RuleRole, "user", "assistant")}
	if content := o.fields["content"]; len(content) > 0 && content[0] == '"' {
		text, _ := o.text("content")
		r.spoken(text, ".content")
		e.blocks = []Block{r.block(e.role, content, Item{Kind: Text, Texts: []string{text}})}
		return e
	}
	types := []string{"text", "image", "document", "search_result", "tool_result"}
	if e.role == "assistant" {
		types = []string{
			"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
			"code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
			"mcp_tool_use", "mcp_tool_result", "tool_search_tool_result", "container_upload", "compaction",
		}
	}
	for i, block := range o.list("content") {
		e.blocks = append(e.blocks, r.anthropicBlock(block, at(".content", i), e.role, types...))
	}
	e.anthropicPlaces(r)
	return e
}

// anthropicPlaces: results lead a user message, thinking leads an assistant's.
func (e *entry) anthropicPlaces(r *reader) {
	leading := true
	for i, b := range e.blocks {
		kind := Opaque
		if len(b.Items) > 0 {
			kind = b.Items[0].Kind
		}
		if kind == Call {
			e.calls = append(e.calls, b.Items[0].ID)
		}
		switch {
		case kind == Reasoning && !leading:
			r.fault(at(".content", i), RuleThinking)
		case kind == Result && !leading:
			r.fault(at(".content", i), RulePlace)
		case kind != Reasoning && kind != Result:
			leading = false
		}
	}
}

func (r *reader) anthropicBlock(raw []byte, where, role string, types ...string) Block {
	kind := ""
	for _, m := range splitIfObject(raw) {
		if m.key == "type" {
			kind, _ = r.text(m.raw, where+".type")
		}
	}
	if !slices.Contains(types, kind) {
		r.fault(where, RuleValue)
		return r.block(role, raw)
	}
	return r.block(role, raw, r.anthropicItem(raw, where, kind))
}

func (r *reader) anthropicItem(raw []byte, where, kind string) Item {
	switch kind {
	case "text":
		o, _ := r.object(raw, where, "type", "text", "cache_control", "citations")
		text, _ := o.text("text")
		r.spoken(text, where)
		o.anthropicCitations()
		return Item{Kind: Text, Texts: []string{text}}
	case "image", "document":
		o, _ := r.object(raw, where, "type", "source", "cache_control", "title", "context", "citations")
		if text := o.anthropicSource(); text != "" {
			return Item{Kind: Text, Texts: []string{text}}
		}
		return Item{Kind: Media, Media: 1}
	case "search_result":
		o, _ := r.object(raw, where, "type", "source", "title", "content", "citations", "cache_control")
		item := Item{Kind: Text, Texts: []string{o.full("source"), o.full("title")}}
		for i, piece := range o.list("content") {
			item.hold(r.anthropicBlock(piece, at(o.path("content"), i), "", "text").Items)
		}
		return item
	case "thinking":
		o, _ := r.object(raw, where, "type", "thinking", "signature")
		text, _ := o.text("thinking")
		if o.optional("signature") == "" {
			r.fault(where, RuleSignature)
		}
		return Item{Kind: Reasoning, Texts: []string{text}}
	case "redacted_thinking":
		o, _ := r.object(raw, where, "type", "data")
		return Item{Kind: Reasoning, Texts: []string{o.full("data")}}
	case "tool_use":
		return r.anthropicCall(raw, where)
	case "tool_result":
		return r.anthropicResult(raw, where)
	default: // a block of Anthropic's own tools
		return Item{Kind: Opaque, Texts: []string{string(raw)}}
	}
}

// anthropicCitations faults what an answer says of a citation and a request must not: the id of its file.
func (o object) anthropicCitations() {
	if !o.has("citations") || string(o.fields["citations"]) == "null" { // the published type takes None
		return
	}
	for i, raw := range o.list("citations") {
		for _, m := range splitIfObject(raw) {
			if m.key == "file_id" {
				o.r.fault(at(o.path("citations"), i), RuleUnknownKey)
			}
		}
	}
}

// anthropicSource returns what a source says, if it is text.
func (o object) anthropicSource() (text string) {
	s, ok := o.r.object(o.fields["source"], o.path("source"), "type", "media_type", "data", "url", "file_id", "content")
	if !ok {
		return ""
	}
	kind := s.one("type", RuleValue, "base64", "url", "text", "file", "content")
	switch kind {
	case "base64", "text":
		s.full("media_type")
		if data := s.full("data"); kind == "text" {
			return data
		}
	case "url":
		s.only("url")
		s.full("url")
	case "file":
		s.only("file_id")
		s.full("file_id")
	case "content":
		s.only("content")
		return string(s.fields["content"])
	}
	return ""
}

func (r *reader) anthropicCall(raw []byte, where string) Item {
	o, _ := r.object(raw, where, "type", "id", "name", "input", "cache_control", "caller", "toolset_name")
	item := Item{Kind: Call, ID: o.matched("id", RuleID, anthropicID), Name: o.matched("name", RuleName, anthropicName)}
	input := o.fields["input"]
	if len(input) == 0 || input[0] != '{' {
		r.fault(o.path("input"), RuleArguments)
	}
	item.Texts = []string{string(input)}
	return item
}

func (r *reader) anthropicResult(raw []byte, where string) Item {
	o, _ := r.object(raw, where, "type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name")
	item := Item{Kind: Result, ID: o.matched("tool_use_id", RuleID, anthropicID)}
	content := o.fields["content"]
	switch {
	case len(content) > 0 && content[0] == '"':
		text, _ := o.text("content")
		item.Texts = []string{text}
	case len(content) > 0:
		for i, piece := range o.list("content") {
			item.hold(r.anthropicBlock(piece, at(o.path("content"), i), "", "text", "image", "document", "search_result", "tool_reference").Items)
		}
	}
	if o.truth("is_error") && item.Media == 0 && strings.Join(item.Texts, "") == "" {
		r.fault(where, RuleErrorText)
	}
	return item
}

// anthropicOrder: the user first and last, in turns, and every call answered
// in the very next message.
func anthropicOrder(r *reader, entries []*entry) {
	r.turns("messages", entries)
	used := map[string]bool{}
	var open []string
	for i, e := range entries {
		where := at("messages", i)
		r.use(used, e.calls, where)
		open = r.answer(open, e, where)
		r.closed(open, at("messages", i-1))
		open = slices.Clone(e.calls)
	}
	r.closed(open, "messages")
}

// turns: the user speaks first and last, and nobody twice in a row.
func (r *reader) turns(list string, entries []*entry) {
	for i, e := range entries {
		switch {
		case i == 0 && e.role != "user":
			r.fault(at(list, i), RuleFirst)
		case i > 0 && e.role == entries[i-1].role:
			r.fault(at(list, i), RuleAlternate)
		}
	}
	if n := len(entries); n > 0 && entries[n-1].role != "user" {
		r.fault(at(list, n-1), RuleLast)
	}
}

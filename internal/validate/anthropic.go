package validate

import (
	"encoding/json"
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
		r.object(block, at("", i), "type", "text", "cache_control", "citations") // no answer holds one with more
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
	o, ok := r.written(raw, "")
	if !ok {
		return entry{}
	}
	e := entry{role: o.one("role", RuleRole, "user", "assistant", "system")}
	known := []string{"role", "content"}
	if e.role == "system" {
		known = append(known, "clear_at", "output_config")
	}
	o.only(known...)
	if content := o.fields["content"]; len(content) > 0 && content[0] == '"' {
		text, _ := o.text("content")
		r.spoken(text, ".content")
		e.blocks = []Block{r.block(e.role, content, Item{Kind: Text, Texts: []string{text}})}
		return e
	}
	types := []string{"text", "image", "document", "search_result", "tool_result", "container_upload"}
	switch e.role {
	case "system":
		types = []string{"text", "tool_addition", "tool_removal"}
	case "assistant":
		types = []string{
			"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
			"code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
			"mcp_tool_use", "mcp_tool_result", "tool_search_tool_result", "container_upload", "compaction",
			"advisor_tool_result", "fallback", "mcp_tool_listing",
		}
	}
	for i, block := range o.list("content") {
		e.blocks = append(e.blocks, r.anthropicBlock(block, at(".content", i), e.role, types...))
		if e.role == "assistant" {
			e.own = append(e.own, r.ownCall(block, at(".content", i)))
		}
	}
	e.anthropicPlaces(r)
	return e
}

// ownCall is what a block has to do with calls of Anthropic's own tools.
type ownCall struct {
	asks, answers, caller string // ids
}

func (r *reader) ownCall(raw []byte, where string) (c ownCall) {
	var b struct {
		Type      string
		ToolUseID string `json:"tool_use_id"`
		ID, Input json.RawMessage
		Caller    json.RawMessage
	}
	var id string
	var caller struct {
		ToolID string `json:"tool_id"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return c
	}
	_, _ = json.Unmarshal(b.ID, &id), json.Unmarshal(b.Caller, &caller) // what is of another type is none
	switch {
	case b.Type == "tool_use":
		c.caller = caller.ToolID
	case strings.HasSuffix(b.Type, "_tool_use"):
		if c.asks, c.caller = id, caller.ToolID; id == "" {
			r.fault(where, RuleID)
		}
		if len(b.Input) > 0 && b.Input[0] != '{' {
			r.fault(where, RuleArguments)
		}
	case strings.HasSuffix(b.Type, "_tool_result"):
		if c.answers = b.ToolUseID; b.ToolUseID == "" {
			r.fault(where, RuleID)
		}
	}
	return c
}

// anthropicPlaces: results lead a user message, and thinking does not end an assistant's.
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
		case kind == Reasoning && i == len(e.blocks)-1:
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
		o, _ := r.written(raw, where)
		text, _ := o.text("text")
		r.spoken(text, where)
		o.anthropicCitations()
		return Item{Kind: Text, Texts: []string{text}}
	case "image", "document":
		o, _ := r.written(raw, where)
		if text := o.anthropicSource(); text != "" {
			return Item{Kind: Text, Texts: []string{text}}
		}
		return Item{Kind: Media, Media: 1}
	case "search_result":
		o, _ := r.written(raw, where)
		item := Item{Kind: Text, Texts: []string{o.full("source"), o.full("title")}}
		for i, piece := range o.list("content") {
			item.hold(r.anthropicBlock(piece, at(o.path("content"), i), "", "text").Items)
		}
		return item
	case "thinking":
		o, _ := r.written(raw, where)
		text, _ := o.text("thinking")
		if o.optional("signature") == "" {
			r.fault(where, RuleSignature)
		}
		return Item{Kind: Reasoning, Texts: []string{text}}
	case "redacted_thinking":
		o, _ := r.written(raw, where)
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
	s, ok := o.r.written(o.fields["source"], o.path("source"))
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
		s.without("media_type", "data", "file_id", "content")
		s.full("url")
	case "file":
		s.without("media_type", "data", "url", "content")
		s.full("file_id")
	case "content":
		s.without("media_type", "data", "url", "file_id")
		return string(s.fields["content"])
	}
	return ""
}

func (r *reader) anthropicCall(raw []byte, where string) Item {
	o, _ := r.written(raw, where)
	item := Item{Kind: Call, ID: o.matched("id", RuleID, anthropicID), Name: o.matched("name", RuleName, anthropicName)}
	input := o.fields["input"]
	if len(input) == 0 || input[0] != '{' {
		r.fault(o.path("input"), RuleArguments)
	}
	item.Texts = []string{string(input)}
	return item
}

func (r *reader) anthropicResult(raw []byte, where string) Item {
	o, _ := r.written(raw, where)
	item := Item{Kind: Result, ID: o.matched("tool_use_id", RuleID, anthropicID)}
	content := o.fields["content"]
	switch {
	case len(content) > 0 && content[0] == '"':
		text, _ := o.text("content")
		item.Texts = []string{text}
	case len(content) > 0:
		for i, piece := range o.list("content") {
			item.hold(r.anthropicBlock(piece, at(o.path("content"), i), "", "text", "image", "document", "search_result", "tool_reference", "browser_state").Items)
		}
	}
	if o.truth("is_error") && item.Media == 0 && strings.Join(item.Texts, "") == "" {
		r.fault(where, RuleErrorText)
	}
	return item
}

// anthropicOrder: the user first and last, in turns, and every call answered in the very next message. System messages stand between the
// user's and the model's turn, or at the end.
func anthropicOrder(r *reader, entries []*entry) {
	spoken, places := withoutSystem(r, entries)
	r.anthropicTurns(spoken, places)
	used := map[string]bool{}
	var open []string
	own := ownCalls{r: r, open: map[string]bool{}}
	for i, e := range spoken {
		where := at("messages", places[i])
		r.use(used, e.calls, where)
		open = r.answer(open, e, where)
		r.closed(open, at("messages", places[max(i-1, 0)]))
		open = slices.Clone(e.calls)
		own.read(e, where)
	}
	r.closed(open, "messages")
	if n := len(spoken); n > 0 && !spoken[n-1].waits() {
		own.close("messages")
	}
}

// takesSystem reports whether a model takes system messages among the others
// (platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, read 2026-11-26).
var takesSystem = regexp.MustCompile(`claude-(opus-(4-8|[5-9])|(fable|mythos)-[5-9]|(sonnet|haiku)-(5-5|[6-9]))`).MatchString

// withoutSystem faults system messages that stand where Anthropic takes none, and gives the others with their places.
func withoutSystem(r *reader, entries []*entry) (spoken []*entry, places []int) {
	for i, e := range entries {
		if e.role != "system" {
			spoken, places = append(spoken, e), append(places, i)
			continue
		}
		if strings.Contains(r.model, "claude-") && !takesSystem(r.model) {
			r.fault(at("messages", i), RuleRole)
		}
		follows := i > 0 && (entries[i-1].role == "user" || entries[i-1].role == "assistant" && entries[i-1].endsWithResult())
		if !follows || i+1 < len(entries) && entries[i+1].role != "assistant" {
			r.fault(at("messages", i), RuleSystem)
		}
	}
	return spoken, places
}

// ownCalls are calls of Anthropic's own tools that nothing has answered yet. They wait while the caller's tools answer, and no longer once
// somebody speaks.
type ownCalls struct {
	r    *reader
	open map[string]bool
}

func (o *ownCalls) read(e *entry, where string) {
	if e.role == "user" && !e.resultsOnly() {
		o.close(where)
	}
	made := map[string]bool{}
	for id := range o.open {
		made[id] = true
	}
	for _, c := range e.own {
		if c.caller != "" && !made[c.caller] {
			o.r.fault(where, RuleUnasked)
		}
		if c.asks != "" {
			if o.open[c.asks] {
				o.r.fault(where, RuleUnanswered)
			}
			o.open[c.asks], made[c.asks] = true, true
		}
		if c.answers != "" {
			if !o.open[c.answers] {
				o.r.fault(where, RuleUnasked)
			}
			delete(o.open, c.answers)
		}
	}
}

func (o *ownCalls) close(where string) {
	for range o.open {
		o.r.fault(where, RuleUnanswered)
	}
	clear(o.open)
}

func (e *entry) resultsOnly() bool {
	return !slices.ContainsFunc(e.blocks, func(b Block) bool { return len(b.Items) == 0 || b.Items[0].Kind != Result })
}

func (e *entry) endsWithResult() bool { return len(e.own) > 0 && e.own[len(e.own)-1].answers != "" }

// waits reports whether the model goes on behind the entry: its turn was paused at its own tools, or the caller's have answered.
func (e *entry) waits() bool {
	if e.role == "user" {
		return e.resultsOnly()
	}
	return slices.ContainsFunc(e.own, func(c ownCall) bool { return c.asks != "" || c.answers != "" })
}

// anthropicTurns: as turns, but for a turn that was paused, which may be last.
func (r *reader) anthropicTurns(entries []*entry, places []int) {
	for i, e := range entries {
		switch {
		case i == 0 && e.role != "user":
			r.fault(at("messages", places[i]), RuleFirst)
		case i > 0 && e.role == entries[i-1].role:
			r.fault(at("messages", places[i]), RuleAlternate)
		}
	}
	if n := len(entries); n > 0 && entries[n-1].role != "user" && !entries[n-1].waits() {
		r.fault(at("messages", places[n-1]), RuleLast)
	}
}

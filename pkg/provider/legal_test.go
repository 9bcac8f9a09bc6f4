package provider_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

var (
	legalID      = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	legalSpeaker = regexp.MustCompile(`^[^\s\p{Z}\p{Cc}<|\\/>]{1,64}$`)
	legalName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// checker is a small reading of the table of behaviour §11. It decodes what was rendered, records what is illegal, and
// collects the text that an independent count needs.
type checker struct {
	faults []string
	texts  []string
	flat   int // 4 per message, 6 per call
	ids    map[string]bool
}

func check(f conversation.Format, system, messages []byte) *checker {
	c := &checker{ids: map[string]bool{}}
	switch f {
	case conversation.FormatOpenAIChat:
		c.chat(messages)
	case conversation.FormatOpenAIResponses:
		c.responses(messages)
	case conversation.FormatAnthropic:
		c.anthropic(system, messages)
	case conversation.FormatGemini:
		c.gemini(system, messages)
	default:
		c.decode(messages, new([]map[string]any))
	}
	return c
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *checker) decode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		c.fault("not JSON: %v", err)
	}
}

func (c *checker) text(s string) {
	c.texts = append(c.texts, s)
}

func (c *checker) call(id, name, arguments string) {
	c.flat += 6
	c.text(name)
	c.text(arguments)
	if c.ids[id] || !legalID.MatchString(id) {
		c.fault("id %q", id)
	}
	c.ids[id] = true
	if !legalName.MatchString(name) {
		c.fault("name %q", name)
	}
	if !json.Valid([]byte(arguments)) {
		c.fault("arguments %q", arguments)
	}
}

func (c *checker) tokens(count func(string) int) int {
	n := c.flat
	for _, s := range c.texts {
		n += count(s)
	}
	return n
}

// content reads a string or a list of texts.
func (c *checker) content(raw json.RawMessage, empty bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		c.text(s)
		if s == "" && !empty {
			c.fault("empty text")
		}
		return
	}
	var list []struct{ Type, Text string }
	c.decode(raw, &list)
	if len(list) == 0 {
		c.fault("empty content")
	}
	for _, p := range list {
		c.text(p.Text)
		if strings.HasSuffix(p.Type, "text") && p.Text == "" {
			c.fault("empty text")
		}
	}
}

func (c *checker) chat(messages []byte) {
	var list []struct {
		Role       string
		Name       *string
		Content    json.RawMessage
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID, Type string
			Function struct{ Name, Arguments string }
			Custom   struct{ Name, Input string }
		} `json:"tool_calls"`
		Refusal, Reasoning string
		ReasoningContent   string `json:"reasoning_content"`
		Audio              any
	}
	c.decode(messages, &list)
	var open []string
	for _, m := range list {
		c.flat += 4
		if m.Name != nil {
			c.text(*m.Name)
			if !legalSpeaker.MatchString(*m.Name) {
				c.fault("speaker %q", *m.Name)
			}
		}
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.ToolCallID {
				c.fault("tool message for %q, open %q", m.ToolCallID, open)
				return
			}
			open = open[1:]
			c.content(m.Content, true)
			continue
		}
		if len(open) > 0 {
			c.fault("%s message while %q are open", m.Role, open)
		}
		c.text(m.Refusal)
		if string(m.Content) != "null" || len(m.ToolCalls) == 0 && m.Refusal == "" && m.Audio == nil {
			c.content(m.Content, len(m.ToolCalls) > 0)
		}
		c.text(m.ReasoningContent)
		c.text(m.Reasoning)
		for _, call := range m.ToolCalls {
			open = append(open, call.ID)
			if call.Type == "custom" {
				c.call(call.ID, call.Custom.Name, "{}")
				c.text(strings.TrimPrefix(call.Custom.Input, "{}"))
				continue
			}
			c.call(call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	if len(open) > 0 {
		c.fault("open at the end: %q", open)
	}
}

func (c *checker) responses(messages []byte) {
	var list []struct {
		Type, ID, Role, Name string
		Arguments            any
		Content, Output      json.RawMessage
		Summary              []struct{ Text string }
		CallID               string `json:"call_id"`
	}
	c.decode(messages, &list)
	open := map[string]bool{}
	for i, m := range list {
		switch m.Type {
		case "message":
			c.flat += 4
			c.content(m.Content, false)
			if (m.Content[0] == '"' || m.ID != "") != (m.Role == "assistant") {
				c.fault("content of the %s: %s", m.Role, m.Content)
			}
		case "function_call":
			arguments, _ := m.Arguments.(string)
			c.call(m.CallID, m.Name, arguments)
			open[m.CallID] = true
		case "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call":
			c.flat += 6
			open[m.CallID] = true
		case "function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
			c.flat += 4
			if strings.HasPrefix(m.Type, "function") || strings.HasPrefix(m.Type, "custom") {
				c.content(m.Output, true)
			}
			if m.Type == "local_shell_call_output" {
				m.CallID = m.ID
			}
			if !open[m.CallID] {
				c.fault("output for %q", m.CallID)
			}
			delete(open, m.CallID)
		case "reasoning":
			for _, s := range m.Summary {
				c.text(s.Text)
			}
			if m.ID == "" || m.Summary == nil {
				c.fault("reasoning %q with summary %v", m.ID, m.Summary)
			}
			if i+1 == len(list) || list[i+1].Type == "message" && list[i+1].Role != "assistant" || strings.HasSuffix(list[i+1].Type, "_output") {
				c.fault("reasoning without its item")
			}
		}
	}
	if len(open) > 0 {
		c.fault("open at the end: %v", open)
	}
}

// loose is a text; empty if something else is there.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*l = loose(s)
	}
	return nil
}

type claudeBlock struct {
	Type, Text, Name, Thinking, Signature string
	ID                                    loose
	Input, Content                        json.RawMessage
	ToolUseID                             string `json:"tool_use_id"`
	Caller                                struct {
		ToolID string `json:"tool_id"`
	}
}

func (c *checker) anthropic(system, messages []byte) {
	if system != nil {
		c.flat += 4
		c.content(system, false)
	}
	var list []struct {
		Role    string
		Content []claudeBlock
	}
	c.decode(messages, &list)
	var open []string
	before, own := "", map[string]bool{}
	for i, m := range list {
		c.flat += 4
		if m.Role == "system" {
			if before != "user" && !own["answered last"] || i+1 < len(list) && list[i+1].Role != "assistant" {
				c.fault("system message %d behind the %s's", i, before)
			}
			c.claudeBlocks(m.Content)
			continue
		}
		if m.Role == before || before == "" && m.Role != "user" {
			c.fault("message %d is the %s's", i, m.Role)
		}
		before = m.Role
		c.ownTools(own, m.Content, m.Role)
		for n, b := range m.Content {
			if b.Type == "tool_result" && (n >= len(open) || open[n] != b.ToolUseID) || b.Type != "tool_result" && n < len(open) {
				c.fault("block %d of message %d: %s %s, open %q", n, i, b.Type, b.ToolUseID, open)
			}
		}
		if len(m.Content) < len(open) {
			c.fault("open after the user: %q", open)
		}
		open = c.claudeBlocks(m.Content)
	}
	if before != "user" && !own["some"] {
		c.fault("the user is not last")
	}
	if before == "user" && !own["waits"] {
		c.ownTools(own, []claudeBlock{{Type: "text"}}, "user")
	}
}

// ownTools pairs calls of Anthropic's own tools: they wait over results of the caller's, and over nothing else.
func (c *checker) ownTools(own map[string]bool, blocks []claudeBlock, role string) {
	own["waits"], own["answered last"], own["some"] = true, false, false
	for _, b := range blocks {
		id, answer := "srv "+string(b.ID), "srv "+b.ToolUseID
		own["answered last"] = false
		switch {
		case role == "user" && b.Type != "tool_result":
			own["waits"] = false
		case b.Type == "tool_use" && b.Caller.ToolID != "" && !own["srv "+b.Caller.ToolID]:
			c.fault("called by %q", b.Caller.ToolID)
		case strings.HasSuffix(b.Type, "_tool_use") && own[id]:
			c.fault("%s asks again", id)
		case strings.HasSuffix(b.Type, "_tool_use"):
			own[id], own["some"] = true, true
		case strings.HasSuffix(b.Type, "_tool_result"):
			if !own[answer] {
				c.fault("%s was not asked", answer)
			}
			own[answer], own["answered last"], own["some"] = false, true, true
		}
	}
	for id, open := range own {
		if open && !own["waits"] && strings.HasPrefix(id, "srv ") {
			c.fault("%s has no answer", id)
		}
	}
}

func (c *checker) claudeBlocks(blocks []claudeBlock) (open []string) {
	for n, b := range blocks {
		switch b.Type {
		case "text":
			c.text(b.Text)
			if strings.TrimSpace(b.Text) == "" {
				c.fault("blank text")
			}
		case "tool_use":
			c.call(string(b.ID), b.Name, string(b.Input))
			c.decode(b.Input, new(map[string]any))
			open = append(open, string(b.ID))
		case "tool_result":
			if b.Content != nil {
				c.content(b.Content, false)
			}
		case "thinking", "redacted_thinking":
			c.text(b.Thinking)
			if n == len(blocks)-1 {
				c.fault("thinking at %d of %d", n, len(blocks))
			}
		}
	}
	return open
}

func (c *checker) gemini(system, messages []byte) {
	type part struct {
		Text             *string
		ThoughtSignature string
		Thought          bool
		FunctionCall     *struct {
			Name string
			Args json.RawMessage
		}
		FunctionResponse *struct {
			Name     string
			Response map[string]any
		}
	}
	var apart struct{ Parts []part }
	if system != nil {
		c.flat += 4
		c.decode(system, &apart)
	}
	var list []struct {
		Role  string
		Parts []part
	}
	c.decode(messages, &list)
	var open []string
	for i, m := range list {
		c.flat += 4
		if (m.Role == "user") != (i%2 == 0) {
			c.fault("content %d is the %s's", i, m.Role)
		}
		var answers, calls []string
		for _, p := range append(m.Parts, apart.Parts...) {
			switch {
			case p.Text != nil:
				c.text(*p.Text)
				if *p.Text == "" && p.ThoughtSignature == "" || p.Thought && p.ThoughtSignature == "" {
					c.fault("text %q, thought %v", *p.Text, p.Thought)
				}
			case p.FunctionCall != nil:
				c.ids = map[string]bool{} // names pair, not ids
				c.call("call_1", strings.NewReplacer(".", "_", ":", "_").Replace(p.FunctionCall.Name), string(p.FunctionCall.Args))
				c.decode(p.FunctionCall.Args, new(map[string]any))
				calls = append(calls, p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				for _, v := range p.FunctionResponse.Response {
					if s, ok := v.(string); ok && len(p.FunctionResponse.Response) == 1 {
						c.text(s)
					}
				}
				answers = append(answers, p.FunctionResponse.Name)
			}
		}
		apart.Parts = nil
		if strings.Join(answers, " ") != strings.Join(open, " ") {
			c.fault("answers %q for %q", answers, open)
		}
		open = calls
	}
	if len(list)%2 == 0 {
		c.fault("the user is not last")
	}
}

package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// listFormats are the formats in which frameworks keep lists.
var listFormats = []conversation.Format{
	conversation.FormatOpenAIChat, conversation.FormatOpenAIResponses, conversation.FormatAnthropic, conversation.FormatGemini,
}

// listBench is a bench that reads providers' JSON.
func listBench(change func(*engine.Options)) *bench {
	return newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Readers = []provider.Reader{openaichat.NewReader(), openairesponses.NewReader(), anthropic.NewReader(), gemini.NewReader()}
		o.CacheBytes = 1 << 24
		if change != nil {
			change(o)
		}
	})
}

// native returns a message as a provider's SDK would send it, as one element or several. Calls of Gemini have no ids.
func native(t tb, f conversation.Format, m conversation.Message) []string {
	t.Helper()
	switch f {
	case conversation.FormatOpenAIChat:
		return chatElements(m)
	case conversation.FormatOpenAIResponses:
		return responsesElements(m)
	case conversation.FormatAnthropic:
		return []string{anthropicElement(m)}
	default:
		return []string{geminiElement(m)}
	}
}

func marshal(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

type object = map[string]any

func chatElements(m conversation.Message) []string {
	said := object{"role": m.Role.String(), "content": nil}
	var calls []any
	var out []string
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			calls = append(calls, object{"id": p.Call.CallID, "type": "function", "function": object{"name": p.Call.Name, "arguments": p.Call.Arguments.Inline}})
		case p.Result != nil:
			out = append(out, marshal(object{"role": "tool", "tool_call_id": p.Result.CallID, "content": p.Result.Text.Inline}))
		default:
			said["content"] = p.Text.Inline
		}
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	if said["content"] != nil || calls != nil {
		out = append(out, marshal(said))
	}
	return out
}

func responsesElements(m conversation.Message) []string {
	var out []string
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			out = append(out, marshal(object{"type": "function_call", "call_id": p.Call.CallID, "name": p.Call.Name, "arguments": p.Call.Arguments.Inline}))
		case p.Result != nil:
			out = append(out, marshal(object{"type": "function_call_output", "call_id": p.Result.CallID, "output": p.Result.Text.Inline}))
		default:
			out = append(out, marshal(object{"role": m.Role.String(), "content": p.Text.Inline}))
		}
	}
	return out
}

func anthropicElement(m conversation.Message) string {
	role, blocks := "user", []any{}
	if m.Role == conversation.RoleAssistant {
		role = "assistant"
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			blocks = append(blocks, object{"type": "tool_use", "id": p.Call.CallID, "name": p.Call.Name, "input": json.RawMessage(p.Call.Arguments.Inline)})
		case p.Result != nil:
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": p.Result.CallID, "content": p.Result.Text.Inline})
		default:
			blocks = append(blocks, object{"type": "text", "text": p.Text.Inline})
		}
	}
	return marshal(object{"role": role, "content": blocks})
}

func geminiElement(m conversation.Message) string {
	role, parts := "user", []any{}
	if m.Role == conversation.RoleAssistant {
		role = "model"
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			parts = append(parts, object{"functionCall": object{"name": p.Call.Name, "args": json.RawMessage(p.Call.Arguments.Inline)}})
		case p.Result != nil:
			parts = append(parts, object{"functionResponse": object{"name": "search", "response": object{"result": p.Result.Text.Inline}}})
		default:
			parts = append(parts, object{"text": p.Text.Inline})
		}
	}
	return marshal(object{"role": role, "parts": parts})
}

// historyOf reads a list as the server's edge does.
func (b *bench) historyOf(t tb, f conversation.Format, list []string, known int, sum string) *engine.History {
	t.Helper()
	in, err := b.ReadInput(f, &engine.ReadRequest{JSON: "[" + strings.Join(list[known:], ",") + "]", Shape: engine.ShapeHistory, Tail: known > 0})
	if err != nil {
		t.Fatalf("the list is no JSON of the provider's: %v", err)
	}
	return &engine.History{Input: in, KnownCount: int32(known), KnownSHA256: sum}
}

// appendList appends a whole list.
func (b *bench) appendList(t tb, f conversation.Format, list []string) (*engine.AppendResult, error) {
	t.Helper()
	return b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: b.historyOf(t, f, list, 0, "")})
}

// visible are the messages of a conversation that no rewind took back.
func (b *bench) visible(t tb) []conversation.Message {
	t.Helper()
	r, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{End: -1}, Limit: 100_000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil {
		t.Fatalf("messages: %v", err)
	}
	var out []conversation.Message
	for i := range r.Messages {
		if !r.Messages[i].Hidden {
			out = append(out, r.Messages[i].Message)
		}
	}
	return out
}

// normal returns what counts of messages, a line each, however they are divided. In a turn, results are sorted by text and come before
// words.
func normal(messages []conversation.Message) string {
	var out, said, results []string
	flush := func() {
		slices.Sort(results)
		out, said, results = slices.Concat(out, results, said), nil, nil
	}
	assistant := false
	for i := range messages {
		m := &messages[i]
		if now := m.Role == conversation.RoleAssistant; now != assistant {
			flush()
			assistant = now
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case conversation.PartText:
				said = append(said, m.Role.String()+" "+p.Text.Inline)
			case conversation.PartToolCall:
				said = append(said, "call "+p.Call.Name+canonicalJSON(p.Call.Arguments.Inline))
			case conversation.PartToolResult:
				results = append(results, "result "+p.Result.Text.Inline)
			}
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// canonicalJSON is JSON in one of the ways in which it can be written.
func canonicalJSON(arguments string) string {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return arguments
	}
	return marshal(v)
}

// agrees requires that the record holds what happened.
func (b *bench) agrees(t tb, happened []conversation.Message) {
	t.Helper()
	if got, want := normal(b.visible(t)), normal(happened); got != want {
		t.Fatalf("on record:\n%s\nhappened:\n%s", abbreviated(got), abbreviated(want))
	}
}

func abbreviated(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		if len(lines[i]) > 70 {
			lines[i] = fmt.Sprintf("%s… %d bytes", lines[i][:40], len(lines[i]))
		}
	}
	return strings.Join(lines, "\n")
}

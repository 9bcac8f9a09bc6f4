package property

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// recorded is one message of a recorded conversation.
type recorded struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
	Name   string `json:"name"`
}

// TestEngine_Build_RecordingsWithSplitCalls appends recorded conversations as they are, and once more with one message for each
// call and each result: no call is unanswered and no result late that was not before, and every provider is sent the same bytes.
func TestEngine_Build_RecordingsWithSplitCalls(t *testing.T) {
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: no recordings to split")
	}
	conversations, split := 0, 0
	files, err := filepath.Glob(filepath.Join(root, "*", "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if name != "mini_swe_agent" && name != "pi_sessions" && !strings.HasPrefix(name, "tau2_") {
			continue
		}
		for _, whole := range recordings(t, file) {
			parts := apart(whole)
			conversations++
			if len(parts) > len(whole) {
				split++
				sameContexts(t, name, whole, parts)
			}
		}
	}
	if t.Logf("%d of %d conversations have parallel calls", split, conversations); split == 0 {
		t.Error("no conversation was split")
	}
}

func recordings(t *testing.T, path string) [][]conversation.Message {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out [][]conversation.Message
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r struct {
			Messages []recorded `json:"messages"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		var messages []conversation.Message
		for i := range r.Messages {
			messages = append(messages, r.Messages[i].message())
		}
		out = append(out, messages)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// plain is a JSON value as text: a string's own, and of others their JSON.
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (r *recorded) message() conversation.Message {
	roles := map[string]conversation.Role{
		"system": conversation.RoleSystem, "assistant": conversation.RoleAssistant, "tool": conversation.RoleTool,
	}
	m := conversation.Message{Role: roles[r.Role]}
	content := conversation.Content{Inline: plain(r.Content)}
	switch m.Role {
	case conversation.RoleTool:
		m.Parts = []conversation.Part{{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: r.CallID, Name: r.Name, Text: content}}}
		return m
	case conversation.RoleUnspecified:
		m.Role = conversation.RoleUser
	}
	if content.Inline != "" || len(r.Calls) == 0 {
		m.Parts = []conversation.Part{{Kind: conversation.PartText, Text: content}}
	}
	for _, c := range r.Calls {
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: c.ID, Name: c.Name, Arguments: conversation.Content{Inline: plain(c.Arguments)},
		}})
	}
	return m
}

// apart is a conversation with a message for each call and each result.
func apart(messages []conversation.Message) []conversation.Message {
	var out []conversation.Message
	for i := range messages {
		m := messages[i]
		rest := conversation.CloneParts(m.Parts)
		for len(rest) > 0 {
			end := 1 + slices.IndexFunc(rest, func(p conversation.Part) bool { return p.Call != nil || p.Result != nil })
			if end == 0 {
				end = len(rest)
			}
			m.Parts, rest = rest[:end:end], rest[end:]
			out = append(out, m)
		}
	}
	return out
}

// sameContexts appends both, and builds whenever the assistant is to speak, and in every format at the end.
func sameContexts(t *testing.T, name string, whole, parts []conversation.Message) {
	t.Helper()
	a, b := record(t, name, whole), record(t, name, parts)
	for f := range formats {
		one, other := roomyBuild(t, a, f), roomyBuild(t, b, f)
		if x, y := unpaired(one), unpaired(other); x != y {
			t.Errorf("%s, format %d: %d repairs of pairs, and %d where calls come one a message", name, f, x, y)
		}
		if f == conversation.FormatNeutral {
			continue
		}
		if !bytes.Equal(one.MessagesJSON, other.MessagesJSON) {
			t.Errorf("%s, format %d: other bytes where calls come one a message", name, f)
		}
		if faults, err := validate.Check(formats[f], other.System, other.MessagesJSON); err != nil || len(faults) > 0 {
			t.Errorf("%s, format %d: illegal: %v %v", name, f, faults, err)
		}
	}
}

// record appends messages one by one. What the assistant says is asked for by a build, but for what goes on with a turn.
func record(t *testing.T, name string, messages []conversation.Message) *engine.Engine {
	t.Helper()
	s := memory.New(memory.Options{})
	t.Cleanup(func() { _ = s.Close() })
	e := newEngine(s, 1<<24)
	for i := range messages {
		m := messages[i]
		if speaks := m.Role == conversation.RoleAssistant; speaks && i > 0 && messages[i-1].Role != m.Role && messages[i-1].Role != conversation.RoleSystem {
			roomyBuild(t, e, conversation.FormatOpenAIChat)
		}
		m.Parts = conversation.CloneParts(m.Parts)
		if _, err := e.Append(ctx, engine.AppendRequest{Key: key, Messages: []conversation.Message{m}}); err != nil {
			t.Fatalf("%s: message %d: %v", name, i, err)
		}
	}
	return e
}

func roomyBuild(t *testing.T, e *engine.Engine, f conversation.Format) *engine.BuildResult {
	t.Helper()
	budget, zero := roomy, int32(0)
	r, err := e.Build(ctx, engine.BuildRequest{
		Key: key, Format: f, Budget: engine.BudgetOverride{ContextWindow: &budget, ReservedOutput: &zero}, CloseOpenCalls: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func unpaired(r *engine.BuildResult) int {
	n := 0
	for _, d := range r.Decisions {
		if d.Reason == conversation.ReasonCallNeverAnswered || d.Reason == conversation.ReasonResultLate {
			n++
		}
	}
	return n
}

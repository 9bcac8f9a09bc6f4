package losses

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// recording is one recorded conversation, as it is appended.
type recording struct {
	ID       string `json:"id"`
	Messages []line `json:"messages"`
}

// line is one recorded message.
type line struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Calls   []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	CallID  string `json:"tool_call_id"`
	Name    string `json:"name"`
	IsError bool   `json:"is_error"`
}

// recordings reads a kind of conversations; without the data the test is skipped.
func recordings(t *testing.T, kind string) []recording {
	t.Helper()
	root := os.Getenv("PALIMPSEST_DATA")
	if root == "" {
		t.Skip("PALIMPSEST_DATA is not set: no recordings to lose anything of")
	}
	file, err := os.Open(filepath.Join(root, kind, "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []recording
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%s holds %d conversations: %v", kind, len(out), err)
	}
	return out
}

var roles = map[string]conversation.Role{
	"system": conversation.RoleSystem, "user": conversation.RoleUser, "assistant": conversation.RoleAssistant, "tool": conversation.RoleTool,
}

func (l *line) message() conversation.Message {
	m := conversation.Message{Role: roles[l.Role]}
	content := ""
	if l.Content != nil {
		content = *l.Content
	}
	if l.Role == "tool" {
		r := &conversation.ToolResult{CallID: l.CallID, Name: l.Name, State: conversation.ResultCompleted, Text: conversation.Content{Inline: content}}
		if l.IsError {
			r.State = conversation.ResultError
		}
		m.Parts = []conversation.Part{{Kind: conversation.PartToolResult, Result: r}}
		return m
	}
	if content != "" || len(l.Calls) == 0 {
		m.Parts = []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: content}}}
	}
	for _, c := range l.Calls {
		arguments := string(c.Arguments)
		var text string
		if strings.HasPrefix(arguments, `"`) && json.Unmarshal(c.Arguments, &text) == nil {
			arguments = text
		}
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: c.ID, Name: c.Name, Arguments: conversation.Content{Inline: arguments},
		}})
	}
	return m
}

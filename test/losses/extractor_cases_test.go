package losses

import (
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestExtract_KnownStretch_FindsWhatCounts holds the extractor itself to a stretch whose facts are known.
func TestExtract_KnownStretch_FindsWhatCounts(t *testing.T) {
	text := func(role conversation.Role, s string) told {
		return told{role: role, parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}}}
	}
	call := func(id, arguments string) told {
		return told{role: conversation.RoleAssistant, parts: []conversation.Part{{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
			CallID: id, Name: "read", Arguments: conversation.Content{Inline: arguments},
		}}}}
	}
	result := func(id, s string) told {
		return told{role: conversation.RoleTool, parts: []conversation.Part{{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
			CallID: id, Text: conversation.Content{Inline: s},
		}}}}
	}
	span := []told{
		text(conversation.RoleUser, "Look at pkg/a/b.go and order W2378156. You must never push! Thanks for 1/2 of it, e.g. and/or."),
		text(conversation.RoleAssistant, "I must look at pkg/a/b.go."),
		call("x", `{"path": "pkg/a/c.go"}`), result("x", "W2378156 4f3a9c1d"),
		call("x", `{"path": "cmd/main.go\nmore"}`),
		result("y", "4f3a9c1d and 4f3a9c1d, \\u2192 \\u2192 256-color, 256-color, x.a1b2c3, x.a1b2c3, b.go, b.go, https://example.com/pkg/a/c.go"),
	}
	var got []string
	for _, f := range extract(span) {
		got = append(got, f.kind+" "+f.text+" "+f.more)
	}
	want := []string{
		"open calls read cmd/main.go", "rules You must never push! ", "paths pkg/a/b.go ", "ids W2378156 ", "ids 4f3a9c1d ", "paths b.go ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

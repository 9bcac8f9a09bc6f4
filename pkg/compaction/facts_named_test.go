package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestMergeFacts_ByAgent_Stays: what the agent has named once stays its own, whoever names it again; records of before do not say.
func TestMergeFacts_ByAgent_Stays(t *testing.T) {
	unknown := []conversation.Fact{{Kind: conversation.FactPath, Text: "a/b.go", Count: 1}}
	named := factsOf(conversation.RoleAssistant, "see a/b.go")
	for name, known := range map[string][]conversation.Fact{"before": mergedFacts(named, unknown), "after": mergedFacts(unknown, named)} {
		if len(known) != 1 || !known[0].ByAgent || known[0].Count != 2 {
			t.Errorf("%s: %+v", name, known)
		}
	}
}

func TestFacts_ByAgent_IsWhoSaysIt(t *testing.T) {
	plugin := textPart("see p/q.go")
	plugin.Plugin = "p"
	for name, tt := range map[string]struct {
		unit conversation.Unit
		want bool
	}{
		"the agent's words": {unitOf(conversation.RoleAssistant, textPart("see p/q.go")), true},
		"its call": {unitOf(conversation.RoleAssistant, conversation.Part{
			Kind: conversation.PartToolCall, Call: &conversation.ToolCall{Ordinal: 1, Arguments: content(`{"path":"p/q.go"}`)},
		}), true},
		"its reasoning": {unitOf(conversation.RoleAssistant, conversation.Part{
			Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: content("see p/q.go")},
		}), true},
		"a plugin's words": {unitOf(conversation.RoleAssistant, plugin), false},
		"the user's words": {unitOf(conversation.RoleUser, textPart("see p/q.go")), false},
		"a tool's output": {unitOf(conversation.RoleTool, conversation.Part{
			Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: content("p/q.go")},
		}), false},
	} {
		known := compaction.Facts([]conversation.Unit{tt.unit})
		at := slices.IndexFunc(known, func(f conversation.Fact) bool { return f.Text == "p/q.go" })
		if at < 0 || known[at].ByAgent != tt.want {
			t.Errorf("%s: %+v", name, known)
		}
	}
}

func TestMergeFacts_AnyFacts_CountsWhatItDrops(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		draw := func(name string) (facts []conversation.Fact) {
			first, n := rapid.IntRange(0, 200).Draw(t, name), rapid.IntRange(0, 200).Draw(t, name+" length")
			for i := first; i < first+n; i++ {
				facts = append(facts, conversation.Fact{Kind: conversation.FactPath, Text: fmt.Sprintf("a/%d/%s.go", i, strings.Repeat("y", 150)), Count: 1})
			}
			return facts
		}
		older, newer := draw("older"), draw("newer")
		distinct := map[string]bool{}
		for _, f := range slices.Concat(older, newer) {
			distinct[f.Text] = true
		}
		if all, dropped := compaction.MergeFacts(older, newer); len(all)+dropped != len(distinct) {
			t.Fatalf("%d and %d dropped of %d", len(all), dropped, len(distinct))
		}
	})
}

package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func (b *bench) hits(t *testing.T, query string) (out []int32) {
	t.Helper()
	got, err := b.SearchMessages(ctx, engine.SearchMessagesRequest{Key: keyOf("c"), Query: query, Range: conversation.Range{End: -1}, Limit: 10, SnippetChars: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range got.Hits {
		out = append(out, h.Message.Index)
	}
	slices.Sort(out)
	return out
}

// TestEngine_SearchMessages_Recalling_FindsNotItself: a search finds neither its own call, nor earlier search calls, nor their
// answers.
func TestEngine_SearchMessages_Recalling_FindsNotItself(t *testing.T) {
	for _, tool := range []string{"search_conversation", "mcp__palimpsest__search_conversation", "remember"} {
		t.Run(tool, func(t *testing.T) {
			b := newBench(1 << 20)
			b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.RecallTools = &[]string{"remember"} })
			b.append(t, "c", user("What do we know of the weather?"), answer("It was fine."))
			for i := range 3 {
				id := fmt.Sprint(i)
				b.append(t, "c", toolCall(id, tool, `{"query":"quantum chromodynamics"}`))
				if got := b.hits(t, "quantum chromodynamics"); len(got) > 0 {
					t.Errorf("while call %d waits: %v", i, got)
				}
				b.append(t, "c", result(id, "[3 messages, best first]\n2 assistant: quantum chromodynamics"))
				if got := b.hits(t, "quantum chromodynamics"); len(got) > 0 {
					t.Errorf("after call %d: %v", i, got)
				}
			}
			answered, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), Call: conversation.ToolCall{
				CallID: "x", Name: "search_conversation", Arguments: conversation.Content{Inline: `{"query":"quantum chromodynamics"}`},
			}})
			if err != nil || !strings.HasPrefix(answered.Result.Text.Inline, "[No message answers this.") {
				t.Errorf("%+v %v", answered, err)
			}
			b.append(t, "c", user("Quantum chromodynamics is about quarks."))
			if got := b.hits(t, "quantum chromodynamics"); !slices.Equal(got, []int32{8}) {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestEngine_SearchMessages_AnotherToolsCall_IsFoundButByItsOwnQuestion: the other text of its message is found too.
func TestEngine_SearchMessages_AnotherToolsCall_IsFoundButByItsOwnQuestion(t *testing.T) {
	b := newBench(1 << 20)
	m := toolCall("1", "web_search", `{"query":"Zeppelin  landing","places":["lake"]}`)
	m.Parts = append([]conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "I ask the almanac."}}}, m.Parts...)
	b.append(t, "c", user("Hello."), m, result("1", "It came down in a field."))
	for query, want := range map[string][]int32{"zeppelin landing": nil, "lake": nil, "almanac": {1}, "zeppelin": {1}, "field": {2}} {
		if got := b.hits(t, query); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

// TestEngine_SearchMessages_RecallAcrossBlocks_IsNotFound: a block may begin with the answer to a call in the one before.
func TestEngine_SearchMessages_RecallAcrossBlocks_IsNotFound(t *testing.T) {
	b := newBench(1 << 20)
	for range 255 {
		b.append(t, "c", user("Hello."))
	}
	b.append(t, "c", toolCall("1", "search_conversation", `{"query":"zeppelin"}`))
	b.append(t, "c", result("1", "the zeppelin"))
	if got := b.hits(t, "zeppelin"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestEngine_SearchMessages_CitationHandedOn_IsFound: it is the tool's own answer, and no recall.
func TestEngine_SearchMessages_CitationHandedOn_IsFound(t *testing.T) {
	b := citingBench()
	kept, err := b.keep("c", "", "The zeppelin landed near the lake. "+prose(1, 9_000), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("x"), call("1"), result("1", kept.Cited.Text))
	if got := b.hits(t, "zeppelin"); !slices.Equal(got, []int32{2}) {
		t.Errorf("%v", got)
	}
}

// TestEngine_SearchMessages_RecallToolNamedLater_IsNotFound: what is ready to be searched follows the policy.
func TestEngine_SearchMessages_RecallToolNamedLater_IsNotFound(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("x"), toolCall("1", "remember", `{"what":"a zeppelin"}`), result("1", "a zeppelin landed"))
	if got := b.hits(t, "zeppelin"); !slices.Equal(got, []int32{1, 2}) {
		t.Fatalf("%v", got)
	}
	policy := conversation.Policy{Citations: conversation.CitationsPolicy{RecallTools: &[]string{"remember"}}}
	if _, err := b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) { i.Policy = policy; return i, nil }}); err != nil {
		t.Fatal(err)
	}
	if got := b.hits(t, "zeppelin"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

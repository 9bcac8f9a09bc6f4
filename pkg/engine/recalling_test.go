package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// toolCall is a call of a tool by its name.
func toolCall(id, tool, arguments string) conversation.Message {
	m := call(id)
	m.Parts[0].Call.Name, m.Parts[0].Call.Arguments.Inline = tool, arguments
	return m
}

// records are a JSON list whose citation is long.
func records(count int) string {
	list := make([]map[string]any, count)
	for i := range list {
		list[i] = map[string]any{"id": i, "name": "Record " + prose(uint64(i), 60), "description": prose(uint64(i)+100, 150), "status": "open", "owner": prose(9, 60)}
	}
	text, _ := json.Marshal(list)
	return string(text)
}

// recalledFrom is what a message's only result was recalled from.
func (b *bench) recalledFrom(t *testing.T, index int) *conversation.Recalled {
	t.Helper()
	return b.records(t, "c")[index].Parts[0].Result.Recalled
}

// TestEngine_Append_CitationComesBack_IsNotCited: an agent that stores a content passes its citation on as the tool's answer.
func TestEngine_Append_CitationComesBack_IsNotCited(t *testing.T) {
	for name, content := range map[string]string{"prose": prose(1, 9_000), "list": records(50), "page": "<html><body><p>" + prose(3, 9_000)} {
		for form, wrap := range map[string]func(*conversation.Message, string){
			"text": func(m *conversation.Message, text string) { m.Parts[0].Result.Text.Inline = text + "\n" },
			"JSON string": func(m *conversation.Message, text string) {
				quoted, _ := json.Marshal(text)
				m.Parts[0].Result.Text.Inline = string(quoted)
			},
		} {
			t.Run(name+" as "+form, func(t *testing.T) {
				b := citingBench()
				b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ThresholdChars = ptr(int32(200)) })
				kept, err := b.keep("c", "", content, nil)
				if err != nil {
					t.Fatal(err)
				}
				again := result("1", "")
				wrap(&again, kept.Cited.Text)
				if r := b.append(t, "c", user("x"), call("1"), again); len(r.Citations[2]) > 0 {
					t.Fatalf("cited again: %q", r.Citations[2][0].Text)
				}
				if got := b.recalledFrom(t, 2); got == nil || got.ContentID != kept.Cited.Citation.ContentID {
					t.Errorf("recalled from %+v", got)
				}
			})
		}
	}
}

// TestEngine_Append_CitationLikeText_IsCited: a text that only looks like a citation, or cites another conversation, is a result like
// others.
func TestEngine_Append_CitationLikeText_IsCited(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ThresholdChars = ptr(int32(200)) })
	here, err := b.keep("c", "", records(50), nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := b.keep("d", "", records(60), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("x"))
	own := here.Cited.Text
	for name, text := range map[string]string{
		"another conversation's": foreign.Cited.Text,
		"another length":         strings.Replace(own, " chars,", "1 chars,", 1),
		"without its last line":  own[:strings.LastIndexByte(own, '\n')] + strings.Repeat(" and so on", 100),
		"with more behind it":    own + "\n" + prose(5, 2_000),
		"far too long":           strings.Replace(own, "Beginning:\n", "Beginning:\n"+prose(6, 20_000), 1),
	} {
		if r := b.append(t, "c", call("1"), result("1", text)); len(r.Citations[1]) != 1 {
			t.Errorf("%s: not cited", name)
		}
	}
}

// TestEngine_Append_RecallToolsAnswer_IsNotCited: this holds with any prefix, and for tools that the policy names. The arguments name the
// source.
func TestEngine_Append_RecallToolsAnswer_IsNotCited(t *testing.T) {
	for _, tool := range []string{
		"mcp__palimpsest__%s", "palimpsest.%s", "palimpsest/%s", "palimpsest_%s", "mcp_Palimpsest_%s", "%s", "ctx-%s", "look_again",
	} {
		t.Run(tool, func(t *testing.T) {
			b := citingBench()
			b.cites(t, "c", func(p *conversation.CitationsPolicy) {
				p.RecallTools = &[]string{"ctx-retrieve_content", "ctx-expand_message", "ctx-search_conversation", "look_again"}
			})
			long := prose(4, 9_000)
			handle := b.append(t, "c", user("x"), call("0"), result("0", long)).Citations[2][0].Citation.ContentID
			for _, c := range []struct {
				tool, arguments string
				want            *conversation.Recalled
			}{
				{"retrieve_content", fmt.Sprintf(`{"content_id":%q}`, handle), &conversation.Recalled{ContentID: handle}},
				{"expand_message", `{"id":"2"}`, &conversation.Recalled{Index: 2}},
				{"expand_message", `{"id":"2000"}`, nil},
				{"retrieve_content", `{"content_id":"c1-aaaaaaaa"}`, nil},
				{"search_conversation", `{"query":"x"}`, nil},
			} {
				name := tool
				if strings.Contains(tool, "%s") {
					name = fmt.Sprintf(tool, c.tool)
				}
				// The call and the result come in one request (the call is in the request) or in two (the call is on record).
				first := b.append(t, "c", toolCall("1", name, c.arguments), result("1", long))
				b.append(t, "c", toolCall("2", name, c.arguments))
				second := b.append(t, "c", result("2", long))
				if len(first.Citations[1])+len(second.Citations[0]) > 0 {
					t.Fatalf("%s: its answer is cited", name)
				}
				last := len(b.records(t, "c")) - 1
				for _, index := range []int{last - 2, last} {
					if got := b.recalledFrom(t, index); fmt.Sprint(got) != fmt.Sprint(c.want) {
						t.Errorf("%s(%s): recalled from %+v, want %+v", name, c.arguments, got, c.want)
					}
				}
			}
		})
	}
}

// TestEngine_Append_OtherToolsAnswer_IsCited: this includes a tool whose arguments would name a message if it were a recall tool.
func TestEngine_Append_OtherToolsAnswer_IsCited(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	b.append(t, "c", user("x"))
	for _, tool := range []string{"retrieve_content_fast", "my_retrieve_content", "notpalimpsest__retrieve_content", "palimpsestretrieve_content", "palimpsest__read"} {
		for _, arguments := range []string{`{}`, `{"id":"0"}`} {
			if r := b.append(t, "c", toolCall("1", tool, arguments), result("1", prose(1, 9_000))); len(r.Citations[1]) != 1 {
				t.Errorf("%s(%s): not cited", tool, arguments)
			}
		}
	}
}

// TestEngine_Build_RecalledUnderPrefix_LeavesTheViewForItsSource: the placeholder names the source and not the result itself.
func TestEngine_Build_RecalledUnderPrefix_LeavesTheViewForItsSource(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	handle := b.append(t, "c", user("x"), call("0"), result("0", prose(4, 9_000))).Citations[2][0].Citation.ContentID
	again := result("1", prose(4, 9_000))
	again.Parts[0].Result.Expiration = &conversation.Expiration{Turns: ptr(int32(0)), Mode: conversation.ExpirationCompact}
	b.append(t, "c", toolCall("1", "mcp__palimpsest__retrieve_content", fmt.Sprintf(`{"content_id":%q}`, handle)), again, user("y"))
	for range 2 {
		if _, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c"), PolicyOverride: conversation.Policy{Rewrite: conversation.RewritePolicy{Mode: conversation.RewriteEager}}}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := b.Messages(ctx, engine.MessagesRequest{Key: keyOf("c"), Range: conversation.Range{First: 4, End: 5}, Current: true, Limit: 1, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Messages[0].Message.Parts[0].Result.Text.Inline; !strings.Contains(got, fmt.Sprintf("Full text: retrieve_content(%q)", handle)) {
		t.Errorf("%q", got[max(0, len(got)-200):])
	}
}

// TestEngine_AnswerToolCall_AnothersArguments_AreToldApart: the model learns which arguments the tool takes, instead of getting an answer
// to another question.
func TestEngine_AnswerToolCall_AnothersArguments_AreToldApart(t *testing.T) {
	b := citingBench()
	b.append(t, "c", user("the fee is waived"))
	ask := func(tool, arguments string) *conversation.ToolResult {
		out, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), Call: conversation.ToolCall{CallID: "x", Name: tool, Arguments: conversation.Content{Inline: arguments}}})
		if err != nil {
			t.Fatal(err)
		}
		return &out.Result
	}
	for _, c := range []struct{ tool, arguments, takes string }{
		{conversation.ToolExpand, `{"content_id":"c1-aaaaaaaa"}`, "expand_message takes id, start, end, unit; content_id is an argument of retrieve_content"},
		{conversation.ToolExpand, `{"id":0,"search_terms":["fee"]}`, "expand_message takes id, start, end, unit; search_terms"},
		{conversation.ToolRetrieve, `{"id":"0"}`, "retrieve_content takes content_id, search_terms, start, end, unit; id is an argument of expand_message"},
		{conversation.ToolRetrieve, `{"search_terms":["fee"],"query":"fee"}`, "query is an argument of search_conversation"},
		{conversation.ToolSearch, `{"search_terms":["fee"]}`, "search_conversation takes query; search_terms"},
		{"mcp__palimpsest__search_conversation", `{"id":0}`, "search_conversation takes query; id"},
	} {
		if got := ask(c.tool, c.arguments); got.State != conversation.ResultError || !strings.Contains(got.Text.Inline, c.takes) {
			t.Errorf("%s(%s): %q", c.tool, c.arguments, got.Text.Inline)
		}
	}
	for _, arguments := range []string{`{"query":"fee","id":null,"search_terms":[],"content_id":""}`, `{"query":"fee","why":"because"}`} {
		if got := ask("palimpsest.search_conversation", arguments); got.State != conversation.ResultCompleted || got.Name != "palimpsest.search_conversation" {
			t.Errorf("%s: %q", arguments, got.Text.Inline)
		}
	}
}

package prune_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// weighed returns how many tokens a text of so many has by chars4, to the token.
func weighed(tokens int) int32 {
	n, _ := chars4.New().Count(strings.Repeat("a", 4*tokens))
	return int32(n)
}

func said(tokens int) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Tokens: weighed(tokens)}
}

// found returns a result that does not name its tool; its call does.
func found(tokens int, ordinal int32) conversation.Part {
	return conversation.Part{
		Kind: conversation.PartToolResult, Tokens: weighed(tokens),
		Result: &conversation.ToolResult{State: conversation.ResultCompleted, Ordinal: ordinal},
	}
}

func calls(tools ...string) []conversation.Part {
	var out []conversation.Part
	for i, name := range tools {
		out = append(out, conversation.Part{
			Kind: conversation.PartToolCall, Call: &conversation.ToolCall{Name: name, Ordinal: int32(i + 1)},
		})
	}
	return out
}

// chat returns a record whose messages have the roles that the first part suggests.
func chat(messages ...[]conversation.Part) []conversation.Message {
	roles := map[conversation.PartKind]conversation.Role{
		conversation.PartText: conversation.RoleUser, conversation.PartToolCall: conversation.RoleAssistant, conversation.PartToolResult: conversation.RoleTool,
	}
	var out []conversation.Message
	for i, parts := range messages {
		out = append(out, conversation.Message{Index: int32(i), Role: roles[parts[0].Kind], Parts: parts})
	}
	return out
}

func parts(list ...conversation.Part) []conversation.Part { return list }

// seed is seed 001's policy over what a view shows of a record.
func seed(messages []conversation.Message, edits ...conversation.Edit) prune.Input {
	v := (&conversation.View{}).Fold(edits)
	return prune.Input{
		Units: v.Layout(messages, conversation.Window{Opening: -1, Request: -1}, conversation.Kept{}), View: v,
		Protect: conversation.DefaultProtectTokens, Minimum: conversation.DefaultMinimumTokens, MaxPart: conversation.DefaultMaxPartTokens,
		Tools: prune.DefaultTools(), Prefixes: prune.DefaultPrefixes(), Recall: &conversation.RecallTools{"again"},
		Placeholder: func(recall string) int64 {
			n, _ := chars4.New().Count(prune.Cleared(recall, false))
			return int64(n)
		},
	}
}

// planned writes targets down as message.part=weight.
func planned(in prune.Input) string {
	var out []string
	for _, t := range prune.Plan(in) {
		out = append(out, fmt.Sprintf("%d.%d=%d", t.Index, t.Part, t.Weight))
	}
	return strings.Join(out, " ")
}

// TestPlan_Figures checks the example figures of behaviour §7.
func TestPlan_Figures(t *testing.T) {
	one := calls("read")
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		want     string
	}{
		{"the part that crosses the line", chat(one, parts(found(30_000, 1)), parts(said(39_999))), ""},
		{"the part behind the line", chat(one, parts(found(30_000, 1)), parts(said(40_000))), "1.0=30000"},
		{"just too little", chat(one, parts(found(19_999, 1)), parts(said(40_000))), ""},
		{"just enough", chat(one, parts(found(20_000, 1)), parts(said(40_000))), "1.0=20000"},
		{"just enough together", chat(one, parts(found(10_001, 1)), one, parts(found(9_999, 1)), parts(said(40_000))), "1.0=10001 3.0=9999"},
		{"overshoot: a part is never split", chat(one, parts(found(30_000, 1)), one, parts(found(60_000, 1))), "1.0=30000"},
		{"overshoot: nothing else there", chat(one, parts(found(60_000, 1))), ""},
		{"what the user and the model say stays", chat(parts(said(30_000)), one, parts(said(30_000)), parts(said(40_000))), ""},
		{"in a message from last to first", chat(calls("a", "b", "c"), parts(found(20_000, 1), found(20_000, 2), found(40_000, 3))), "1.0=20000 1.1=20000"},
		{"no longer than its placeholder", chat(one, parts(found(16, 1)), one, parts(found(20_000, 1)), parts(said(40_000))), "3.0=20000"},
		{"longer than its placeholder", chat(one, parts(found(17, 1)), one, parts(found(20_000, 1)), parts(said(40_000))), "1.0=17 3.0=20000"},
		{"nothing", nil, ""},
	} {
		if got := planned(seed(tt.messages)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// of returns a result of an importance.
func of(importance conversation.Importance, p conversation.Part) conversation.Part {
	p.Result.Importance = importance
	return p
}

// TestPlan_Importance: results of low importance are cleared with the next batch wherever they are, those of high importance never are, and
// both count as newer parts.
func TestPlan_Importance(t *testing.T) {
	const low, normal, high = conversation.ImportanceLow, conversation.ImportanceNormal, conversation.ImportanceHigh
	one := calls("read")
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		want     string
	}{
		{"low, and new", chat(one, parts(of(low, found(20_000, 1))), parts(said(10))), "1.0=20000"},
		{"low, and too little alone", chat(one, parts(of(low, found(19_999, 1))), parts(said(10))), ""},
		{"low and old together", chat(one, parts(found(10_001, 1)), one, parts(of(low, found(9_999, 1))), parts(said(40_000))), "1.0=10001 3.0=9999"},
		{
			"low inside of what is protected, old outside", chat(one, parts(found(12_000, 1)), parts(said(32_000)), one, parts(of(low, found(8_000, 1)))),
			"1.0=12000 4.0=8000",
		},
		{"low, of a protected tool", chat(calls("skill"), parts(of(low, found(30_000, 1))), parts(said(10))), ""},
		{"high, and old", chat(one, parts(of(high, found(30_000, 1))), parts(said(40_000))), ""},
		{"high counts as newer", chat(one, parts(found(30_000, 1)), one, parts(of(high, found(40_000, 1)))), "1.0=30000"},
		{"normal", chat(one, parts(of(normal, found(30_000, 1))), parts(said(39_999))), ""},
	} {
		if got := planned(seed(tt.messages)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestPlan_LargePart_CountsItsMaximum: 60,000 tokens are 50,000, for protection and for the minimum.
func TestPlan_LargePart_CountsItsMaximum(t *testing.T) {
	protection := seed(chat(calls("a"), parts(found(30_000, 1)), parts(said(60_000))))
	minimum := seed(chat(calls("a"), parts(found(60_000, 1)), parts(said(40_000))))
	for _, tt := range []struct {
		in               prune.Input
		protect, atLeast int64
		want             string
	}{
		{protection, 50_000, 20_000, "1.0=30000"},
		{protection, 50_001, 20_000, ""},
		{minimum, 40_000, 50_000, "1.0=60000"},
		{minimum, 40_000, 50_001, ""},
	} {
		tt.in.Protect, tt.in.Minimum = tt.protect, tt.atLeast
		if got := planned(tt.in); got != tt.want {
			t.Errorf("protect %d, minimum %d: %q, want %q", tt.protect, tt.atLeast, got, tt.want)
		}
	}
}

// TestPlan_Tool_Protected: a tool is recognized by the result's name or by that of its call, as a whole or by its prefix.
func TestPlan_Tool_Protected(t *testing.T) {
	for _, tt := range []struct {
		call, result string
		protected    bool
	}{
		{"read", "", false}, {"", "", false}, {"skill", "", true}, {"skills", "", false}, {"Skill", "", false}, {"expand_message", "", true},
		{"retrieve_content", "", true}, {"search_conversation", "", true}, {"tool-x", "", true}, {"tool-", "", true}, {"tool", "", false},
		{"my-tool-x", "", false}, {"read", "skill", true}, {"skill", "read", false}, {"read", "tool-y", true},
		{"mcp__palimpsest__expand_message", "", true}, {"again", "", true}, {"my_expand_message", "", false},
	} {
		r := found(20_000, 2)
		r.Result.Name = tt.result
		got := planned(seed(chat(calls("skill", tt.call), parts(r), parts(said(40_000)))))
		if (got == "") != tt.protected {
			t.Errorf("call %q, result %q: %q", tt.call, tt.result, got)
		}
	}
	in := seed(chat(calls("skill"), parts(found(20_000, 1)), parts(said(40_000))))
	if in.Tools, in.Recall = nil, nil; planned(in) == "" {
		t.Error("a policy's own names replace the default's")
	}
}

// TestPlan_State: a result without a state counts as completed, as the API says.
func TestPlan_State(t *testing.T) {
	for state, pruned := range map[conversation.ResultState]bool{
		conversation.ResultUnspecified: true, conversation.ResultCompleted: true, conversation.ResultError: true, conversation.ResultError + 1: false,
	} {
		r := found(20_000, 1)
		r.Result.State = state
		if got := planned(seed(chat(calls("read"), parts(r), parts(said(40_000))))); (got != "") != pruned {
			t.Errorf("state %d: %q", state, got)
		}
	}
}

// edit shows a part of a message at a level, as so many tokens.
func edit(seq int64, index, part int32, level conversation.Level, shown conversation.Part) conversation.Edit {
	return conversation.Edit{
		Seq: seq, Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1},
		Parts: []conversation.PartEdit{{Part: part, Level: level, Shown: shown}},
	}
}

func expired(e conversation.Edit) conversation.Edit {
	e.Reason = conversation.ReasonExpiredSummary
	return e
}

// TestPlan_Level: what counts is what is shown of each part and not of the message, at the part's position in the original.
func TestPlan_Level(t *testing.T) {
	messages := chat(calls("a", "b"), parts(found(30_000, 1), found(30_000, 2)), parts(said(40_000)))
	mask := conversation.Edit{Seq: 1, Kind: conversation.EditMask, Range: conversation.Range{First: 1, End: 2}, Mask: []int32{0}}
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  string
	}{
		{"in full", nil, "1.0=30000 1.1=30000"},
		{"cited", []conversation.Edit{edit(1, 1, 0, conversation.Cited, found(400, 1))}, "1.0=400 1.1=30000"},
		{"shortened", []conversation.Edit{edit(1, 1, 1, conversation.Shortened, found(400, 2))}, "1.0=30000 1.1=400"},
		{"shortened by expiry to little", []conversation.Edit{expired(edit(1, 1, 1, conversation.Shortened, found(37, 2)))}, "1.0=30000"},
		{"shortened by expiry to 500 tokens, of which the placeholder leaves less", []conversation.Edit{expired(edit(1, 1, 1, conversation.Shortened, found(500, 2)))},
			"1.0=30000"},
		{"shortened by expiry to much", []conversation.Edit{expired(edit(1, 1, 1, conversation.Shortened, found(600, 2)))}, "1.0=30000 1.1=600"},
		{"cleared, with a long placeholder", []conversation.Edit{edit(1, 1, 1, conversation.Cleared, found(400, 2))}, "1.0=30000"},
		{"removed", []conversation.Edit{{Seq: 1, Kind: conversation.EditRemove, Range: conversation.Range{First: 0, End: 2}}}, ""},
		{"shortened so far that too little would go", []conversation.Edit{
			edit(1, 1, 0, conversation.Shortened, found(9_999, 1)), edit(2, 1, 1, conversation.Shortened, found(10_000, 2)),
		}, ""},
		{"dropped by a mask", []conversation.Edit{mask}, "1.1=30000"},
		{"dropped by a mask, the other cleared", []conversation.Edit{mask, edit(2, 1, 1, conversation.Cleared, found(30_000, 2))}, ""},
	} {
		if got := planned(seed(messages, tt.edits...)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestPlan_Kept_CountsAndStays: pinned and recently expanded units are shown, so they count, but nothing of them is cleared.
func TestPlan_Kept_CountsAndStays(t *testing.T) {
	in := seed(chat(calls("a"), parts(found(20_000, 1)), calls("a"), parts(found(40_000, 1))))
	in.Keep = func(first int32) bool { return first == 2 }
	if got := planned(in); got != "1.0=20000" {
		t.Errorf("the newest unit is kept: %q", got)
	}
	in.Keep = func(first int32) bool { return first == 0 }
	if got := planned(in); got != "" {
		t.Errorf("the unit that could be pruned is kept: %q", got)
	}
}

// TestPlan_Summaries_AreSkipped: they neither count as parts nor are they cleared.
func TestPlan_Summaries_AreSkipped(t *testing.T) {
	summary := conversation.Edit{
		Seq: 1, Kind: conversation.EditSummarize, Range: conversation.Range{First: 2, End: 3}, Summary: &conversation.Summary{ID: 1, Tokens: 40_000},
	}
	in := seed(chat(calls("a"), parts(found(20_000, 1)), parts(said(1)), parts(said(39_999))), summary)
	if len(in.Units) != 3 {
		t.Fatal("the view shows no summary")
	}
	if got := planned(in); got != "" {
		t.Errorf("the summary was counted: %q", got)
	}
}

// TestPlan_Order: units come in the view's order, in which pinned units and summaries are first.
func TestPlan_Order(t *testing.T) {
	in := seed(chat(calls("a"), parts(found(20_000, 1)), calls("a"), parts(found(20_000, 1)), parts(said(40_000))))
	slices.Reverse(in.Units)
	if got := planned(in); got != "1.0=20000 3.0=20000" {
		t.Errorf("got %q", got)
	}
}

func TestCleared_Words(t *testing.T) {
	if got := prune.Cleared("expand_message(12)", false); got != "[Old tool result content cleared. Full text: expand_message(12)]" {
		t.Error(got)
	}
	if got := prune.Cleared("expand_message(12)", true); got != "[Old tool result content cleared.]" {
		t.Error(got)
	}
}

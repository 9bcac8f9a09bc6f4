package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// assembled puts a view by place together as a caller does: its own elements where they are whole, and what is shown in place of the
// others.
func assembled(t tb, list []string, view []engine.ViewPiece) []string {
	t.Helper()
	var out []string
	seen := map[int32]bool{}
	for _, p := range view {
		switch whole := p.Kind == engine.PieceWhole; {
		case whole != (p.JSON == ""), (whole || p.Kind == engine.PieceChanged) != (len(p.Elements) > 0):
			t.Fatalf("a piece of kind %d has %d elements and %d bytes", p.Kind, len(p.Elements), len(p.JSON))
		case whole:
			for _, e := range p.Elements {
				if seen[e] {
					t.Fatalf("element %d stands twice", e)
				}
				seen[e] = true
				out = append(out, list[e])
			}
		default:
			var shown []json.RawMessage
			if err := json.Unmarshal([]byte(p.JSON), &shown); err != nil || len(shown) == 0 {
				t.Fatalf("a piece is no list: %v", err)
			}
			for _, s := range shown {
				out = append(out, string(s))
			}
		}
	}
	return out
}

// said returns what a list says, however it is divided.
func (b *bench) said(t tb, f conversation.Format, list []string) string {
	t.Helper()
	in, err := b.ReadInput(f, &engine.ReadRequest{JSON: "[" + strings.Join(list, ",") + "]", Shape: 1})
	if err != nil {
		t.Fatalf("the view is no JSON of the provider's: %v", err)
	}
	out := make([]conversation.Message, len(in.Messages))
	for i := range in.Messages {
		out[i] = in.Messages[i].Message
	}
	return normal(out)
}

// elementsOf are those of a JSON array.
func elementsOf(t tb, list []byte) []string {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(raw))
	for i := range raw {
		out[i] = string(raw[i])
	}
	return out
}

// placed requires that a view by place says what the build shows, and returns what is shown.
func (b *bench) placed(t tb, r *engine.StepResult, f conversation.Format, list []string) []byte {
	t.Helper()
	if r.MessagesJSON != nil || r.RequestJSON != nil {
		t.Fatal("the context comes along")
	}
	m, err := b.Manifest(ctx, engine.Key{Namespace: keyOf("c").Namespace, Conversation: r.Appended.History.Conversation}, r.Manifest.Seq, f)
	if err != nil {
		t.Fatal(err)
	}
	got, want := b.said(t, f, assembled(t, list, r.Appended.History.View)), b.said(t, f, elementsOf(t, m.MessagesJSON))
	if got != want {
		t.Fatalf("by place:\n%s\nthe view:\n%s\n%+v", abbreviated(got), abbreviated(want), r.Appended.History.View)
	}
	return m.MessagesJSON
}

// TestEngine_Recordings_ByPlace_WhatIsShownWholeIsTheCallersOwn sends recordings as they grow, in every format. If nothing is left out, the
// view is the list; with a small budget it is what the build shows.
func TestEngine_Recordings_ByPlace_WhatIsShownWholeIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	testlane.OneCaller(t)
	played := 0
	for i, r := range runs(t) {
		for n, f := range listFormats {
			if !testlane.Alone() && i%len(listFormats) != n {
				continue
			}
			if messages := r.messages(); playByPlace(t, f, messages, 10_000_000) {
				played++
				playByPlace(t, f, messages, 12_000)
			}
		}
	}
	if played == 0 {
		t.Error("nothing was played")
	}
}

func playByPlace(t *testing.T, f conversation.Format, messages []conversation.Message, budget int32) bool {
	t.Helper()
	b := listBench(nil)
	defer b.Close()
	var list []string
	known := &engine.HistoryResult{}
	for i, m := range messages {
		list = append(list, native(t, f, m)...)
		if m.Role == conversation.RoleAssistant || i+1 < len(messages) && messages[i+1].Role != conversation.RoleAssistant {
			continue // a model is not called here
		}
		step := engine.StepRequest{Build: buildRequest("c", f, budget)}
		step.Build.CloseOpenCalls = true
		step.Append.History = b.historyOf(t, f, list, int(known.KnownCount)*(i%2), known.KnownSHA256)
		if i%2 == 0 {
			step.Append.History.KnownSHA256 = ""
		}
		step.Append.History.ByPlace = true
		r, err := b.Step(ctx, step)
		if err != nil {
			return false // the record refuses it, or nothing fits
		}
		known = r.Appended.History
		b.placed(t, r, f, list)
		if view := known.View; budget > 1_000_000 && !isWholeList(view, list) {
			t.Errorf("%v: message %d: %d elements are %d pieces: %+v", f, i, len(list), len(view), view[len(view)-1])
			return false
		}
	}
	return true
}

// isWholeList reports whether a view by place is the list, except for what providers require.
func isWholeList(view []engine.ViewPiece, list []string) bool {
	var elements []int32
	for _, p := range view {
		if p.Kind != engine.PieceMadeUp {
			elements = append(elements, p.Elements...)
		}
	}
	if len(elements) != len(list) {
		return false
	}
	for i, e := range elements {
		if int(e) != i {
			return false
		}
	}
	return !slices.ContainsFunc(view, func(p engine.ViewPiece) bool { return p.Kind != engine.PieceWhole && p.Kind != engine.PieceMadeUp })
}

// inShort is a view by place in short.
func inShort(view []engine.ViewPiece) string {
	var out []string
	for _, p := range view {
		out = append(out, fmt.Sprintf("%d%v", p.Kind, p.Elements))
	}
	return strings.Join(out, " ")
}

func TestEngine_Step_ByPlace_SaysWhatEachPieceIs(t *testing.T) {
	t.Parallel()
	type more struct {
		key   string
		value any
	}
	chat := func(role, content string, with ...more) string {
		m := object{"role": role, "content": content}
		for _, w := range with {
			m[w.key] = w.value
		}
		return marshal(m)
	}
	calls := func(ids ...string) []any {
		var out []any
		for _, id := range ids {
			out = append(out, object{"id": id, "type": "function", "function": object{"name": "search", "arguments": `{"q":"a"}`}})
		}
		return out
	}
	long := strings.Repeat("a line of a long result.\n", 900)
	cited := conversation.Policy{Citations: conversation.CitationsPolicy{On: new(true)}}
	for name, c := range map[string]struct {
		list []string
		want string
	}{
		"whole":                {[]string{chat("system", "s"), chat("user", "a"), chat("assistant", "b"), chat("user", "c")}, "1[0 1 2 3]"},
		"the same words twice": {[]string{chat("user", "a"), chat("assistant", "b"), chat("user", "a"), chat("assistant", "b"), chat("user", "a")}, "1[0 1 2 3 4]"},
		"a result is cited": {
			[]string{chat("user", "a"), chat("assistant", "", more{"tool_calls", calls("x", "y")}), chat("tool", long, more{"tool_call_id", "x"}), chat("tool", "r", more{"tool_call_id", "y"})},
			"1[0 1] 2[2] 1[3]",
		},
		"ids come twice, all is whole": {
			[]string{
				chat("user", "a"), chat("assistant", "", more{"tool_calls", calls("x")}), chat("tool", "r", more{"tool_call_id", "x"}),
				chat("assistant", "", more{"tool_calls", calls("x")}), chat("tool", "s", more{"tool_call_id", "x"}),
			},
			"1[0 1 2 3 4]",
		},
		"ids come twice, a result is cited": {
			[]string{
				chat("user", "a"), chat("assistant", "", more{"tool_calls", calls("x")}), chat("tool", "r", more{"tool_call_id", "x"}),
				chat("assistant", "", more{"tool_calls", calls("x")}), chat("tool", long, more{"tool_call_id", "x"}),
			},
			"1[0 1 2] 2[3] 2[4]",
		},
		"results in another order than their calls": {
			[]string{
				chat("user", "a"), chat("assistant", "", more{"tool_calls", calls("x", "y")}), chat("tool", "r", more{"tool_call_id", "y"}), chat("tool", "s", more{"tool_call_id", "x"}),
				chat("assistant", "b"), chat("user", "c"),
			},
			"1[0 1 2 3 4 5]",
		},
		"a call was never answered": {
			[]string{chat("user", "a"), chat("assistant", "", more{"tool_calls", calls("x")}), chat("user", "c")}, "1[0 1] 4[] 1[2]",
		},
	} {
		b := listBench(nil)
		b.create(t, "c", "", cited)
		step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 100_000)}
		step.Build.CloseOpenCalls = true
		step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, c.list, 0, "")
		step.Append.History.ByPlace = true
		step.Build.Request = request("BuildContext", "1", "x")
		for range 2 { // the second is a retry
			r, err := b.Step(ctx, step)
			if err != nil || inShort(r.Appended.History.View) != c.want {
				t.Errorf("%s: %v, %s", name, err, inShort(r.Appended.History.View))
			}
		}
	}
}

// TestEngine_Step_ByPlace_CorrectedWordsAreChanged: the caller's old words are not shown again.
func TestEngine_Step_ByPlace_CorrectedWordsAreChanged(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	list := chatList("a", "b", "c")
	step := func() *engine.HistoryResult {
		r := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 100_000)}
		r.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, list, 0, "")
		r.Append.History.ByPlace = true
		out, err := b.Step(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return out.Appended.History
	}
	step()
	b.correct(t, "c", 1, 0, "better")
	h := step()
	if got := inShort(h.View); got != "1[0] 2[1] 1[2]" {
		t.Fatal(got)
	}
	if p := h.View[1]; !strings.Contains(p.JSON, "better") || !slices.Equal(p.Reasons, []conversation.Reason{conversation.ReasonCorrectionRequest}) {
		t.Errorf("%s, %v", p.JSON, p.Reasons)
	}
}

// TestEngine_Step_ByPlace_WhatTheListLacksIsRecorded: the view has a front that the list has lost, and the known prefix stays valid.
func TestEngine_Step_ByPlace_WhatTheListLacksIsRecorded(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	whole := chatList("a", "b", "c", "d", "e", "f", "g")
	step := func(list []string, known *engine.HistoryResult) string {
		r := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 100_000)}
		r.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, list, int(known.KnownCount), known.KnownSHA256)
		r.Append.History.ByPlace = true
		out, err := b.Step(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		*known = *out.Appended.History
		return inShort(known.View)
	}
	known := &engine.HistoryResult{}
	for _, c := range []struct {
		list []string
		want string
	}{{whole[:3], "1[0 1 2]"}, {whole[:5], "1[0 1 2 3 4]"}} {
		if got := step(c.list, known); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
	*known = engine.HistoryResult{}
	if got := step(whole[2:7], known); got != "5[] 1[0 1 2 3 4]" {
		t.Error(got)
	}
	if got := step(append(whole[2:7:7], chatList("", "h", "i")[1:]...), known); got != "5[] 1[0 1 2 3 4 5 6]" {
		t.Error(got)
	}
}

// TestEngine_Step_ByPlace_WhatFormatsPutThereIsTheCallersNotTwice: a late result is shown as text, and an element with a made-up result has
// the result only once.
func TestEngine_Step_ByPlace_WhatFormatsPutThereIsTheCallersNotTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format conversation.Format
		lists  [][]string
		want   string
	}{
		"a late result": {
			conversation.FormatOpenAIChat,
			[][]string{
				slices.Concat(chatList("a"), chatElements(call("x")), chatList("c")),
				slices.Concat(chatList("a"), chatElements(call("x")), chatList("c"), chatElements(result("x", "found")), chatList("d")),
			},
			"1[0 1] 4[] 1[2] 2[3] 1[4]",
		},
		"a result that was made up": {
			conversation.FormatAnthropic,
			[][]string{{
				anthropicElement(user("a")), anthropicElement(call("x")),
				anthropicElement(conversation.Message{Role: conversation.RoleUser, Parts: append(result("x", provider.UnansweredText).Parts, user("c").Parts...)}),
			}},
			"1[0 1] 4[] 2[2]",
		},
	} {
		b := listBench(nil)
		got := ""
		for _, list := range c.lists {
			r := engine.StepRequest{Build: buildRequest("c", c.format, 100_000)}
			r.Build.CloseOpenCalls = true
			r.Append.History = b.historyOf(t, c.format, list, 0, "")
			r.Append.History.ByPlace = true
			out, err := b.Step(ctx, r)
			if err != nil {
				t.Fatal(name, err)
			}
			got = inShort(out.Appended.History.View)
		}
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

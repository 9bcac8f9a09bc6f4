package engine_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Step_KnownPrefix_NeverLosesTheSystemPrompt: system messages that lead a list are fixed input of one build. A caller who leaves
// them out with a known prefix must send the prompt separately, or is asked for the whole list.
func TestEngine_Step_KnownPrefix_NeverLosesTheSystemPrompt(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	list := append([]string{marshal(object{"role": "system", "content": "rule one"})}, chatList("a", "b", "c", "d", "e")...)
	step := func(n int, known *engine.HistoryResult, prompt string) (*engine.StepResult, error) {
		r := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 1000)}
		r.Build.Complete.On, r.Build.Fixed.SystemPrompt = true, prompt
		r.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, list[:n], int(known.KnownCount), known.KnownSHA256)
		return b.Step(ctx, r)
	}
	r, err := step(2, &engine.HistoryResult{}, "")
	if err != nil || !strings.Contains(string(r.RequestJSON), "rule one") {
		t.Fatalf("%v, %s", err, r.RequestJSON)
	}
	known := r.Appended.History
	_, err = step(4, known, "")
	expect(t, err, conversation.HistoryPrefixUnknown)
	if r, err = step(4, known, "rule one"); err != nil || !strings.Contains(string(r.RequestJSON), "rule one") {
		t.Fatalf("%v, %s", err, r.RequestJSON)
	}
	_, err = step(6, &engine.HistoryResult{KnownCount: 6, KnownSHA256: strings.Repeat("0", 64)}, "rule one")
	if told := (*conversation.Error)(nil); !errors.As(err, &told) || !slices.Equal(told.Known, []int32{4, 2}) {
		t.Fatalf("the lists that are known: %v", err)
	}
	_, err = step(6, r.Appended.History, "") // and the next prefix lacks it too
	expect(t, err, conversation.HistoryPrefixUnknown)
	if r, err = step(6, &engine.HistoryResult{}, ""); err != nil || !strings.Contains(string(r.RequestJSON), "rule one") {
		t.Fatalf("%v, %s", err, r.RequestJSON)
	}
}

// TestEngine_AppendHistory_Rewind_BehindAPrefixOfNothing_IsRefused: a list behind a prefix that stands for no message must not replace the
// whole record.
func TestEngine_AppendHistory_Rewind_BehindAPrefixOfNothing_IsRefused(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	b.create(t, "c", "", conversation.Policy{})
	system := []string{marshal(object{"role": "system", "content": "rule one"})}
	known := b.sentList(t, system).History
	b.append(t, "c", user("a"), answer("b"))
	h := b.historyOf(t, conversation.FormatOpenAIChat, append(system, chatList("x")...), int(known.KnownCount), known.KnownSHA256)
	h.Divergence = engine.DivergenceRewind
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: h})
	expect(t, err, conversation.HistoryPrefixUnknown)
	b.agrees(t, []conversation.Message{user("a"), answer("b")})
}

// TestEngine_AppendHistory_View_ThatBeginsAsAnOlderList: a view begins with the same opening as the first list. It is still recognized as a
// view, and with REWIND it takes nothing back.
func TestEngine_AppendHistory_View_ThatBeginsAsAnOlderList(t *testing.T) {
	t.Parallel()
	for _, divergence := range []engine.OnDivergence{engine.DivergenceRefuse, engine.DivergenceRewind} {
		b := listBench(func(o *engine.Options) { o.Defaults = sliding() })
		list, happened := []string{`{"role":"user","content":"go"}`}, []conversation.Message{user("go")}
		b.sentList(t, list)
		for i := range 4 {
			r := b.asked(t, "c", 100, nil)
			list = list[:0]
			for _, element := range decoded(t, r.MessagesJSON) {
				list = append(list, string(element))
			}
			said := words(60 + i)
			list = append(list, chatList("", said, "more")[1:]...)
			happened = append(happened, answer(said), user("more"))
			h := b.historyOf(t, conversation.FormatOpenAIChat, list, 0, "")
			h.Divergence = divergence
			if _, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: h}); err != nil {
				t.Fatalf("step %d, %d elements: %v", i, len(list), err)
			}
			b.agrees(t, happened)
		}
		if len(list) >= len(happened) {
			t.Fatal("no view left anything out")
		}
	}
}

func decoded(t *testing.T, list []byte) (out []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(list, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEngine_AppendHistory_ResultOfACallLeftOut_AsksForTheWholeList: frameworks give calls ids of their own, which only the whole list can
// explain.
func TestEngine_AppendHistory_ResultOfACallLeftOut_AsksForTheWholeList(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	b.append(t, "c", user("a"), call("ours"))
	renamed := call("ours")
	renamed.Parts[0].Call.CallID = "theirs"
	list := append(chatList("a"), native(t, conversation.FormatOpenAIChat, renamed)...)
	known := b.sentList(t, list).History
	list = append(list, native(t, conversation.FormatOpenAIChat, result("theirs", "found"))...)
	_, err := b.tail(t, list, known)
	expect(t, err, conversation.HistoryPrefixUnknown)
	b.sentList(t, list)
	b.agrees(t, []conversation.Message{user("a"), call("ours"), result("ours", "found")})
}

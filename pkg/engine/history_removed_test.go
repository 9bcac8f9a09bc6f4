package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// hideStep builds with a list from which its caller removed messages on purpose.
func (b *bench) hideStep(t tb, f conversation.Format, list []string, budget int32) *engine.StepResult {
	t.Helper()
	r := engine.StepRequest{Build: buildRequest("c", f, budget)}
	r.Build.CloseOpenCalls = true
	r.Append.History = b.historyOf(t, f, list, 0, "")
	r.Append.History.Divergence, r.Append.History.Cut, r.Append.History.ByPlace = engine.DivergenceNew, engine.CutHide, true
	out, err := b.Step(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEngine_Step_Hide_WhatTheCallerRemovedIsShownNoMore(t *testing.T) {
	t.Parallel()
	whole := chatList("a", "b", "c", "d", "e", "f", "g")
	without := func(from, to int) []string { return slices.Concat(whole[:from], whole[to:]) }
	for name, c := range map[string]struct {
		list    []string
		removed string
		view    string
	}{
		"front":          {without(0, 2), "[{0 2}]", "1[0 1 2 3 4]"},
		"middle":         {without(2, 4), "[{2 4}]", "1[0 1 2 3 4]"},
		"two gaps":       {slices.Concat(whole[:1], whole[2:4], whole[5:]), "[{1 2} {4 5}]", "1[0 1 2 3 4]"},
		"all but newest": {whole[6:], "[{0 6}]", "1[0]"},
		"nothing":        {whole, "[]", "1[0 1 2 3 4 5 6]"},
		"front, and more is said": {
			append(without(0, 2), chatList("", "h", "i")[1:]...), "[{0 2}]", "1[0 1 2 3 4 5 6]",
		},
	} {
		b := listBench(nil)
		b.hideStep(t, conversation.FormatOpenAIChat, whole, 10_000)
		r := b.hideStep(t, conversation.FormatOpenAIChat, c.list, 10_000)
		h := r.Appended.History
		if got := fmt.Sprint(h.Removed); got != c.removed || inShort(h.View) != c.view || h.Conversation != "c" {
			t.Errorf("%s: removed %s, the view %s, in %s", name, got, inShort(h.View), h.Conversation)
		}
		again := b.hideStep(t, conversation.FormatOpenAIChat, c.list, 10_000).Appended.History
		if len(again.Removed) > 0 || inShort(again.View) != c.view {
			t.Errorf("%s, again: removed %v, the view %s", name, again.Removed, inShort(again.View))
		}
		back := b.hideStep(t, conversation.FormatOpenAIChat, whole, 10_000).Appended.History
		if name != "front, and more is said" && inShort(back.View) != "1[0 1 2 3 4 5 6]" {
			t.Errorf("%s, put back: the view %s", name, inShort(back.View))
		}
	}
}

func TestEngine_Step_Hide_LeavesEditsAlone(t *testing.T) {
	t.Parallel()
	whole := chatList("a", "b", "c", "d", "e")
	for name, c := range map[string]struct {
		list         []string
		conversation bool // another one
	}{
		"another beginning":   {chatList("x"), true},
		"a summary in front":  {append(chatList("sum of a and b"), whole[2:]...), true},
		"a later one edited":  {append(slices.Clone(whole[:2]), chatList("C")...), false},
		"the last was undone": {whole[:3], false},
	} {
		b := listBench(nil)
		b.hideStep(t, conversation.FormatOpenAIChat, whole, 10_000)
		h := b.hideStep(t, conversation.FormatOpenAIChat, c.list, 10_000).Appended.History
		if len(h.Removed) > 0 || (h.Conversation != "c") != c.conversation || len(h.View) != 1 || len(h.View[0].Elements) != len(c.list) {
			t.Errorf("%s: removed %v, in %s: %s", name, h.Removed, h.Conversation, inShort(h.View))
		}
	}
}

// TestEngine_Compact_Hide_NoSummaryTellsOfIt: messages that the caller removed are in no summary made after that.
func TestEngine_Compact_Hide_NoSummaryTellsOfIt(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	var words []string
	for i := range 41 {
		words = append(words, fmt.Sprintf("message %d about subject%d. %s", i, i, strings.Repeat("More words are said of it. ", 20)))
	}
	list := chatList(words...)
	b.hideStep(t, conversation.FormatOpenAIChat, list, 100_000)
	list = slices.Concat(list[:4], list[6:])
	b.hideStep(t, conversation.FormatOpenAIChat, list, 100_000)
	if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), Strategy: conversation.StrategySummarize, KeepRecent: ptr(int32(1))}); err != nil {
		t.Fatal(err)
	}
	r := b.hideStep(t, conversation.FormatOpenAIChat, list, 100_000)
	if view := fmt.Sprint(r.Appended.History.View); !strings.Contains(view, "subject3") || strings.Contains(view, "subject4.") || strings.Contains(view, "subject5.") {
		t.Error(view)
	}
}

// TestEngine_AnyRemovals_TheViewIsTheList: whatever is removed from a list and put back, the model is shown what the list says.
func TestEngine_AnyRemovals_TheViewIsTheList(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 60, func(t *rapid.T) {
		b := listBench(nil)
		defer b.Close()
		f := rapid.SampledFrom(listFormats).Draw(t, "format")
		var turns [][]string // each from a user's words to the reply
		turn := func() []string {
			n := len(turns)
			said := native(t, f, user(rapid.SampledFrom([]string{"yes", fmt.Sprint("ask ", n)}).Draw(t, "user")))
			if rapid.Bool().Draw(t, "calls") {
				id := fmt.Sprint("id", n)
				said = append(append(said, native(t, f, call(id))...), native(t, f, result(id, fmt.Sprint("found ", n)))...)
			}
			return append(said, native(t, f, answer(rapid.SampledFrom([]string{"done", fmt.Sprint("answer ", n)}).Draw(t, "answer")))...)
		}
		for range rapid.IntRange(2, 10).Draw(t, "steps") {
			kept := slices.Clone(turns)
			for len(kept) > 1 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, len(kept)-1).Draw(t, "which")
				kept = slices.Delete(kept, i, i+1)
			}
			if rapid.Bool().Draw(t, "for good") {
				turns = kept
			}
			list := append(slices.Concat(kept...), native(t, f, user(fmt.Sprint("now ", rapid.IntRange(0, 2).Draw(t, "now"))))...)
			r := b.hideStep(t, f, list, 100_000)
			got, want := b.said(t, f, assembled(t, list, r.Appended.History.View)), b.said(t, f, list)
			if got != want {
				t.Fatalf("the view:\n%s\nthe list:\n%s\n%s, removed %v", got, want, inShort(r.Appended.History.View), r.Appended.History.Removed)
			}
			turns = append(turns, turn())
		}
	})
}

package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func (b *bench) rewound(t testing.TB, id string, from int32) *engine.RewindResult {
	t.Helper()
	r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf(id), From: from})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEngine_Rewind_LateResult_CallWaitsAgain: placement ignores hidden messages, including late results, also in a copy of the
// conversation.
func TestEngine_Rewind_LateResult_CallWaitsAgain(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", call("k"), user("never mind"), result("k", "late"), user("and?"))
	b.rewound(t, "c", 2)
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c", "copy"} {
		b.append(t, id, result("k", "later"))
		if r := b.turn(t, id); slices.ContainsFunc(r.Decisions, func(d conversation.Decision) bool { return d.Reason == conversation.ReasonCallNeverAnswered }) {
			t.Errorf("%s: %+v", id, r.Decisions)
		}
	}
}

// TestEngine_Rewind_OfResults_CallsWaitAgain: this holds however long the record is, and whatever edits are read on the way.
func TestEngine_Rewind_OfResults_CallsWaitAgain(t *testing.T) {
	for _, before := range []int32{1, 60, 64, 65, 66, 130, 200} {
		b := newBench(0)
		for i := range before {
			b.append(t, "c", user(fmt.Sprint("question ", i)))
		}
		b.append(t, "c", user("wrong"))
		b.rewound(t, "c", before)
		b.append(t, "c", call("k", "l"), result("l", "one"), result("k", "two"))
		b.rewound(t, "c", before+2)
		if open := b.head(t, "c").Unanswered; len(open) != 2 {
			t.Errorf("behind %d messages, calls that wait: %+v", before, open)
		}
		if err := b.appends("c", result("k", "two again"), result("l", "one again"), user("and?")); err != nil {
			t.Errorf("behind %d messages: %v", before, err)
		}
	}
}

// TestEngine_Import_RewindAfterRewind: a rewind to the end of an earlier rewind goes back to the state that the earlier one left.
func TestEngine_Import_RewindAfterRewind(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", call("k"), user("never mind"), result("k", "late"))
	b.rewound(t, "c", 2)
	b.append(t, "c", user("wrong"))
	b.rewound(t, "c", 3)
	b.append(t, "c", result("k", "later"), user("and?"))
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	if r := b.turn(t, "copy"); len(r.Messages) != len(b.turn(t, "c").Messages) {
		t.Errorf("%d messages", len(r.Messages))
	}
}

// TestEngine_Rewind_OwnBudgetIsRemembered: a build with a smaller budget than before makes no summary, whatever was taken back in between.
func TestEngine_Rewind_OwnBudgetIsRemembered(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 20, 100, 16_000)
	b.rewound(t, "c", 0)
	b.append(t, "c", user("Read them again."))
	for _, r := range b.worked(t, "c", 100, 20, 100, 1_000) {
		if made := summarizedIn(r); len(made) > 0 {
			t.Fatalf("a summary was made: %+v", made)
		}
	}
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Error(err)
	}
}

// TestEngine_Build_NothingToSummarize_Hierarchy: if no message may be given to a summarizer, nothing is planned.
func TestEngine_Build_NothingToSummarize_Hierarchy(t *testing.T) {
	b := drafting(t, writes(gist, 0), conversation.StrategyHierarchical)
	b.append(t, "c", pinned(user("go")))
	for range 12 {
		b.append(t, "c", text(conversation.RoleSystem, words(100)))
	}
	b.append(t, "c", user("now"))
	b.turn(t, "c", within(1000), dry)
}

// TestEngine_Build_WhatLiesBeforeASummary_IsExplained: every message that is not shown has a reason.
func TestEngine_Build_WhatLiesBeforeASummary_IsExplained(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	for i := range 40 {
		b.append(t, "c", answer(words(100)+string(rune('a'+i))))
	}
	b.append(t, "c", user("And?"))
	r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
	if len(summarizedIn(r)) == 0 {
		t.Fatal("nothing was summarized")
	}
	reasons := make([]int, 42)
	for _, m := range r.Messages {
		if m.Index >= 0 {
			reasons[m.Index]++
		}
	}
	for _, d := range r.Decisions {
		if d.Kind == conversation.DecisionLeftOut || d.Kind == conversation.DecisionSummarized {
			for i := d.First; i <= d.Last; i++ {
				reasons[i]++
			}
		}
	}
	for i, n := range reasons {
		if n != 1 {
			t.Errorf("message %d is told of %d times: %+v", i, n, r.Decisions)
		}
	}
}

// TestEngine_Compact_GapBetweenSummaries: a summary replaces those directly before it, but none after which messages were left out.
func TestEngine_Compact_GapBetweenSummaries(t *testing.T) {
	for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
		b := summarizes(strategy)
		b.append(t, "c", user("go"))
		for range 30 {
			b.append(t, "c", answer(words(100)))
		}
		for i, r := range []conversation.Range{{First: 0, End: 3}, {First: 6, End: 8}, {First: 8, End: 10}} {
			b.edit(t, "c", conversation.Edit{Kind: conversation.EditSummarize, Range: r, Summary: &conversation.Summary{
				ID: int64(i + 1), Tokens: 1, Text: conversation.Content{Inline: "s"},
			}})
		}
		two, some := int32(2), int32(200)
		r, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: &two, TargetTokens: &some})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Summaries {
			if s.Range.First < 6 || slices.Contains(s.Children, 1) {
				t.Errorf("strategy %d: %+v takes up what messages 3-5 lie behind", strategy, s)
			}
		}
	}
}

// TestEngine_Compact_Sliding_OldAnchorLeaves: only the newest user message is shown before the window, if it lies there.
func TestEngine_Compact_Sliding_OldAnchorLeaves(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("first"))
	b.worked(t, "c", 0, 30, 100, 2_000)
	if r := b.asked(t, "c", 2_000, nil); r.Manifest.Window.Request != 0 {
		t.Fatalf("window %+v: nothing is tested", r.Manifest.Window)
	}
	b.append(t, "c", user("second"), answer("yes"), user("third"))
	none := int32(0)
	if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: &none}); err != nil {
		t.Fatal(err)
	}
	if r := b.asked(t, "c", 2_000, nil); r.Manifest.Window.Request >= 0 {
		t.Errorf("window %+v", r.Manifest.Window)
	}
}

// TestEngine_Rewind_LateResults_CallsWaitInTheirOrder: if results of several units are taken back, their calls wait in the order in which
// they were made.
func TestEngine_Rewind_LateResults_CallsWaitInTheirOrder(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	ids := []string{"k1", "k2", "k3"}
	for _, id := range ids {
		b.append(t, "c", call(id), user("never mind"))
	}
	for _, id := range ids {
		b.append(t, "c", result(id, "late"))
	}
	b.rewound(t, "c", 6)
	var waiting []string
	for _, c := range b.head(t, "c").Unanswered {
		waiting = append(waiting, c.CallID)
	}
	if !slices.Equal(waiting, ids) {
		t.Errorf("%q wait", waiting)
	}
}

// TestEngine_Compact_Sliding_RetrySaysWhatItSaved: a retry reports what moving the start saved.
func TestEngine_Compact_Sliding_RetrySaysWhatItSaved(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 30, 100, 8000)
	r := engine.CompactRequest{Key: keyOf("c"), Request: request("CompactConversation", "r1", "x"), KeepRecent: ptr(int32(4))}
	first, err := b.Compact(ctx, r)
	if err != nil || first.Saved <= 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := b.Compact(ctx, r)
	if err != nil || !again.Duplicate || again.Saved != first.Saved || again.Range != first.Range {
		t.Errorf("%+v, %v; first %+v", again, err, first)
	}
}

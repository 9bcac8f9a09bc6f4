package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// shows reports whether a context contains a text.
func shows(r *engine.BuildResult, s string) bool {
	return slices.ContainsFunc(seen(r), func(o string) bool { return strings.Contains(o, s) })
}

// calling is a call whose arguments weigh so much, and its result.
func calling(id string, tokens int) []conversation.Message {
	c := call(id)
	c.Parts[0].Call.Arguments = conversation.Content{Inline: `{"content":"` + words(tokens) + `"}`}
	return []conversation.Message{c, result(id, "ok")}
}

func asMessages(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral }

// TestEngine_Build_SummaryGivesWay: the weight of a summary is not fixed. If the newest unit's words and calls need its room, it is
// shortened, and then dropped. It can still be expanded.
func TestEngine_Build_SummaryGivesWay(t *testing.T) {
	for _, tt := range []struct {
		tokens int
		want   conversation.DecisionKind
	}{{3000, conversation.DecisionSummarized}, {3850, conversation.DecisionClipped}, {4000, conversation.DecisionLeftOut}} {
		b := summarizes(conversation.StrategySummarize)
		b.append(t, "c", user("Fix the bug."))
		b.worked(t, "c", 0, 45, 60, 4096)
		b.append(t, "c", user("Now write the file."))
		b.append(t, "c", calling("w", tt.tokens)...)
		r := b.asked(t, "c", 4096, asMessages)
		if r.Tokens.Total > 4096 || !shows(r, "Now write the file.") || r.Tokens.Total < int64(tt.tokens) {
			t.Errorf("%d: %d tokens, %.300q", tt.tokens, r.Tokens.Total, seen(r))
		}
		var kinds []conversation.DecisionKind
		for _, d := range r.Decisions {
			if d.Summary > 0 {
				kinds = append(kinds, d.Kind)
				if d.Kind != conversation.DecisionSummarized && d.Reason != conversation.ReasonOverBudgetShare && d.Reason != conversation.ReasonNoRoom {
					t.Errorf("%d: %+v", tt.tokens, d)
				}
				b.unfolded(t, "c", d.Summary)
			}
		}
		if !slices.Contains(kinds, tt.want) {
			t.Errorf("%d: summaries are explained by %v", tt.tokens, kinds)
		}
		for _, m := range r.Messages {
			if m.Shortened != (m.Summary > 0 && tt.want == conversation.DecisionClipped) {
				t.Errorf("%d: shortened %t, message %d, summary %d", tt.tokens, m.Shortened, m.Index, m.Summary)
			}
		}
		b.rebuildsAll(t, "c", int(r.Manifest.Seq))
	}
}

// TestEngine_Build_RequestBesideResults: the request in force comes before the results of the newest unit.
func TestEngine_Build_RequestBesideResults(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("Which of these is oldest?"))
	b.asked(t, "c", 1000, asMessages)
	var ids []string
	for i := range 8 {
		ids = append(ids, fmt.Sprint("k", i))
	}
	b.append(t, "c", call(ids...))
	for _, id := range ids {
		b.append(t, "c", result(id, words(134)))
	}
	r := b.asked(t, "c", 1000, asMessages)
	if !shows(r, "Which of these is oldest?") || r.Tokens.Total > 1000 || r.Tokens.Total < 900 {
		t.Errorf("%d tokens, %.200q", r.Tokens.Total, seen(r))
	}
	for _, e := range r.Events {
		if e.Reason != conversation.ReasonNewestUnitOverBudget {
			t.Errorf("event %+v", e)
		}
	}
}

// TestEngine_Build_RequestOverItsShare: if the budget is exceeded, a request that takes over half of it is shown by its head and tail. The
// cut stays as long as the window's start, other budgets do not see it, and an expansion undoes it.
func TestEngine_Build_RequestOverItsShare(t *testing.T) {
	b := newBench(1 << 20)
	request := strings.Repeat("begin ", 100) + words(1500) + strings.Repeat(" end", 100)
	b.append(t, "c", user(request), call("a"), result("a", words(900)))
	r := b.asked(t, "c", 2000, asMessages)
	d := decision(r, 0)
	if d == nil || d.Kind != conversation.DecisionClipped || d.Reason != conversation.ReasonOverBudgetShare || d.After > 1000 || d.After < 800 {
		t.Fatalf("%+v", r.Decisions)
	}
	shown, _ := message(r, 0)
	if !strings.HasPrefix(shown, "begin begin") || !strings.HasSuffix(shown, "end end") || !strings.Contains(shown, "Full text: expand_message(0)]") {
		t.Errorf("shown as %.80q ... %.80q", shown, shown[len(shown)-80:])
	}
	for _, m := range r.Messages {
		if m.Shortened != (m.Index == 0) {
			t.Errorf("message %d: shortened %t", m.Index, m.Shortened)
		}
	}
	b.append(t, "c", answer("so"))
	if again := b.asked(t, "c", 2000, asMessages); !shows(again, shown) || again.Prefix.BrokenBy != engine.BreakNone {
		t.Errorf("the cut does not stand: broken by %d", again.Prefix.BrokenBy)
	}
	if large := b.asked(t, "c", 8000, asMessages); !shows(large, request) {
		t.Error("another budget sees the cut")
	}
	b.rebuildsAll(t, "c", 3)
}

// TestEngine_Build_LeastOfARequest: at least 200 characters of a request are shown. If there is less room, the request is dropped, and a
// decision says so.
func TestEngine_Build_LeastOfARequest(t *testing.T) {
	for _, tt := range []struct {
		newest int
		want   conversation.DecisionKind
	}{{800, conversation.DecisionClipped}, {980, conversation.DecisionLeftOut}} {
		b := newBench(1 << 20)
		b.append(t, "c", user(strings.Repeat("please ", 300)), answer(words(tt.newest)))
		r := b.asked(t, "c", 1000, asMessages)
		d := decision(r, 0)
		if d == nil || d.Kind != tt.want || tt.want == conversation.DecisionLeftOut && d.Reason != conversation.ReasonNoRoom {
			t.Errorf("newest of %d: %+v", tt.newest, r.Decisions)
		}
		if s, ok := message(r, 0); ok != (tt.want == conversation.DecisionClipped) || ok && strings.Count(s, "please")*7 < 200 {
			t.Errorf("newest of %d: shown as %q", tt.newest, s)
		}
	}
}

// TestEngine_Build_LargerBudget_ShowsWhatASummaryStandsFor: a budget much larger than all before gets a new window. Messages covered by a
// summary of a smaller budget come back if there is room.
func TestEngine_Build_LargerBudget_ShowsWhatASummaryStandsFor(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Fix the bug."))
	b.worked(t, "c", 0, 30, 90, 2000)
	small := b.asked(t, "c", 2000, asMessages)
	if small.Compaction.Summary == 0 {
		t.Fatal("there is no summary")
	}
	large := b.asked(t, "c", 20_000, asMessages)
	for _, d := range large.Decisions {
		if d.Kind == conversation.DecisionLeftOut || d.Kind == conversation.DecisionSummarized {
			t.Errorf("%+v", d)
		}
	}
	for i := range 30 {
		if !shows(large, fmt.Sprintf("step %d of", i)) {
			t.Errorf("step %d is not shown", i)
		}
	}
	if again := b.asked(t, "c", 2000, asMessages); again.SHA256 != small.SHA256 {
		t.Error("the small window has changed")
	}
	b.rebuildsAll(t, "c", 33)
}

// TestEngine_Build_LargerBudget_WithoutRoomForAll shows as much as a cut would leave, no less than before, and the summary for the rest.
func TestEngine_Build_LargerBudget_WithoutRoomForAll(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Fix the bug."))
	b.worked(t, "c", 0, 60, 90, 2000)
	small := b.asked(t, "c", 2000, asMessages)
	large := b.asked(t, "c", 4000, asMessages)
	if large.Tokens.Total > 4000 || large.Tokens.Total <= small.Tokens.Total || large.Compaction.Summary != small.Compaction.Summary {
		t.Errorf("%d tokens, then %d, with summary %d", small.Tokens.Total, large.Tokens.Total, large.Compaction.Summary)
	}
	for i := range 60 {
		if s := fmt.Sprintf("step %d of the work: file /srv/data/part%d.csv was read. word", i, i); shows(small, s) && !shows(large, s) {
			t.Errorf("step %d is not shown any more", i)
		}
	}
	b.rebuildsAll(t, "c", 62)
}

// TestEngine_Build_LargerBudget_FromTheSameStart: a window that is opened anew, and starts where a smaller one does, shows the messages
// that were summarized since, as every new window does.
func TestEngine_Build_LargerBudget_FromTheSameStart(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Fix the bug."))
	small := b.worked(t, "c", 0, 30, 90, 1500)[29]
	for i := 30; i < 40; i++ {
		k := fmt.Sprint("k", i)
		b.append(t, "c", call(k), result(k, fmt.Sprintf("step %d of the work: %s", i, words(90))))
	}
	start := small.Manifest.Window.Start
	b.edit(t, "c", conversation.Edit{
		Kind: conversation.EditSummarize, Range: conversation.Range{First: start, End: start + 8},
		Summary: &conversation.Summary{ID: b.head(t, "c").EditSeq + 1, Tokens: 1, Text: conversation.Content{Inline: "s"}},
	})
	large := b.asked(t, "c", 3000, asMessages)
	if w := large.Manifest.Window; small.Compaction.Summary == 0 || w.Start != start || w.Afresh == 0 {
		t.Fatalf("%d tokens with %+v, after %+v", large.Tokens.Total, w, small.Manifest.Window)
	}
	for i := int(start) / 2; i < 40; i++ {
		if !shows(large, fmt.Sprintf("step %d of", i)) {
			t.Errorf("step %d is not shown", i)
		}
	}
	b.rebuildsAll(t, "c", 31)
}

// TestEngine_Build_NewBudget_ShowsTheRequest: the request in force, if a small window cut it, is shown in full in a larger one. The cut of
// an earlier request stays if there is no room for more of it.
func TestEngine_Build_NewBudget_ShowsTheRequest(t *testing.T) {
	const small = 1000
	for _, tt := range []struct {
		budget  int32
		steps   int  // taken since the request
		earlier bool // another request has come
		whole   bool
	}{{1100, 0, false, false}, {5000, 0, false, true}, {4000, 40, false, true}, {1100, 0, true, false}, {5000, 0, true, true}} {
		b := summarizes(conversation.StrategySlidingWindow)
		b.append(t, "c", user("Fix the bug."), user("The log: "+words(1000)+" the end."))
		b.worked(t, "c", 0, tt.steps, 60, small)
		b.append(t, "c", call("k"), result("k", words(500)))
		before := b.asked(t, "c", small, asMessages)
		if cut, ok := before.Manifest.Window.CutOf(1, 0); !ok || cut.Leaves() {
			t.Fatalf("the request is not cut: %+v", before.Manifest.Window)
		}
		if tt.earlier {
			b.append(t, "c", user("And now?"))
			before = b.asked(t, "c", small, asMessages)
		}
		r := b.asked(t, "c", tt.budget, asMessages)
		_, cut := r.Manifest.Window.CutOf(1, 0)
		if cut == tt.whole || !shows(r, "The log: ") || !shows(r, " the end.") || r.Tokens.Messages < before.Tokens.Messages {
			t.Errorf("%+v: %d tokens of messages after %d, window %+v", tt, r.Tokens.Messages, before.Tokens.Messages, r.Manifest.Window)
		}
	}
}

// TestEngine_Build_NewBudget_RequestIsCutBeforeTheTail: if a larger window has no room for the whole request in force either, it cuts the
// request to its share there, and keeps all of the tail that the smaller window shows.
func TestEngine_Build_NewBudget_RequestIsCutBeforeTheTail(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("Fix the bug."), user("The log: "+words(1000)+" the end."))
	var small *engine.BuildResult
	for range 20 {
		b.append(t, "c", answer(words(60)))
		small = b.asked(t, "c", 1000, asMessages)
		if _, cut := small.Manifest.Window.CutOf(1, 0); cut && small.Tokens.Total > 930 {
			break
		}
	}
	r := b.asked(t, "c", 1100, asMessages)
	was, now := small.Manifest.Window, r.Manifest.Window
	cut, ok := now.CutOf(1, 0)
	if before, had := was.CutOf(1, 0); !ok || !had || cut.Head+cut.Tail <= before.Head+before.Tail || now.Start != was.Start {
		t.Errorf("%d tokens with %+v, after %d with %+v", r.Tokens.Total, now, small.Tokens.Total, was)
	}
}

// TestEngine_Build_NewBudget_OpeningBeforeTheTail: if a window starts where a smaller one does, the opening that had no room there gets its
// share, at the cost of the tail.
func TestEngine_Build_NewBudget_OpeningBeforeTheTail(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("Fix the bug: "+words(150)+" the end."))
	b.append(t, "c", calling("w", 950)...)
	if small := b.asked(t, "c", 1000, asMessages); shows(small, "Fix the bug") {
		t.Fatalf("the opening has room: %+v", small.Manifest.Window)
	}
	b.append(t, "c", text(conversation.RoleAssistant, words(430)), user("And now?"))
	if r := b.asked(t, "c", 1450, asMessages); !shows(r, "Fix the bug") {
		t.Errorf("the opening is left out: %d tokens, %+v", r.Tokens.Total, r.Manifest.Window)
	}
}

// TestEngine_Build_NewBudget_OpeningIsNoEarlierRequest: an opening that a smaller budget cut when it was the request in force is shown in
// full if there is room, even after another request has come.
func TestEngine_Build_NewBudget_OpeningIsNoEarlierRequest(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("Fix the bug: "+words(700)+" the end."))
	b.append(t, "c", calling("w", 450)...)
	small := b.asked(t, "c", 1000, asMessages)
	if cut, ok := small.Manifest.Window.CutOf(0, 0); !ok || cut.Leaves() {
		t.Fatalf("the opening is not cut: %+v", small.Manifest.Window)
	}
	b.append(t, "c", user("And now?"))
	b.asked(t, "c", 1000, asMessages)
	r := b.asked(t, "c", 1400, asMessages)
	if _, cut := r.Manifest.Window.CutOf(0, 0); cut {
		t.Errorf("%d tokens, window %+v", r.Tokens.Total, r.Manifest.Window)
	}
}

// TestEngine_Build_NewBudget_CutOfARequestAndOpening: a message that a smaller budget cut as request and opening at once is no shorter in a
// larger budget where it is only the opening.
func TestEngine_Build_NewBudget_CutOfARequestAndOpening(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user("Fix the bug: "+words(590)+" the end."))
	b.append(t, "c", text(conversation.RoleAssistant, "Which?"))
	b.asked(t, "c", 400, asMessages)
	b.append(t, "c", user("This."))
	small := b.asked(t, "c", 400, asMessages)
	if cut, ok := small.Manifest.Window.CutOf(0, 0); !ok || cut.Leaves() {
		t.Fatalf("the request is not cut: %+v", small.Manifest.Window)
	}
	if r := b.asked(t, "c", 440, asMessages); r.Tokens.Messages < small.Tokens.Messages {
		t.Errorf("%d tokens of messages after %d, window %+v", r.Tokens.Messages, small.Tokens.Messages, r.Manifest.Window)
	}
}

// TestEngine_Build_OpeningIsKept: the opening stays in view for good, unless the policy says otherwise.
func TestEngine_Build_OpeningIsKept(t *testing.T) {
	for _, off := range []bool{false, true} {
		b := summarizes(conversation.StrategySummarize)
		b.append(t, "c", user("The opening."))
		for i := range 4 {
			b.append(t, "c", user(fmt.Sprint("request ", i)))
			for k := range 12 {
				id := fmt.Sprint("k", i, k)
				b.append(t, "c", call(id), result(id, words(90)))
				r := b.turn(t, "c", within(2000), by(conversation.Policy{Fit: conversation.FitPolicy{KeepOpening: ptr(!off)}}))
				if !shows(r, fmt.Sprint("request ", i)) {
					t.Errorf("off %v: request %d is not shown", off, i)
				}
				if _, shown := message(r, 0); !shown && !off {
					t.Errorf("the opening is not shown in request %d", i)
				} else if off && i == 3 && shown {
					t.Error("the opening is kept though it is not to be")
				}
			}
		}
	}
}

// TestEngine_Build_EarlierRequestsEnterTheSummary: a request that an earlier summary left out, because it was in force, is part of the next
// summary that covers it.
func TestEngine_Build_EarlierRequestsEnterTheSummary(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("The opening."), user("Look at /srv/one/first.csv."))
	b.worked(t, "c", 0, 20, 90, 2000)
	b.append(t, "c", user("Now /srv/two/second.csv."))
	r := b.worked(t, "c", 20, 25, 90, 2000)
	last := r[len(r)-1]
	summary := seen(last)[slices.IndexFunc(seen(last), func(s string) bool { return strings.Contains(s, "[Summary of") })]
	if !strings.Contains(summary, "first.csv") {
		t.Errorf("the summary does not tell of the earlier request:\n%s", summary)
	}
}

// TestEngine_Build_NotTheUsersWords: what actions, agents, retries and plugins say in the user's role does not count as a request.
func TestEngine_Build_NotTheUsersWords(t *testing.T) {
	for _, kind := range []conversation.MessageType{conversation.TypeActionResult, conversation.TypeSubAgentResult, conversation.TypeRetryContext} {
		b := newBench(1 << 20)
		other := user("not the user's")
		other.Type = kind
		b.append(t, "c", user("opening"), answer("x"), user("the user's"), other)
		b.append(t, "c", answer(words(900)), answer(words(500)))
		r := b.asked(t, "c", 1000, asMessages)
		if !shows(r, "the user's") || shows(r, "not the user's") {
			t.Errorf("type %d: %.100q", kind, seen(r))
		}
	}
	b := newEager()
	b.append(t, "c", user("opening"), user("the user's"))
	b.enrich(t, "c", user(" "), adds("p", "", "a plugin's", true, always))
	b.append(t, "c", answer(words(900)), answer(words(500)))
	if r := b.turn(t, "c", within(1000)); !shows(r, "the user's") || shows(r, "a plugin's") {
		t.Errorf("%.100q", seen(r))
	}
}

// TestEngine_Build_ExpiredIsNoRequest: a request that its caller let expire no longer counts, and the one before it is in force again.
func TestEngine_Build_ExpiredIsNoRequest(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("opening"), user("the request"), living(user("a notice"), removed(0)), answer(words(500)))
	b.turn(t, "c", within(1000))
	b.append(t, "c", answer(words(400)), answer(words(500)))
	if r := b.turn(t, "c", within(1000)); !shows(r, "the request") || shows(r, "a notice") || !shows(r, "opening") {
		t.Errorf("%.100q", seen(r))
	}
}

// TestEngine_Expand_WithoutRoom_IsRefused: a restoration for which the next build has no room changes nothing, and names what it would
// displace. One that fits is shown.
func TestEngine_Expand_WithoutRoom_IsRefused(t *testing.T) {
	b := newEager()
	b.append(t, "c", text(conversation.RoleSystem, words(700)), user("go"), call("a"), result("a", words(800)))
	b.append(t, "c", answer(words(300)), answer(words(500)))
	b.turn(t, "c", within(2000))
	before := b.head(t, "c")
	b.append(t, "c", answer(words(600)))
	b.turn(t, "c", within(2000))
	_, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(3))})
	expect(t, err, conversation.ExpansionTooLarge)
	if after := b.head(t, "c"); after.EditSeq != before.EditSeq {
		t.Error("a refused restoration has made an edit")
	}
	b.append(t, "c", answer("short"))
	b.turn(t, "c", within(2000))
	b.expanded(t, 3)
	wantShown(t, b.turn(t, "c", within(2000)), 3, words(800))
	b.append(t, "c", answer(words(1000)))
	r := b.turn(t, "c", within(2000))
	if d := decision(r, 2); d == nil || d.Kind != conversation.DecisionLeftOut || d.Reason != conversation.ReasonNoRoom {
		t.Errorf("%+v", r.Decisions)
	}
}

// TestEngine_Compact_KeepRecent_HoldsWithinItsTarget: the room reserved for the summary depends on the target and not on the budget.
func TestEngine_Compact_KeepRecent_HoldsWithinItsTarget(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 60, 200, 100_000)
	r, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: ptr(int32(20)), TargetTokens: ptr(int32(4000))})
	if err != nil {
		t.Fatal(err)
	}
	if kept := 121 - r.Range.End; kept < 18 || kept > 20 {
		t.Errorf("%d messages are kept: %+v", kept, r.Range)
	}
	if built := b.asked(t, "c", 100_000, asMessages); built.Tokens.Total > 4000 {
		t.Errorf("%d tokens are left", built.Tokens.Total)
	}
}

// TestEngine_Compact_KeepRecent_BeyondTheTailsShare: a keep_recent given in the request holds as far as the target allows, even where other
// compactions would leave fewer messages.
func TestEngine_Compact_KeepRecent_BeyondTheTailsShare(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 20, 4000, 100_000)
	r, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: ptr(int32(20))})
	if err != nil {
		t.Fatal(err)
	}
	if kept := 41 - r.Range.End; kept < 18 || kept > 20 {
		t.Errorf("%d messages are kept: %+v", kept, r.Range)
	}
}

// TestEngine_Build_SlidingWindow_HeedsItsThreshold: a sliding window shows no more messages than its threshold.
func TestEngine_Build_SlidingWindow_HeedsItsThreshold(t *testing.T) {
	for _, keep := range []*int32{nil, ptr(int32(6))} {
		b := lifeBench(newFaulty(), func(o *engine.Options) {
			o.Defaults = conversation.Policy{Compaction: conversation.CompactionPolicy{
				Strategy: conversation.StrategySlidingWindow, ThresholdMessages: ptr(int32(10)), KeepRecent: keep,
			}}
		})
		b.append(t, "c", text(conversation.RoleSystem, "s"), user("Read the parts."))
		moved := 0
		for i, r := range b.worked(t, "c", 0, 40, 10, 100_000) {
			if n := len(r.Messages) - 1; n > 10 {
				t.Fatalf("build %d shows %d messages", i, n)
			}
			if r.Prefix.BrokenBy == engine.BreakWindowMoved {
				moved++
			}
			if !shows(r, "Read the parts.") {
				t.Fatal("the request is not shown")
			}
		}
		if moved < 5 || moved > 26 {
			t.Errorf("the window moved %d times", moved)
		}
	}
}

// TestEngine_Build_SlidingWindow_CutsStand: if what is shown next to the window exceeds the threshold by itself, the window's start and the
// cuts stay.
func TestEngine_Build_SlidingWindow_CutsStand(t *testing.T) {
	b := lifeBench(newFaulty(), func(o *engine.Options) {
		o.Defaults = conversation.Policy{Compaction: conversation.CompactionPolicy{
			Strategy: conversation.StrategySlidingWindow, ThresholdMessages: ptr(int32(8)),
		}, Pruning: conversation.PruningPolicy{Off: ptr(true)}}
	})
	b.append(t, "c", user("Read the parts. "+words(300)), call("a", "b", "c", "d", "e", "f", "g", "h"))
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		b.append(t, "c", result(id, "part "+id))
	}
	b.worked(t, "c", 0, 8, 10, 1_000)
	b.expanded(t, 1) // nine messages beside the window
	b.append(t, "c", user("And?"), answer(words(350)), answer(words(400)))
	first := b.asked(t, "c", 1_000, nil)
	if !slices.ContainsFunc(first.Decisions, func(d conversation.Decision) bool { return d.Reason == conversation.ReasonOverBudgetShare }) {
		t.Fatalf("nothing is cut: %+v", first.Decisions)
	}
	again := b.asked(t, "c", 1_000, func(r *engine.BuildRequest) { r.SameTurn = true })
	if again.SHA256 != first.SHA256 {
		t.Errorf("another context, broken by %v:\n%s\n%s", again.Prefix.BrokenBy, first.MessagesJSON, again.MessagesJSON)
	}
}

// TestEngine_Build_ReportBeyondTwiceOurCount: a report counts as it is. If it is over twice our count, the answer names it, and the view is
// made smaller once.
func TestEngine_Build_ReportBeyondTwiceOurCount(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 60, 90, 20_000)
	compactions, jumps := 0, 0
	for i := range 6 {
		r := b.asked(t, "c", 20_000, func(r *engine.BuildRequest) {
			if r.Format = conversation.FormatNeutral; i == 0 {
				r.LastUsage = &engine.Usage{Input: 20_500}
			}
		})
		for _, e := range r.Events {
			if e.Type == conversation.EventSummarized {
				compactions++
			}
		}
		for _, d := range r.Degradations {
			if d.Code == engine.UsageJump {
				jumps++
			}
		}
		if !r.Compaction.Reported || r.Compaction.Used > 20_000 {
			t.Errorf("build %d: %+v", i, r.Compaction)
		}
		b.append(t, "c", answer("on"))
	}
	if compactions != 1 || jumps == 0 {
		t.Errorf("%d compactions, named %d times", compactions, jumps)
	}
}

// TestEngine_Build_ReportOverTheBudget_IsAnsweredOnce: text that callers send without telling the sidecar may weigh more than the whole
// budget. The view is made smaller for it once, and not again while it grows.
func TestEngine_Build_ReportOverTheBudget_IsAnsweredOnce(t *testing.T) {
	const budget = 20_000
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 60, 90, budget)
	build := func(u *engine.Usage) (compactions int) {
		t.Helper()
		r := b.asked(t, "c", budget, func(r *engine.BuildRequest) { r.Format, r.LastUsage = conversation.FormatNeutral, u })
		for _, e := range r.Events {
			if e.Type == conversation.EventSummarized {
				compactions++
			}
		}
		return compactions
	}
	if n := build(&engine.Usage{Input: 45_000}); n != 1 {
		t.Errorf("%d compactions for the report", n)
	}
	for i := range 20 {
		b.append(t, "c", answer(words(150)), user("On."))
		if n := build(nil); n != 0 {
			t.Errorf("%d compactions in build %d after it", n, i)
		}
	}
}

// TestEngine_Build_ReportBelowTheBudget_CountsUntilTheNext: a build that learns of a report within the budget does not make the view
// smaller. A later build does, once the view has outgrown the budget by that report.
func TestEngine_Build_ReportBelowTheBudget_CountsUntilTheNext(t *testing.T) {
	const budget = 20_000
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 60, 90, budget)
	for i, u := range []*engine.Usage{{Input: 17_000}, nil, nil} {
		r := b.asked(t, "c", budget, func(r *engine.BuildRequest) { r.Format, r.LastUsage = conversation.FormatNeutral, u })
		over := i == 2
		if made := r.Compaction.Summary != 0; made != over || !r.Compaction.Reported || r.Tokens.Total > budget/2 {
			t.Errorf("build %d: %d tokens, %+v", i, r.Tokens.Total, r.Compaction)
		}
		if i == 1 {
			b.append(t, "c", answer(words(3500)), user("On."))
		}
	}
}

// TestEngine_Build_CutRequest_OpenerAdded: a first user message that the provider requires takes its room from the request, but does not
// displace the request.
func TestEngine_Build_CutRequest_OpenerAdded(t *testing.T) {
	testlane.OneCaller(t)
	for budget := int32(200_000); budget < 200_008; budget++ {
		b := newBench(0)
		b.append(t, "c", pinned(answer("I am ready.")), user(words(300_000)), answer(words(120_000)))
		r := b.build(t, "c", conversation.FormatAnthropic, budget)
		if cut, ok := r.Manifest.Window.CutOf(1, 0); !ok || cut.Leaves() {
			t.Fatalf("in %d tokens the request is shown as %+v, %t; the context weighs %d", budget, cut, ok, r.Tokens.Total)
		}
	}
}

// TestEngine_Build_RestoredOpening_IsNotCut: a compaction does not cut an opening that was brought back, and the view after it stays.
func TestEngine_Build_RestoredOpening_IsNotCut(t *testing.T) {
	b := newBench(0)
	summarize := conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize}}
	ask := func() conversation.Window {
		r := buildRequest("c", conversation.FormatOpenAIChat, 4000)
		r.PolicyOverride = summarize
		got, err := b.Build(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return got.Manifest.Window
	}
	b.append(t, "c", user(words(1800)), answer(words(1000)), user("go on"), answer(words(1600)))
	if win := ask(); len(win.Cuts) == 0 {
		t.Fatalf("nothing is cut: %+v", win)
	}
	b.expanded(t, 0)
	if win := ask(); len(win.Cuts) > 0 {
		t.Fatalf("it was brought back, and is cut: %+v", win)
	}
	b.append(t, "c", user("and then"), answer(words(1200)))
	win := ask()
	if _, cut := win.CutOf(0, 0); cut {
		t.Errorf("it was brought back, and is cut: %+v", win)
	}
	b.append(t, "c", user("and now"))
	if next := ask(); next.Start != win.Start {
		t.Errorf("the start moves from %d to %d, and nothing is in need of it", win.Start, next.Start)
	}
}

// TestEngine_Build_RequestWithMedia_LeavesTheOpeningItsRoom: a request that is cut is shown without its picture, and the opening gets the
// picture's weight.
func TestEngine_Build_RequestWithMedia_LeavesTheOpeningItsRoom(t *testing.T) {
	b := newBench(0)
	look := user("Look at this. " + words(80))
	look.Parts = append(look.Parts, conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", URI: "https://example.com/a.png"}})
	b.append(t, "c", user("The very first words."), answer("ok"), look)
	b.append(t, "c", calling("w", 1700)...)
	r := b.asked(t, "c", 2000, asMessages)
	if !shows(r, "The very first words.") || !shows(r, "Look at this.") || r.Tokens.Total > 2000 {
		t.Errorf("%d tokens, %.300q", r.Tokens.Total, seen(r))
	}
}

package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Build_ClipsOverShareOnce: a single result over 25 % of B is clipped when it first enters a view, frozen, and at no
// later time (behaviour §4).
func TestEngine_Build_ClipsOverShareOnce(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"), call("a", "b", "c"), result("a", words(249)), result("b", words(251)), result("c", words(250)))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if len(r.Events) != 1 || r.Events[0].Index != 3 || r.Events[0].Reason != conversation.ReasonResultOverShare || r.Events[0].EditSeq != 1 {
		t.Fatalf("events %+v", r.Events)
	}
	shown, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{First: 3, End: 4}, Current: true, Limit: 1, MaxBytes: 1 << 20,
		Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil || shown.Messages[0].Level != conversation.Shortened || shown.Messages[0].Saved != r.Tokens.SavedByClipping {
		t.Fatalf("%+v, %v", shown, err)
	}
	text := shown.Messages[0].Message.Parts[0].Result.Text.Inline
	if !strings.Contains(text, "of 1004 characters shown. Full text: expand_message(3)]") || len(text) > 1000 {
		t.Errorf("shown as %q", text)
	}
	// For a smaller budget it would exceed its share, but it is not new any more.
	again := b.build(t, "c", conversation.FormatOpenAIChat, 850)
	if len(again.Events) != 0 || !strings.Contains(string(again.MessagesJSON), "Clipped") {
		t.Errorf("events %+v", again.Events)
	}
	if got := b.records(t, "c")[3].Parts[0].Result.Text.Inline; got != words(251) {
		t.Error("the record changed")
	}
}

func TestEngine_Build_ShareIsPolicy(t *testing.T) {
	for _, tt := range []struct{ percent, clipped int32 }{{100, 0}, {50, 1}, {10, 2}} {
		b := newBench(0)
		b.append(t, "c", user("go"), call("a", "b"), result("a", words(600)), result("b", words(200)))
		r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.PolicyOverride.Fit.MaxResultPercent = &tt.percent })
		if len(r.Events) != int(tt.clipped) {
			t.Errorf("%d %%: events %+v", tt.percent, r.Events)
		}
	}
}

// TestEngine_Build_NewestUnitIsClippedLargestFirst: results of the newest unit are only clipped if system messages, pins and
// that unit exceed B (behaviour §4).
func TestEngine_Build_NewestUnitIsClippedLargestFirst(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, words(100)), user("go"))
	b.build(t, "c", conversation.FormatOpenAIChat, 10_000)
	b.append(t, "c", call("a", "b", "c", "d"), result("a", words(900)), result("b", words(100)), result("c", words(500)), result("d", words(900)))
	r := b.asked(t, "c", 1200, func(r *engine.BuildRequest) { r.PolicyOverride.Fit.MaxResultPercent = ptr(int32(100)) })
	var clipped []int32
	after := map[int32]int64{}
	for _, d := range r.Decisions {
		if d.Kind == conversation.DecisionClipped {
			clipped = append(clipped, d.First)
			after[d.First] = d.After
			if d.Reason != conversation.ReasonNewestUnitOverBudget {
				t.Errorf("reason %d", d.Reason)
			}
		}
	}
	if fmt.Sprint(clipped) != "[3 5 6]" || max(after[3], after[5], after[6])-min(after[3], after[5], after[6]) > 30 {
		t.Errorf("clipped %v to %v", clipped, after)
	}
	if r.Tokens.Total > 1200 || r.Tokens.Total < 1000 {
		t.Errorf("%d tokens in a budget of 1200", r.Tokens.Total)
	}
	// A smaller budget clips it further, computed from the original. It never grows back.
	smaller := b.build(t, "c", conversation.FormatOpenAIChat, 600)
	for _, d := range smaller.Decisions {
		if d.Kind == conversation.DecisionClipped && (d.EditSeq <= 3 && d.First != 4 || d.After >= after[d.First] && d.First != 4) {
			t.Errorf("%+v after %v", d, after)
		}
	}
	if strings.Count(string(smaller.MessagesJSON), "[Clipped:") != strings.Count(string(smaller.MessagesJSON), "of 3600 characters")+
		strings.Count(string(smaller.MessagesJSON), "of 2000 characters")+strings.Count(string(smaller.MessagesJSON), "of 400 characters") {
		t.Errorf("an edited form was clipped: %s", smaller.MessagesJSON)
	}
	larger := b.build(t, "c", conversation.FormatOpenAIChat, 10_000)
	if len(larger.Events) != 0 || larger.Tokens.SavedByClipping != smaller.Tokens.SavedByClipping {
		t.Errorf("in a larger budget: %+v", larger.Tokens)
	}
	b.rebuildsAll(t, "c", 4)
}

var figures = regexp.MustCompile(`fixed input (\d+) \+ leading system messages (\d+) \+ pinned messages (\d+) \+ newest unit (\d+) tokens.* exceed (\d+) \(budget (\d+)`)

// TestEngine_Build_CannotFit: the error has the weight of each part, and only comes when nothing can be clipped any further.
func TestEngine_Build_CannotFit(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, words(100)), pinned(user(words(50))), answer(words(500)), call("a"), result("a", words(5000)))
	fixed := func(r *engine.BuildRequest) { r.Fixed.Tokens = ptr(int32(30)) }
	_, err := b.ask("c", 200, fixed)
	expect(t, err, conversation.ContextCannotFit)
	m := figures.FindStringSubmatch(err.Error())
	if m == nil {
		t.Fatalf("no breakdown in %q", err)
	}
	if got := fmt.Sprint(m[1:4], m[5:]); got != "[30 104 54] [200 200]" {
		t.Errorf("breakdown %v of %q", m[1:], err)
	}
	// The smallest budget that fits is the sum of the weights in the error.
	var sum int32
	for _, s := range m[1:5] {
		n := int32(0)
		_, _ = fmt.Sscan(s, &n)
		sum += n
	}
	_, err = b.ask("c", sum-1, fixed)
	expect(t, err, conversation.ContextCannotFit)
	r := b.asked(t, "c", sum, fixed)
	if r.Tokens.Total > int64(sum) {
		t.Errorf("%d tokens in a budget of %d", r.Tokens.Total, sum)
	}
	for _, e := range r.Events {
		if e.Reason != conversation.ReasonNewestUnitOverBudget && e.Reason != conversation.ReasonResultOverShare || e.Index != 4 {
			t.Errorf("event %+v", e)
		}
	}
	if last := r.Events[len(r.Events)-1]; last.Reason != conversation.ReasonNewestUnitOverBudget {
		t.Errorf("clipped to the bone because %d", last.Reason)
	}
}

// TestEngine_Build_NewestUserTextIsNeverCut: nothing of the newest unit is expired, pruned, summarized or cut, except its tool
// results.
func TestEngine_Build_NewestUserTextIsNeverCut(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("old"), answer(words(50)), user(words(900)))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 910)
	if !strings.Contains(string(r.MessagesJSON), words(900)) || len(r.Events) != 0 {
		t.Errorf("events %+v", r.Events)
	}
	_, err := b.ask("c", 900, nil)
	expect(t, err, conversation.ContextCannotFit)
}

func TestEngine_Build_LargeStoredResultIsClippedFromTheOriginal(t *testing.T) {
	b := newBench(1 << 20)
	content := "BEGIN" + words(50_000) + "END"
	b.append(t, "c", user("go"), call("a"), result("a", content))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if s := string(r.MessagesJSON); !strings.Contains(s, "BEGIN") || !strings.Contains(s, "END") || r.Tokens.Total > 1000 || r.Tokens.Total < 200 {
		t.Errorf("%d tokens: %s", r.Tokens.Total, s)
	}
	m, err := b.Message(ctx, keyOf("c"), 2)
	if err != nil || m.Message.Parts[0].Result.Text.Inline != content || m.Chars != int64(len(content)) || m.Level != conversation.Shortened || !m.InView {
		t.Errorf("%+v, %v", m.Level, err)
	}
}

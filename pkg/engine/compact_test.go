package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// summarizes is a bench that summarizes without a model when a view outgrows its budget.
func summarizes(strategy conversation.Strategy) *bench {
	return lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Defaults = conversation.Policy{
			Compaction: conversation.CompactionPolicy{Strategy: strategy}, Pruning: conversation.PruningPolicy{Off: ptr(true)},
		}
	})
}

// worked appends so many exchanges, each of about so many tokens, and builds after each.
func (b *bench) worked(t testing.TB, id string, from, n, tokens int, budget int32) []*engine.BuildResult {
	t.Helper()
	var out []*engine.BuildResult
	for i := from; i < from+n; i++ {
		k := fmt.Sprint("k", i)
		b.append(t, id, call(k), result(k, fmt.Sprintf("step %d of the work: file /srv/data/part%d.csv was read. %s", i, i, words(tokens))))
		out = append(out, b.asked(t, id, budget, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral }))
	}
	return out
}

func TestEngine_Build_SummarizesWhatOutgrowsItsBudget(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "You are careful."), user("Read the parts. You must never delete a file."))
	made := 0
	for i, r := range b.worked(t, "c", 0, 300, 100, 8000) {
		if r.Tokens.Total > r.Tokens.Budget {
			t.Fatalf("build %d: %d tokens over %d", i, r.Tokens.Total, r.Tokens.Budget)
		}
		for _, e := range r.Events {
			if e.Type == conversation.EventSummarized {
				made++
				t.Logf("build %d: summary s%d of %d-%d, %d tokens, of which summaries %d; saved %d", i, e.Summary, e.Index, e.Last, r.Tokens.Total, r.Tokens.Summaries, e.Saved)
				if r.Tokens.Total*100 > r.Tokens.Budget*55 {
					t.Errorf("build %d: %d tokens of %d after a compaction", i, r.Tokens.Total, r.Tokens.Budget)
				}
			}
			if e.Type == conversation.EventCompactionFailed {
				t.Errorf("build %d: %+v", i, e)
			}
		}
		if len(r.Degradations) > 0 {
			t.Errorf("build %d: %+v", i, r.Degradations)
		}
	}
	if made < 5 {
		t.Errorf("%d summaries", made)
	}
	last := b.asked(t, "c", 8000, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
	for _, m := range last.Messages {
		if m.Summary > 0 {
			if !strings.Contains(m.Parts[0].Text.Inline, "never delete a file") {
				t.Error("the rule is lost")
			}
		}
	}
	b.rebuildsAll(t, "c", 301)
}

// unfolded are the indices of the messages that a summary stands for, through all of its children.
func (b *bench) unfolded(t testing.TB, id string, summary int64) (out []int32) {
	t.Helper()
	var cursor *int32
	for {
		r, err := b.Expand(ctx, engine.ExpandRequest{
			Key: keyOf(id), Summary: summary, Limit: 50, Cursor: cursor, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Children {
			if c.Summary > 0 {
				out = append(out, b.unfolded(t, id, c.Summary)...)
			} else {
				out = append(out, c.Message.Message.Index)
			}
		}
		if cursor = r.Next; cursor == nil {
			return out
		}
	}
}

// TestEngine_Build_Hierarchy: the children of a summary cover its range without gaps, few summaries are next to each other, and each
// expands down to originals.
func TestEngine_Build_Hierarchy(t *testing.T) {
	testlane.OneCaller(t)
	b := summarizes(conversation.StrategyHierarchical)
	b.append(t, "c", user("Read the parts. You must never delete a file."))
	for i, r := range b.worked(t, "c", 0, 1000, 100, 8000) {
		if len(summarizedIn(r)) > 0 && r.Tokens.Total*100 > 55*r.Tokens.Budget {
			t.Errorf("build %d: %d tokens after a compaction", i, r.Tokens.Total)
		}
	}
	r := b.turn(t, "c", within(8000))
	next, most := int32(0), int32(0)
	for _, d := range r.Decisions {
		if d.Kind != conversation.DecisionSummarized {
			continue
		}
		if d.First != next {
			t.Errorf("summary s%d begins at %d, want %d", d.Summary, d.First, next)
		}
		below := b.unfolded(t, "c", d.Summary)
		for i, index := range below {
			if index != d.First+int32(i) {
				t.Fatalf("s%d expands to %d at %d", d.Summary, index, i)
			}
		}
		if len(below) != int(d.Last-d.First+1) {
			t.Errorf("s%d stands for %d-%d and expands to %d messages", d.Summary, d.First, d.Last, len(below))
		}
		next, most = d.Last+1, max(most, d.Last-d.First)
	}
	if most < 500 {
		t.Errorf("the largest summary stands for %d messages: nothing was merged?", most)
	}
}

func TestEngine_Compact_AndRetry(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 30, 100, 8000)
	r := engine.CompactRequest{Key: keyOf("c"), Request: request("CompactConversation", "r1", "x"), KeepRecent: ptr(int32(4))}
	first, err := b.Compact(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Summaries) != 1 || first.Range != (conversation.Range{First: 0, End: 57}) || first.Saved <= 0 || first.Duplicate {
		t.Errorf("%+v", first)
	}
	again, err := b.Compact(ctx, r)
	if err != nil || !again.Duplicate || again.Saved != first.Saved || again.Range != first.Range || len(again.Summaries) != 1 ||
		again.Summaries[0].Text != first.Summaries[0].Text || again.Revision != first.Revision {
		t.Errorf("%+v, %v; first %+v", again, err, first)
	}
	if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: ptr(int32(4))}); conversation.KindOf(err) != conversation.NothingToCompact {
		t.Errorf("again: %v", err)
	}
	listed, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{End: -1}, Current: true, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil || len(listed.Summaries) != 1 || len(listed.Messages) != 5 { // the newest user message stays beside the summary
		t.Errorf("%d messages and %d summaries, %v", len(listed.Messages), len(listed.Summaries), err)
	}
	b.rebuildsAll(t, "c", 30)
}

// TestEngine_Compact_RequestIDOfAnotherRequest_IsRefused: a request id that answered another request is refused.
func TestEngine_Compact_RequestIDOfAnotherRequest_IsRefused(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 30, 100, 8000)
	once := func(content string) error {
		_, err := b.Compact(ctx, engine.CompactRequest{
			Key: keyOf("c"), Request: request("CompactConversation", "r", content), KeepRecent: ptr(int32(4)),
		})
		return err
	}
	if err := once("x"); err != nil {
		t.Fatal(err)
	}
	expect(t, once("y"), conversation.RequestIDReused)
}

// TestEngine_Rewind: messages taken back stay on record but no longer count, the calls before them wait again, and a summary that tells of
// them dissolves (behaviour §8).
func TestEngine_Rewind(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("first"), call("k"), result("k", "one"), answer("wrong"), user("and?"), answer("worse"))
	b.turn(t, "c")
	r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 3, Request: request("RewindConversation", "r", "x")})
	if err != nil || r.Range != (conversation.Range{First: 3, End: 7}) {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := b.tryTurn("c"); conversation.KindOf(err) != conversation.PendingToolCalls {
		t.Errorf("the call does not wait: %v", err)
	}
	b.append(t, "c", result("k", "two"), user("now?"))
	shown := b.turn(t, "c")
	if len(shown.Messages) != 5 || shown.Prefix.BrokenBy != engine.BreakRewound {
		t.Errorf("%d messages, %+v", len(shown.Messages), shown.Prefix)
	}
	if again, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 3, Request: request("RewindConversation", "r", "x")}); err != nil || !again.Duplicate || again.Range != r.Range {
		t.Errorf("%+v, %v", again, err)
	}
	for from, want := range map[int32]conversation.Kind{9: conversation.MessageNotFound, 3: ""} {
		if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: from}); from == 9 && conversation.KindOf(err) != want {
			t.Errorf("from %d: %v", from, err)
		}
	}
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 4}); conversation.KindOf(err) != conversation.AlreadyRewound {
		t.Errorf("again: %v", err)
	}
	b.append(t, "c", result("k", "three"))
	if r := b.turn(t, "c"); len(r.Messages) != 4 {
		t.Errorf("%d messages", len(r.Messages))
	}
}

func TestEngine_Rewind_DissolvesSummaries(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	var summaries []conversation.Event
	for _, r := range b.worked(t, "c", 0, 130, 100, 8000) {
		summaries = append(summaries, summarizedIn(r)...)
	}
	if len(summaries) < 2 {
		t.Fatal("too few summaries")
	}
	older, newer := summaries[len(summaries)-2], summaries[len(summaries)-1]
	from := (older.Last+newer.Last)/4*2 + 1 // a call, between the ends of the two
	r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: from})
	if err != nil || len(r.Dissolved) != 1 || r.Dissolved[0] != newer.Summary {
		t.Fatalf("%+v, %v", r, err)
	}
	b.append(t, "c", user("Go on."))
	shown := b.turn(t, "c", within(8000))
	seen := map[int32]bool{}
	for _, m := range shown.Messages {
		seen[m.Index] = true
	}
	for i := older.Last + 1; i < from; i++ {
		if !seen[i] {
			t.Errorf("message %d between the older summary and the rewind is not shown", i)
		}
	}
	if shown.Compaction.Summary != older.Summary {
		t.Errorf("summary %d is shown, want %d", shown.Compaction.Summary, older.Summary)
	}
}

// TestEngine_Build_SummaryTellsWhatItStandsFor: a summary does not count what it leaves out. It does count what an earlier summary left out
// and it does not.
func TestEngine_Build_SummaryTellsWhatItStandsFor(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("Read the parts."))
	b.worked(t, "c", 0, 70, 100, 8000)
	b.append(t, "c", user("Read some more."))
	b.worked(t, "c", 70, 70, 100, 8000)
	r := b.turn(t, "c", within(8000))
	shown := map[int32]bool{}
	for _, m := range r.Messages {
		shown[m.Index] = true
	}
	summaries := 0
	for _, d := range r.Decisions {
		if d.Kind != conversation.DecisionSummarized {
			continue
		}
		summaries++
		want := int64(0)
		for _, m := range b.records(t, "c")[d.First : d.Last+1] {
			if !shown[m.Index] {
				want += int64(m.Tokens)
			}
		}
		if d.Before != want {
			t.Errorf("s%d stands for %d tokens, want %d", d.Summary, d.Before, want)
		}
	}
	if summaries != 1 || r.Compaction.Summary < 2 || r.Tokens.SavedByFit != 0 {
		t.Errorf("%d summaries, %+v, %+v", summaries, r.Compaction, r.Tokens)
	}
}

// TestEngine_Build_SummarizesUnderACap: a cap larger than a model's limit does not prevent summaries.
func TestEngine_Build_SummarizesUnderACap(t *testing.T) {
	b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		o.Defaults = conversation.Policy{
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize},
			Fit:        conversation.FitPolicy{MaxContextTokens: ptr(int32(48_000))},
		}
	})
	b.append(t, "c", user("Read the parts."))
	made := 0
	for _, r := range b.worked(t, "c", 0, 100, 100, 8000) {
		made += len(summarizedIn(r))
	}
	if made == 0 {
		t.Error("no summaries")
	}
	for _, r := range b.worked(t, "c", 100, 20, 100, 4000) { // a smaller budget than the largest
		if len(summarizedIn(r)) > 0 {
			t.Error("a smaller build made a summary")
		}
	}
}

// TestEngine_Compact_SlideThatWouldGrowTheView_IsNone: if a rewind makes an older, large question the newest, the window's start does not
// move on: the question would be shown again, next to less than it weighs.
func TestEngine_Compact_SlideThatWouldGrowTheView_IsNone(t *testing.T) {
	b := summarizes(conversation.StrategySlidingWindow)
	b.append(t, "c", user(words(2500)))
	b.steps(t, "c", 40, 200)
	b.append(t, "c", user("Go on."))
	b.steps(t, "c", 3, 100)
	b.turn(t, "c", within(8000)) // "Go on." is shown, so that the large question is not
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 81}); err != nil {
		t.Fatal(err)
	}
	before := b.head(t, "c").Revision
	_, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c")})
	expect(t, err, conversation.NothingToCompact)
	if after := b.head(t, "c").Revision; after != before {
		t.Errorf("revision %d after %d", after, before)
	}
}

// TestEngine_Rewind_ToASilentTail_ShowsTheRequest: if nothing that is said remains behind a summary, the request that the summary covers is
// shown nevertheless.
func TestEngine_Rewind_ToASilentTail_ShowsTheRequest(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("first"), answer(words(300)), user("the request"), answer(words(300)), user(""), user("last"))
	b.turn(t, "c")
	if r, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: new(int32(2))}); err != nil || r.Range.End != 4 {
		t.Fatal(r, err)
	}
	if r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 5}); err != nil || len(r.Dissolved) > 0 {
		t.Fatal(r, err)
	}
	shown := b.turn(t, "c", func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat }) // which drops the empty text
	if !strings.Contains(string(shown.MessagesJSON), `"content":"the request"`) {
		t.Errorf("%s", shown.MessagesJSON)
	}
}

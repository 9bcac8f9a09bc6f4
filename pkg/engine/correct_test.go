package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

const (
	wrong = "WRONG-4711"
	right = "RIGHT-1147"
)

func correction(id string, index, part int32, text string) engine.CorrectRequest {
	return engine.CorrectRequest{Key: keyOf(id), Index: &index, Parts: []engine.CorrectedPart{{Part: part, Text: text}}, Reason: "it was misread"}
}

func (b *bench) correct(t testing.TB, id string, index, part int32, text string) *engine.CorrectResult {
	t.Helper()
	r, err := b.Correct(ctx, correction(id, index, part, text))
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	return r
}

// wantForgotten fails if anything that a model could see of a conversation still contains the wrong words.
func (b *bench) wantForgotten(t testing.TB, id string, budget int32, indices ...int32) {
	t.Helper()
	for f := conversation.FormatNeutral; f <= conversation.FormatGemini; f++ {
		r, err := b.ask(id, budget, func(r *engine.BuildRequest) { r.Format, r.DryRun = f, true })
		if conversation.KindOf(err) == conversation.Internal && f > conversation.FormatOpenAIChat { // some benches have two formats
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.MessagesJSON)+string(r.System)+fmt.Sprintf("%+v", r.Messages), wrong) {
			t.Errorf("format %d shows the wrong words", f)
		}
	}
	current, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf(id), Range: conversation.Range{End: -1}, Current: true, Limit: 10_000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(textsOf(current), "\n"), wrong) {
		t.Error("CURRENT lists the wrong words")
	}
	for _, index := range indices {
		x, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf(id), Index: &index, ReturnOnly: true})
		if err != nil || strings.Contains(fmt.Sprint(contentsOf(x.Message.Message.Parts)), wrong) {
			t.Errorf("expanding %d: %v, %v", index, contentsOf(x.Message.Message.Parts), err)
		}
		a, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf(id), MaxTokens: 50_000, Call: conversation.ToolCall{
			CallID: "x", Name: "expand_message", Arguments: conversation.Content{Inline: fmt.Sprintf(`{"message_index":%d}`, index)},
		}})
		if err != nil || strings.Contains(a.Result.Text.Inline, wrong) {
			t.Errorf("recalling %d: %v, %v", index, a, err)
		}
	}
	if found := b.found(t, id, wrong); len(found) > 0 {
		t.Errorf("the wrong words are found in %v", found)
	}
}

func (b *bench) found(t testing.TB, id, query string) (out []int32) {
	t.Helper()
	r, err := b.SearchMessages(ctx, engine.SearchMessagesRequest{
		Key: keyOf(id), Query: query, Range: conversation.Range{End: -1}, Limit: 50, SnippetChars: 200,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		out = append(out, h.Message.Index)
	}
	return out
}

func contentsOf(parts []conversation.Part) (out []string) {
	for _, c := range conversation.Contents(parts) {
		out = append(out, c.Inline)
	}
	return out
}

func textsOf(r *engine.MessagesResult) (out []string) {
	for i := range r.Messages {
		out = append(out, contentsOf(r.Messages[i].Message.Parts)...)
	}
	for i := range r.Summaries {
		out = append(out, r.Summaries[i].Text)
	}
	return out
}

// TestEngine_Correct_EverythingButTheRecordHasTheNewWords: this holds for texts and results, inline and in chunks. Earlier manifests
// can be rebuilt.
func TestEngine_Correct_EverythingButTheRecordHasTheNewWords(t *testing.T) {
	for _, size := range []int{0, 40_000} { // 32 KiB and more lie in chunks
		b := newBench(1 << 20)
		filler := strings.Repeat(" and so on", size/10)
		b.append(t, "c", user("It is "+wrong+filler), call("k"), result("k", wrong+" was read"+filler), answer("So it is "+wrong), user("go on"))
		before := b.asked(t, "c", 100_000, nil)
		if got := b.found(t, "c", wrong); len(got) != 3 {
			t.Fatalf("found in %v", got)
		}
		for index, text := range map[int32]string{0: "It is " + right + filler, 2: right + " was read" + filler, 3: "So it is " + right} {
			r := b.correct(t, "c", index, 0, text)
			if got := contentsOf(r.Message.Message.Parts); got[0] != text {
				t.Errorf("message %d is answered as %s", index, abridged(got[0]))
			}
			e := r.Events
			if len(e) != 1 || e[0].Type != conversation.EventCorrected || e[0].Index != index || e[0].Said != "it was misread" {
				t.Errorf("events %+v", e)
			}
		}
		b.wantForgotten(t, "c", 100_000, 0, 2, 3)
		if got := b.found(t, "c", right); len(got) != 3 {
			t.Errorf("the right words are found in %v", got)
		}
		for i, m := range b.records(t, "c") {
			if has := strings.Contains(fmt.Sprint(contentsOf(m.Parts)), wrong); has != slices.Contains([]int{0, 2, 3}, i) {
				t.Errorf("message %d of the record: %s", i, abridged(fmt.Sprint(contentsOf(m.Parts))))
			}
			got, err := b.Message(ctx, keyOf("c"), int32(i))
			if err != nil || (got.EditSeq > 0) != slices.Contains([]int{0, 2, 3}, i) || contentsOf(got.Message.Parts)[0] != contentsOf(m.Parts)[0] {
				t.Errorf("GetMessage %d: edit e%d, %v", i, got.EditSeq, err)
			}
		}
		after := b.asked(t, "c", 100_000, nil)
		if after.Prefix.BrokenBy != engine.BreakCorrected || after.Tokens.Total != before.Tokens.Total {
			t.Errorf("prefix %+v, tokens %+v and %+v", after.Prefix, before.Tokens, after.Tokens)
		}
		if d := after.Decisions; len(d) != 3 || d[0].Kind != conversation.DecisionCorrected || d[0].Reason != conversation.ReasonCorrectionRequest || d[0].EditSeq == 0 {
			t.Errorf("decisions %+v", d)
		}
		b.rebuildsAll(t, "c", 2)
	}
}

func TestEngine_Correct_AgainAndAgain(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("one"), answer("two"))
	revision := b.correct(t, "c", 0, 0, wrong).Revision
	if r := b.correct(t, "c", 0, 0, right); r.Revision != revision+1 {
		t.Errorf("revision %d after %d", r.Revision, revision)
	}
	b.wantForgotten(t, "c", 10_000, 0)
	other := second(b)
	if r := other.asked(t, "c", 10_000, nil); !strings.Contains(string(r.MessagesJSON), right) {
		t.Errorf("%s", r.MessagesJSON)
	}
	b.correct(t, "c", 0, 0, "third")
	// Another process' window in memory learns about it.
	if r := other.asked(t, "c", 10_000, nil); !strings.Contains(string(r.MessagesJSON), "third") || r.Prefix.BrokenBy != engine.BreakCorrected {
		t.Errorf("%s, %+v", r.MessagesJSON, r.Prefix)
	}
	b.rebuildsAll(t, "c", 2)
}

func TestEngine_Correct_JSONResult(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"), call("k"), result("k", "plain "+wrong), user("and?"))
	r := correction("c", 2, 0, `{"n": 1147}`)
	r.Parts[0].Output = conversation.OutputJSON
	got, err := b.Correct(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	p := got.Message.Message.Parts[0]
	if p.Result.Output != conversation.OutputJSON || p.Result.Text.Inline != `{"n": 1147}` || p.Result.CallID != "k" || p.Result.Ordinal != 1 {
		t.Errorf("%+v", p.Result)
	}
	b.wantForgotten(t, "c", 10_000, 2)
}

// TestEngine_Correct_Retry: the first outcome comes back, and nothing is corrected twice.
func TestEngine_Correct_Retry(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user(wrong))
	r := correction("c", 0, 0, right)
	r.Request = request("CorrectMessage", "r", "x")
	first, err := b.Correct(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Correct(ctx, r)
	if err != nil || !again.Duplicate || again.Revision != first.Revision || b.head(t, "c").EditSeq != 1 || contentsOf(again.Message.Message.Parts)[0] != right {
		t.Errorf("%+v, %v", again, err)
	}
	r.Request = request("CorrectMessage", "r", "y")
	_, err = b.Correct(ctx, r)
	expect(t, err, conversation.RequestIDReused)
}

// TestEngine_Correct_FormsGiveWay: a text that was clipped, compacted or cleared is shown in full with the new words, until it is due
// again.
func TestEngine_Correct_FormsGiveWay(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	several := user(long("one", 50))
	several.Parts = append(several.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: wrong + long("two", 400)}})
	b.append(t, "c", call("k", "l"), resultLiving("k", wrong+long("result", 4000), compacted(1, 100)), resultLiving("l", "other", compacted(1, 100)), living(several, compacted(1, 100)), user("next"))
	b.turn(t, "c")
	b.turn(t, "c")
	if r := b.turn(t, "c"); !strings.Contains(page(r), "[Compacted: first 100 of 4010") || !strings.Contains(page(r), long("one", 50)+wrong) {
		t.Fatalf("%s", page(r))
	}
	whole := right + long("result", 3000)
	if r := b.correct(t, "c", 2, 0, whole); r.Message.Level != conversation.Full || r.Events[0].Saved >= 0 || r.RewriteTokens <= 0 {
		t.Errorf("%v, %+v, rewrites %d", r.Message.Level, r.Events, r.RewriteTokens)
	}
	b.correct(t, "c", 4, 1, "Two is "+right)
	shown := b.turn(t, "c", func(r *engine.BuildRequest) { r.SameTurn = true })
	wantShown(t, shown, 2, whole)
	b.wantForgotten(t, "c", room, 2)
	if s := page(shown); !strings.Contains(s, "Two is "+right) || !strings.Contains(s, long("one", 50)) {
		t.Errorf("the message of several texts: %s", page(shown))
	}
	wantShown(t, b.turn(t, "c"), 2, firstChars(whole, 100, 2))
	b.rebuildsAll(t, "c", 6)
}

// TestEngine_Correct_RemovedStaysRemoved: a removed message stays removed, and comes back with the new words.
func TestEngine_Correct_RemovedStaysRemoved(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.append(t, "c", living(user(wrong), removed(1)), answer("well"), user("next"))
	for range 3 {
		b.turn(t, "c")
	}
	if r := b.correct(t, "c", 1, 0, right); r.Message.Level != conversation.Removed || r.RewriteTokens != 0 {
		t.Errorf("%v, rewrites %d", r.Message.Level, r.RewriteTokens)
	}
	if r := b.turn(t, "c"); strings.Contains(page(r), right) {
		t.Errorf("it is back: %s", page(r))
	}
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(1))}); err != nil {
		t.Fatal(err)
	}
	if r := b.turn(t, "c"); !strings.Contains(page(r), right) {
		t.Errorf("expanded: %s", page(r))
	}
	b.wantForgotten(t, "c", room, 1)
	b.rebuildsAll(t, "c", 6)
}

// TestEngine_Correct_LongerResult_IsClipped: a corrected result enters the view like a new one.
func TestEngine_Correct_LongerResult_IsClipped(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"), call("k"), result("k", wrong), user("and?"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	b.correct(t, "c", 2, 0, right+words(400))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if len(r.Events) != 1 || r.Events[0].Reason != conversation.ReasonResultOverShare || !strings.Contains(string(r.MessagesJSON), "of 1610 characters") {
		t.Errorf("%+v, %s", r.Events, page(r))
	}
}

func TestEngine_Correct_Refusals(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("first"), answer("so"))
	m := user("words")
	m.Parts = append(m.Parts,
		conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", URI: "https://example.com/a.png"}},
		conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "  "}},
		conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "added"}, Plugin: "memory"},
	)
	several := result("k", "")
	several.Parts[0].Result.Output, several.Parts[0].Result.Text = conversation.OutputParts, conversation.Content{}
	several.Parts[0].Result.Parts = []conversation.ResultPart{{Text: conversation.Content{Inline: "piece"}}}
	b.append(t, "c", m, call("k", "l"), several, result("l", ""), user("taken back"))
	b.rewind(t, "c", 6)
	head := b.head(t, "c")
	for _, tt := range []struct {
		name        string
		index, part int32
		text        string
		output      conversation.OutputKind
		want        conversation.Kind
		field       string
	}{
		{"no such message", 9, 0, right, 0, conversation.MessageNotFound, ""},
		{"no such part", 0, 1, right, 0, conversation.InvalidField, "corrections[0].part_index"},
		{"blank", 0, 0, " \n", 0, conversation.InvalidField, "corrections[0].text"},
		{"JSON for a text", 0, 0, "{}", conversation.OutputJSON, conversation.InvalidField, "corrections[0].json"},
		{"media", 2, 1, right, 0, conversation.NotCorrectable, ""},
		{"a text without words", 2, 2, right, 0, conversation.NotCorrectable, ""},
		{"a plugin's", 2, 3, right, 0, conversation.NotCorrectable, ""},
		{"a call", 3, 0, right, 0, conversation.NotCorrectable, ""},
		{"a result of parts", 4, 0, right, 0, conversation.NotCorrectable, ""},
		{"a result without words", 5, 0, right, 0, conversation.NotCorrectable, ""},
		{"taken back", 6, 0, right, 0, conversation.NotCorrectable, ""},
	} {
		r := correction("c", tt.index, tt.part, tt.text)
		r.Parts[0].Output = tt.output
		_, err := b.Correct(ctx, r)
		if conversation.KindOf(err) != tt.want || violation(err) != tt.field {
			t.Errorf("%s: %v (%s)", tt.name, err, violation(err))
		}
	}
	twice := correction("c", 0, 0, right)
	twice.Parts = append(twice.Parts, twice.Parts[0])
	if _, err := b.Correct(ctx, twice); violation(err) != "corrections[1].part_index" {
		t.Errorf("one part twice: %v", err)
	}
	small := correction("c", 0, 0, right)
	small.MaxBytes, small.Size = 1, func(*engine.MessageInView) int { return 2 }
	_, err := b.Correct(ctx, small)
	expect(t, err, conversation.ReplyTooLarge)
	if now := b.head(t, "c"); now.Version != head.Version {
		t.Errorf("version %d after %d", now.Version, head.Version)
	}
}

// TestEngine_Correct_WhatLiesInAContent_IsRefused: otherwise searches and ranges would still find the wrong words.
func TestEngine_Correct_WhatLiesInAContent_IsRefused(t *testing.T) {
	b := newBench(1 << 20)
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ThresholdChars = ptr(int32(500)) })
	b.append(t, "c", user("go"), call("k"), result("k", wrong+words(4000)), user("and?"))
	_, err := b.Correct(ctx, correction("c", 2, 0, right))
	expect(t, err, conversation.NotCorrectable)
}

// TestEngine_Correct_Erased: corrections are erased with the original, including earlier ones. An erased original cannot be corrected.
func TestEngine_Correct_Erased(t *testing.T) {
	for _, size := range []int{4000, 40_000} {
		b := newEager()
		original := hiding(size)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", original, erasing(compacted(1, 100))), user("next"))
		b.turn(t, "c")
		b.correct(t, "c", 2, 0, long("other", size)+secret)
		now := long("third", size) + secret
		b.correct(t, "c", 2, 0, now)
		for range 4 {
			b.append(t, "c", answer("done"), user("next"))
			b.turn(t, "c")
		}
		wantShown(t, b.turn(t, "c"), 2, fmt.Sprintf("%s...\n\n[Compacted: first 100 of %d characters shown.]", now[:100], len(now)))
		b.wantErased(t, "c", 2, 0, original)
		_, err := b.Correct(ctx, correction("c", 2, 0, right))
		expect(t, err, conversation.OriginalErased)
	}
}

// TestEngine_Correct_Erased_ForgetsSummariesOfTheOldWords: a summary that was prepared before the correction is forgotten too.
func TestEngine_Correct_Erased_ForgetsSummariesOfTheOldWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 0)
		b := modelBench(t, m, nil)
		whole := long("result", 4000)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(summarized(1, 300))), user("next"))
		b.turn(t, "c")
		synctest.Wait()
		b.correct(t, "c", 2, 0, long("other", 4000))
		b.turn(t, "c")
		calls := len(m.calls())
		b.append(t, "c", call("k"), resultLiving("k", whole, summarized(0, 300)), user("again"))
		b.turn(t, "c")
		if n := len(m.calls()); n != calls+1 {
			t.Errorf("%d calls after %d: the summary of the old words was remembered", n, calls)
		}
	})
}

// TestEngine_Correct_Recorded: messages taken back by a rewind weigh what the record says, no matter to what they were corrected.
func TestEngine_Correct_Recorded(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("first"), answer("so"))
	m := b.head(t, "c").Tokens
	b.append(t, "c", user("next"))
	last := b.head(t, "c").Tokens - m
	b.correct(t, "c", 2, 0, words(500))
	r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 2})
	if err != nil || r.Events[0].Saved != last {
		t.Errorf("%+v, %v: %d tokens on record", r, err, last)
	}
}

func TestEngine_Correct_AtMostAThousand(t *testing.T) {
	testlane.OneCaller(t)
	b := newBench(0)
	b.append(t, "c", user("first"))
	for i := range 1000 {
		b.correct(t, "c", 0, 0, fmt.Sprint("words ", i))
	}
	_, err := b.Correct(ctx, correction("c", 0, 0, "more words"))
	expect(t, err, conversation.LimitExceeded)
}

// TestEngine_Correct_DissolvesSummaries: summaries made from the old words dissolve, earlier ones and messages are shown again, and
// windows are found anew. Later summaries know only the new words.
func TestEngine_Correct_DissolvesSummaries(t *testing.T) {
	for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
		b := summarizes(strategy)
		b.append(t, "c", user("Read the parts. You must never delete "+wrong+"."), user("Now begin."))
		b.append(t, "c", user("You must always keep /srv/"+wrong+"/first."), answer("Noted: "+wrong+"."), user("Begin."))
		b.worked(t, "c", 0, 150, 100, 8000)
		before := b.turn(t, "c", within(8000))
		if !strings.Contains(page(before), wrong) {
			t.Fatal("no summary tells of it")
		}
		var dissolved []int64
		var cost int64
		for index, text := range map[int32]string{0: "Read the parts.", 2: "You must always keep /srv/" + right + "/first.", 3: "Noted: " + right + "."} {
			r := b.correct(t, "c", index, 0, text)
			dissolved, cost = append(dissolved, r.Dissolved...), cost+r.RewriteTokens
		}
		if len(dissolved) == 0 || cost == 0 {
			t.Fatalf("strategy %d: nothing dissolved: %v, %d tokens", strategy, dissolved, cost)
		}
		b.wantForgotten(t, "c", 8000, 0, 2, 3)
		after := b.turn(t, "c", within(8000))
		if after.Prefix.BrokenBy != engine.BreakCorrected && len(summarizedIn(after)) == 0 {
			t.Errorf("prefix %+v", after.Prefix)
		}
		for i, r := range b.worked(t, "c", 150, 150, 100, 8000) {
			if r.Tokens.Total > r.Tokens.Budget {
				t.Fatalf("build %d: %d tokens", i, r.Tokens.Total)
			}
		}
		b.wantForgotten(t, "c", 8000, 0, 2, 3)
		b.rebuildsAll(t, "c", 302)
	}
}

// TestEngine_Correct_DissolvedShowsMessagesAgain: they are shown as far as there is room, which is all of them here.
func TestEngine_Correct_DissolvedShowsMessagesAgain(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.worked(t, "c", 0, 20, 100, 8000)
	if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: ptr(int32(4))}); err != nil {
		t.Fatal(err)
	}
	if r := b.turn(t, "c", within(8000)); len(r.Messages) > 8 {
		t.Fatalf("%d messages", len(r.Messages))
	}
	r := b.correct(t, "c", 10, 0, right)
	if after := b.turn(t, "c", within(8000)); len(r.Dissolved) != 1 || len(after.Messages) != 41 || after.Prefix.BrokenBy != engine.BreakCorrected {
		t.Errorf("%v dissolve, %d messages, %+v", r.Dissolved, len(after.Messages), after.Prefix)
	}
}

// TestEngine_Correct_DropsDrafts: a draft made from the old words is not published.
func TestEngine_Correct_DropsDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := beside(t, memory.New(memory.Options{}), 1, writes(gist, 5*time.Second), nil)
		b.append(t, "c", user("Read the parts."))
		b.nearlyFull(t, "c")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.correct(t, "c", b.head(t, "c").Messages-1, 0, "other words")
		if b.drafts(t, "c") == "" {
			t.Error("a draft of other messages is gone")
		}
		b.correct(t, "c", 2, 0, "other words")
		if left := b.drafts(t, "c"); left != "" {
			t.Errorf("there is still %s", abridged(left))
		}
	})
}

// TestEngine_Correct_WarmSearch: what is kept prepared for searching has the new words too.
func TestEngine_Correct_WarmSearch(t *testing.T) {
	b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.ContentCacheBytes = 64 << 20 })
	b.append(t, "c", user(wrong), answer("so"))
	for _, now := range []string{right, "third"} {
		b.found(t, "c", wrong)
		b.correct(t, "c", 0, 0, now)
		if old, found := b.found(t, "c", wrong), b.found(t, "c", now); len(old) > 0 || len(found) != 1 {
			t.Errorf("found in %v, the new words in %v", old, found)
		}
	}
	if found := b.found(t, "c", right); len(found) > 0 {
		t.Errorf("what was corrected again is found in %v", found)
	}
}

// TestEngine_Correct_WhatIsLeftOut_WeighsAsOnRecord: this also holds if the shown text weighs more than the recorded one.
func TestEngine_Correct_WhatIsLeftOut_WeighsAsOnRecord(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"))
	b.steps(t, "c", 20, 100)
	left := func() (before int64) {
		for _, d := range b.asked(t, "c", 1500, nil).Decisions {
			if d.Kind == conversation.DecisionLeftOut {
				before += d.Before
			}
		}
		return before
	}
	before := left()
	b.correct(t, "c", 40, 0, right+words(150))
	if after := left(); before == 0 || after != before {
		t.Errorf("%d tokens are left out, and %d before", after, before)
	}
}

// TestEngine_Correct_CutWords: a window that cuts the old words is found anew.
func TestEngine_Correct_CutWords(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user(strings.Repeat(wrong+" ", 900)))
	for i := range 10 {
		b.append(t, "c", answer(fmt.Sprint("step ", i, words(150))))
		b.asked(t, "c", 1500, nil)
	}
	if r := b.asked(t, "c", 1500, nil); !strings.Contains(string(r.MessagesJSON), "[Shortened to fit") {
		t.Fatalf("not cut: %s", r.MessagesJSON)
	}
	b.correct(t, "c", 0, 0, right)
	b.wantForgotten(t, "c", 1500, 0)
	if r := b.asked(t, "c", 1500, nil); !strings.Contains(string(r.MessagesJSON), right) || strings.Contains(string(r.MessagesJSON), "[Shortened to fit") {
		t.Errorf("%s", r.MessagesJSON)
	}
	b.rebuildsAll(t, "c", 12)
}

// TestEngine_Correct_ExportAndImport: a copy has the correction, and a broken one is refused.
func TestEngine_Correct_ExportAndImport(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user(wrong), call("k"), result("k", wrong), user("and?"))
	b.asked(t, "c", 10_000, nil)
	b.correct(t, "c", 0, 0, right)
	b.correct(t, "c", 2, 0, strings.Repeat(right, 5000))
	records := b.export(t, "c")
	if _, err := b.imports("copy", records); err != nil {
		t.Fatal(err, causeOf(err))
	}
	b.wantForgotten(t, "copy", 100_000, 0, 2)
	b.rebuildsAll(t, "copy", 1)
	for i, change := range []func(*conversation.Edit){
		func(e *conversation.Edit) { e.Parts = nil },
		func(e *conversation.Edit) { e.Parts[0].Level = conversation.Cleared },
		func(e *conversation.Edit) { e.Parts[0].Part = -1 },
		func(e *conversation.Edit) { e.Parts[0].Shown = conversation.Part{Kind: conversation.PartReasoning} },
		func(e *conversation.Edit) { e.Range.End++ },
	} {
		broken := b.export(t, "c")
		for j := range broken {
			if e := broken[j].Edit; e != nil && e.Kind == conversation.EditCorrect {
				change(e)
				break
			}
		}
		if _, err := b.imports(fmt.Sprint("broken", i), broken); conversation.KindOf(err) != conversation.InvalidField {
			t.Errorf("change %d: %v", i, err)
		}
	}
}

package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_Step_NotCommitted_LinesAreForgotten: lines read from messages that were never committed are not mistaken for lines of the
// messages that take their places, neither in referring nor in referred texts.
func TestEngine_Step_NotCommitted_LinesAreForgotten(t *testing.T) {
	t.Parallel()
	dry := func(r *engine.StepRequest) { r.Build.DryRun, r.Build.Budget = true, budgetOf(20_000) }
	b := deduplicates(t, nil)
	b.stepped(t, "c", dry, call("b"), result("b", "head\n"+file(11, 30)+"\ntail"))
	r := b.stepped(t, "c", func(r *engine.StepRequest) { r.Build.Budget = budgetOf(20_000) },
		call("b"), result("b", "what is short\nand repeats nothing\nof what was there"))
	if context := string(r.MessagesJSON); !strings.Contains(context, `and repeats nothing\nof`) || strings.Contains(context, "lines as in") {
		t.Errorf("shown: %s", context)
	}
	b.stepped(t, "c", dry, call("d"), result("d", file(101, 130)))
	b.append(t, "c", call("d"), result("d", "head\n"+file(201, 230)))
	b.append(t, "c", call("e"), result("e", file(201, 230)))
	if context := string(b.build(t, "c", conversation.FormatOpenAIChat, 20_000).MessagesJSON); !strings.Contains(context, "[30 lines as in message 6, lines 2-31") {
		t.Errorf("named: %s", context)
	}
}

// TestEngine_Import_AnyCopies_BuildsGoOn: an import may refer to lines that a text does not have.
func TestEngine_Import_AnyCopies_BuildsGoOn(t *testing.T) {
	t.Parallel()
	origin := deduplicates(t, nil)
	again(origin, t)
	origin.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	for name, copies := range map[string][]conversation.Copy{
		"behind the text":     {{First: 1000, End: 2000, Message: 2, At: 10}},
		"past its end":        {{First: 1, End: math.MaxInt32, Message: 2, At: 10}},
		"past the copy's end": {{First: 1, End: 21, Message: 2, At: math.MaxInt32}},
		"of itself":           {{First: 1, End: 21, Message: 4, At: 1}},
		"of a call":           {{First: 1, End: 21, Message: 3, At: 1}},
		"in another order":    {{First: 11, End: 21, Message: 2, At: 1}, {First: 1, End: 11, Message: 2, At: 1}},
	} {
		records := origin.export(t, "c")
		for i := range records {
			if e := records[i].Edit; e != nil && len(e.Parts) > 0 && len(e.Parts[0].Copies) > 0 {
				e.Parts = []conversation.PartEdit{e.Parts[0]}
				e.Parts[0].Copies = copies
			}
		}
		b := listBench(nil)
		if _, err := b.imports("c", records); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b.append(t, "c", call("x"), result("x", "head\n"+file(5, 25)))
		if context := string(b.build(t, "c", conversation.FormatOpenAIChat, 20_000).MessagesJSON); !strings.Contains(context, "[21 lines as in message 2, lines 5-25") {
			t.Errorf("%s: %s", name, context)
		}
	}
}

// hostileReads are results of a tool, each read behind a build of the one before.
func hostileReads() map[string][]string {
	long := "a line that is long enough to be named by another, one of three\nit is the second of them\nand the third\n"
	var between, of strings.Builder
	for i := range 8000 {
		line := fmt.Sprintf("line %d of a text that is long enough to be named\nthe second line of %d\nthe third line of %d\n", i, i, i)
		fmt.Fprint(&between, long, line)
		fmt.Fprint(&of, "else ", i, "\n", line)
	}
	return map[string][]string{
		"a short run between named ones":    {long, strings.Repeat("a\nb\nc\n"+long, 28_000)},
		"many lines of what names many":     {long, between.String(), of.String()},
		"one line, again and again":         {strings.Repeat("x\n", 200_000), strings.Repeat("x\n", 200_000)},
		"thousands of lines in other order": {of.String(), between.String()},
	}
}

// TestEngine_Build_RepeatedLines_HostileResultsAreQuick: the time of a build is linear in the length of results, whatever they contain.
func TestEngine_Build_RepeatedLines_HostileResultsAreQuick(t *testing.T) {
	t.Parallel()
	for name, texts := range hostileReads() {
		f := newFaulty()
		read := 0
		f.read = func(q store.Query) error { read += len(q.Contents); return nil }
		b := newBenchWith(f, func(o *engine.Options) { o.CacheBytes = 1 << 24 })
		if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{
			Policy: conversation.Policy{Deduplication: conversation.DeduplicationPolicy{On: ptr(true)}}, Counter: "chars4",
		}}); err != nil {
			t.Fatal(err)
		}
		b.append(t, "c", user("go"))
		begun := time.Now()
		for i, s := range texts {
			id := fmt.Sprint("k", i)
			b.append(t, "c", call(id), result(id, s))
			b.build(t, "c", conversation.FormatOpenAIChat, 2_000_000)
		}
		if took := time.Since(begun); took > testlane.Slack(5*time.Second) { // about a tenth of a second; a minute, where it is not linear
			t.Errorf("%s: %v", name, took)
		}
		if read > 8*len(texts) {
			t.Errorf("%s: %d contents read", name, read)
		}
	}
}

// TestEngine_Build_RepeatedLines_OfACopyThatLapses: many results refer to one that was restored some time ago, and is shown until the
// window's start moves. Their growth is counted in advance, so the start moves no further than it must.
func TestEngine_Build_RepeatedLines_OfACopyThatLapses(t *testing.T) {
	t.Parallel()
	b := deduplicates(t, nil)
	b.append(t, "c", call("b"), result("b", file(101, 400)))
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	b.append(t, "c", answer(words(7000)), user("on"), answer(words(7000)), user("on"), answer(words(5000)), user("on"))
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(4))}); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		id := fmt.Sprint("k", i)
		b.append(t, "c", call(id), result(id, "head\n"+file(101+i, 350+i)), user(words(100)))
		b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	}
	b.append(t, "c", answer("so"), user(words(6000)))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	context := string(r.MessagesJSON)
	if n := strings.Count(context, "lines as in message 4,"); n > 0 || strings.Count(context, `"head\n`) < 1 || r.Tokens.Total > 20_000 {
		t.Errorf("%d lines name the copy, %d results are left, %d tokens", n, strings.Count(context, `"head\n`), r.Tokens.Total)
	}
}

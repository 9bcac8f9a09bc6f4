package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// file is lines from one to another of a file, of about ten tokens each.
func file(from, to int) string {
	var lines []string
	for n := from; n <= to; n++ {
		lines = append(lines, fmt.Sprintf("line %03d of the file in question here", n))
	}
	return strings.Join(lines, "\n")
}

// deduplicates is a bench with a conversation that deduplicates, in which a file was read once, and a build has shown it.
func deduplicates(t *testing.T, change func(*conversation.Policy)) *bench {
	t.Helper()
	b := listBench(nil)
	p := conversation.Policy{Deduplication: conversation.DeduplicationPolicy{On: ptr(true)}}
	if change != nil {
		change(&p)
	}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: p, Counter: "chars4"}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("go"), call("a"), result("a", file(1, 40)))
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	return b
}

const repeated = "[20 lines as in message 2, lines 11-30: line 011 of the file in question.... Full text: expand_message(4)]"

// wantNamed requires that message 4 refers to its copy, or shows its lines.
func wantNamed(t *testing.T, r *engine.BuildResult, named bool) {
	t.Helper()
	context := string(r.MessagesJSON)
	if strings.Contains(context, repeated) != named || strings.Contains(context, `head\n`+strings.ReplaceAll(file(11, 30), "\n", `\n`)+`\ntail`) == named {
		t.Fatalf("named: want %t, have\n%s", named, context)
	}
}

// again reads a part of the file once more, between lines of its own.
func again(b *bench, t *testing.T) {
	b.append(t, "c", call("b"), result("b", "head\n"+file(11, 30)+"\ntail"))
}

func TestEngine_Build_RepeatedLines_AreNamed(t *testing.T) {
	b := deduplicates(t, nil)
	again(b, t)
	r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	wantNamed(t, r, true)
	whole := int64(len("head\n"+file(11, 30)+"\ntail")+3) / 4
	shown := int64(len("head\n"+repeated+"\ntail")+3) / 4
	want := conversation.Decision{
		First: 4, Last: 4, Kind: conversation.DecisionDeduplicated, Reason: conversation.ReasonDuplicateLines, EditSeq: 1,
	}
	got := r.Decisions[0]
	if got.Before-got.After != whole-shown || r.Tokens.SavedByDeduplication != whole-shown {
		t.Errorf("%d tokens saved, decision %+v, want %d", r.Tokens.SavedByDeduplication, got, whole-shown)
	}
	if got.Before, got.After = 0, 0; len(r.Decisions) != 1 || got != want {
		t.Errorf("decisions %+v", r.Decisions)
	}
	if len(r.Events) != 1 || r.Events[0].Type != conversation.EventDeduplicated || !r.Events[0].Expandable || r.Events[0].Saved != whole-shown {
		t.Errorf("events %+v", r.Events)
	}
	if next := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); len(next.Events) > 0 || next.SHA256 != r.SHA256 {
		t.Error("it is not frozen")
	}
	if m, err := b.Manifest(ctx, keyOf("c"), r.Manifest.Seq, conversation.FormatUnspecified); err != nil || m.SHA256 != r.SHA256 {
		t.Errorf("its manifest: %v", err)
	}
}

// TestEngine_Build_RepeatedLines_ComeBack: the lines come back byte for byte when their copy is no longer shown, for whatever reason.
func TestEngine_Build_RepeatedLines_ComeBack(t *testing.T) {
	for name, gone := range map[string]func(*bench, *testing.T) *engine.BuildResult{
		"another budget": func(b *bench, t *testing.T) *engine.BuildResult {
			return b.build(t, "c", conversation.FormatOpenAIChat, 430)
		},
		"another format": func(b *bench, t *testing.T) *engine.BuildResult {
			b.build(t, "c", conversation.FormatAnthropic, 430)
			return b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
		},
		"expiry": func(b *bench, t *testing.T) *engine.BuildResult {
			turns := int32(1)
			return b.asked(t, "c", 20_000, func(r *engine.BuildRequest) {
				r.PolicyOverride.Rewrite.Mode = conversation.RewriteEager
				r.PolicyOverride.Expiration.Results = conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationCompact, CompactLength: ptr(int32(100))}
			})
		},
		"pruning": func(b *bench, t *testing.T) *engine.BuildResult {
			return b.asked(t, "c", 20_000, func(r *engine.BuildRequest) {
				r.PolicyOverride.Pruning = conversation.PruningPolicy{Off: ptr(false), ProtectTokens: ptr(int32(20)), MinimumTokens: ptr(int32(1))}
			})
		},
		"a correction": func(b *bench, t *testing.T) *engine.BuildResult {
			b.correct(t, "c", 2, 0, file(1, 20))
			return b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
		},
		"a summary": func(b *bench, t *testing.T) *engine.BuildResult {
			if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: ptr(int32(3)), Strategy: conversation.StrategySummarize}); err != nil {
				t.Fatal(err)
			}
			return b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
		},
		"an expansion": func(b *bench, t *testing.T) *engine.BuildResult {
			if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(4))}); err != nil {
				t.Fatal(err)
			}
			return b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
		},
		"a rewind": func(b *bench, t *testing.T) *engine.BuildResult {
			b.edit(t, "c", hide(1, 3))
			return b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := deduplicates(t, nil)
			again(b, t)
			wantNamed(t, b.build(t, "c", conversation.FormatOpenAIChat, 20_000), true)
			b.append(t, "c", answer("done"))
			r := gone(b, t)
			wantNamed(t, r, false)
			brought := func(e conversation.Event) bool { return e.Type == conversation.EventCopyReturned }
			if back := slices.ContainsFunc(r.Events, brought); back != (name != "an expansion" && name != "another format") {
				t.Errorf("events %+v", r.Events)
			}
			again, err := b.Manifest(ctx, keyOf("c"), r.Manifest.Seq, conversation.FormatUnspecified)
			if err != nil || again.SHA256 != r.SHA256 {
				t.Errorf("its manifest: %v", err)
			}
		})
	}
}

// TestEngine_Build_RepeatedLines_StayWhere: lines are not left out if nobody asked for it or it gains nothing.
func TestEngine_Build_RepeatedLines_StayWhere(t *testing.T) {
	read := func(change func(*conversation.Message)) []conversation.Message {
		c, r := call("b"), result("b", "head\n"+file(11, 30)+"\ntail")
		c.Parts[0].Call.Name = "read"
		change(&r)
		return []conversation.Message{c, r}
	}
	for name, tt := range map[string]struct {
		policy   func(*conversation.Policy)
		messages []conversation.Message
	}{
		"off":         {policy: func(p *conversation.Policy) { p.Deduplication = conversation.DeduplicationPolicy{} }},
		"off by tool": {policy: func(p *conversation.Policy) { p.Deduplication.ExcludedTools = &[]string{"read"} }},
		"more lines":  {policy: func(p *conversation.Policy) { p.Deduplication.MinLines = ptr(int32(21)) }},
		"pinned":      {messages: read(func(m *conversation.Message) { m.Pinned = true })},
		"recalled":    {messages: read(func(m *conversation.Message) { m.Parts[0].Result.Recalled = &conversation.Recalled{Index: 2} })},
		"a recall tool": {messages: func() []conversation.Message {
			m := read(func(*conversation.Message) {})
			m[0].Parts[0].Call.Name = "expand_message"
			m[0].Parts[0].Call.Arguments.Inline = `{"id":"2"}`
			return m
		}()},
		"the user's":  {messages: []conversation.Message{user("head\n" + file(11, 30) + "\ntail")}},
		"the agent's": {messages: []conversation.Message{answer("head\n" + file(11, 30) + "\ntail")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := deduplicates(t, tt.policy)
			if tt.messages == nil {
				tt.messages = read(func(*conversation.Message) {})
			}
			b.append(t, "c", tt.messages...)
			if r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); len(r.Events) > 0 {
				t.Errorf("events %+v", r.Events)
			}
		})
	}
	t.Run("a smaller budget", func(t *testing.T) {
		b := deduplicates(t, nil)
		again(b, t)
		if r := b.build(t, "c", conversation.FormatOpenAIChat, 10_000); len(r.Events) > 0 {
			t.Errorf("events %+v", r.Events)
		}
		wantNamed(t, b.build(t, "c", conversation.FormatOpenAIChat, 20_000), false) // it was seen
	})
	t.Run("JSON", func(t *testing.T) {
		b := deduplicates(t, nil)
		json := "{\n" + strings.Repeat("\"a key of the object\": \"a value of the object\",\n", 30) + "\"b\": 1}"
		b.append(t, "c", call("b"), result("b", json), call("d"), result("d", json))
		if r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); len(r.Events) > 0 {
			t.Errorf("events %+v", r.Events)
		}
	})
}

// TestEngine_Build_RepeatedLines_InOneUnit: a second result refers to the first, a result may refer to earlier lines of itself, and an
// action's text counts as a result.
func TestEngine_Build_RepeatedLines_InOneUnit(t *testing.T) {
	b := deduplicates(t, nil)
	act := user(file(5, 25))
	act.Type = conversation.TypeActionResult
	b.append(t, "c", call("b", "d"), result("b", file(101, 120)), result("d", file(101, 120)+"\n-\n"+file(201, 220)+"\n=\n"+file(201, 220)), act)
	r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	context := string(r.MessagesJSON)
	for _, want := range []string{
		"[20 lines as in message 4, lines 1-20: line 101 of the file in question.... Full text: expand_message(5)]",
		"[20 lines as in message 5, lines 22-41: line 201 of the file in question.... Full text: expand_message(5)]",
		"[21 lines as in message 2, lines 5-25: line 005 of the file in question.... Full text: expand_message(6)]",
	} {
		if !strings.Contains(context, want) {
			t.Errorf("%s is not in\n%s", want, context)
		}
	}
	if len(r.Events) != 2 {
		t.Errorf("events %+v", r.Events)
	}
}

// TestEngine_Build_RepeatedLines_AreNotFedBackAsNew: a whole list that contains the references is recognized as the record.
func TestEngine_Build_RepeatedLines_AreNotFedBackAsNew(t *testing.T) {
	b := deduplicates(t, nil)
	again(b, t)
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	var list []string
	for _, m := range []conversation.Message{
		user("go"), call("a"), result("a", file(1, 40)), call("b"), result("b", "head\n"+repeated+"\ntail"), answer("done"),
	} {
		list = append(list, chatElements(m)...)
	}
	got, err := b.appendList(t, conversation.FormatOpenAIChat, list)
	if err != nil || b.head(t, "c").Messages != 6 {
		t.Fatalf("%+v, %v: %d messages", got, err, b.head(t, "c").Messages)
	}
}

// TestEngine_Build_RepeatedLines_CopyErased: text that was erased lives on in a result that referred to it, because these are that result's
// own words.
func TestEngine_Build_RepeatedLines_CopyErased(t *testing.T) {
	b := deduplicates(t, nil)
	turns, preserve := int32(3), false
	first := result("e", file(101, 140))
	first.Parts[0].Result.Expiration = &conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationRemove, PreserveOriginal: &preserve}
	b.append(t, "c", call("e"), first)
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	b.append(t, "c", call("f"), result("f", file(111, 130)))
	if r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); !strings.Contains(string(r.MessagesJSON), "[20 lines as in message 4, lines 11-30") {
		t.Fatalf("%s", r.MessagesJSON)
	}
	b.append(t, "c", answer("done"), user("on"))
	var r *engine.BuildResult
	for range turns {
		r = b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	}
	if context := string(r.MessagesJSON); strings.Contains(context, "lines as in message") || !strings.Contains(context, strings.ReplaceAll(file(111, 130), "\n", `\n`)) {
		t.Errorf("%s", context)
	}
}

// TestEngine_Build_RepeatedLines_InAWindowOpenedAfresh: a larger budget shows messages that a summary covers in the smaller one. The lines
// they refer to may lie before its start, and come back there.
func TestEngine_Build_RepeatedLines_InAWindowOpenedAfresh(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	p := conversation.Policy{
		Deduplication: conversation.DeduplicationPolicy{On: ptr(true)}, Pruning: conversation.PruningPolicy{Off: ptr(true)},
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize},
	}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: p, Counter: "chars4"}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("go"), answer(words(15_000)), user("go"), answer(words(15_000)), user("read"), call("a"), result("a", file(1, 100)))
	b.build(t, "c", conversation.FormatOpenAIChat, 20_000)
	b.append(t, "c", call("b"), result("b", "head\n"+file(11, 30)+"\ntail"))
	if r := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); !strings.Contains(string(r.MessagesJSON), "[20 lines as in message 6, lines 11-30") {
		t.Fatalf("nothing is named in %s", r.MessagesJSON)
	}
	b.append(t, "c", answer(words(17_200)), user("on"), answer(words(500)), user("on"), answer(words(500)), user("on"))
	if small := b.build(t, "c", conversation.FormatOpenAIChat, 20_000); small.Compaction.Summary == 0 || shows(small, "head") {
		t.Fatal("no summary stands for the lines")
	}
	r := b.build(t, "c", conversation.FormatOpenAIChat, 40_000)
	if r.Manifest.Window.Start != 7 || !strings.Contains(string(r.MessagesJSON), `head\n`+strings.ReplaceAll(file(11, 30), "\n", `\n`)+`\ntail`) {
		t.Errorf("window %+v shows %s", r.Manifest.Window, r.MessagesJSON)
	}
	if len(r.Events) != 1 || r.Events[0].Type != conversation.EventCopyReturned {
		t.Errorf("events %+v", r.Events)
	}
}

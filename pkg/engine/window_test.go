package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_Build_WindowsPerBudget: the start is remembered for the last 4 budgets and never moves back within one
// (behaviour §8).
func TestEngine_Build_WindowsPerBudget(t *testing.T) {
	for _, cache := range []int64{0, 1 << 20} {
		b := newBench(cache)
		b.append(t, "c", user("go"))
		budgets := []int32{400, 900, 1600, 3000}
		starts := map[int32]int32{}
		for step := range 60 {
			id := fmt.Sprint("k", step)
			b.append(t, "c", call(id), result(id, words(40)))
			for _, budget := range budgets {
				r := b.build(t, "c", conversation.FormatOpenAIChat, budget)
				if start := r.Manifest.Window.Start; start < starts[budget] {
					t.Fatalf("cache %d, step %d: budget %d moved from %d back to %d", cache, step, budget, starts[budget], start)
				} else {
					starts[budget] = start
				}
				if r.Tokens.Total > int64(budget) || r.Tokens.Budget != int64(budget) {
					t.Fatalf("%+v", r.Tokens)
				}
			}
		}
		if starts[400] <= starts[900] || starts[900] <= starts[1600] || starts[1600] <= starts[3000] || starts[3000] == 0 {
			t.Errorf("starts %v", starts)
		}
	}
}

// TestEngine_Build_BudgetInUseIsNotForgotten: a budget that is used all the time stays among the last 4, however many others come and go.
func TestEngine_Build_BudgetInUseIsNotForgotten(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"))
	b.steps(t, "c", 30, 40)
	want := b.build(t, "c", conversation.FormatOpenAIChat, 1000).Manifest.Window
	b.append(t, "c", user("a little more"))
	for i := range int32(6) {
		b.build(t, "c", conversation.FormatOpenAIChat, 2000+i)
		if got := b.build(t, "c", conversation.FormatOpenAIChat, 1000).Manifest.Window; !got.Equal(&want) {
			t.Fatalf("after %d other budgets: window %+v, want %+v", i+1, got, want)
		}
	}
}

// TestEngine_Build_PrefixPerCause: the answer says how many leading blocks are the previous build's, and what broke them
// (behaviour §8).
func TestEngine_Build_PrefixPerCause(t *testing.T) {
	base := func(t *testing.T, cache int64) *bench {
		b := newBench(cache)
		b.append(t, "c", text(conversation.RoleSystem, "s"), user("go"))
		b.steps(t, "c", 3, 40)
		b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic })
		return b
	}
	for _, tt := range []struct {
		name   string
		then   func(*testing.T, *bench)
		budget int32
		change func(*engine.BuildRequest)
		want   engine.Break
	}{
		{"nothing new", nil, 1000, nil, engine.BreakNone},
		{"more", func(t *testing.T, b *bench) { b.append(t, "c", call("x"), result("x", "y")) }, 1000, nil, engine.BreakNone},
		{"a first build in a format", nil, 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatGemini }, engine.BreakFirstBuild},
		{"the window moved", func(t *testing.T, b *bench) { b.steps(t, "c", 30, 40) }, 1000, nil, engine.BreakWindowMoved},
		{"another budget", nil, 130, nil, engine.BreakOtherCoordinates},
		{"the end was replaced", func(t *testing.T, b *bench) {
			b.append(t, "c", answer("done"))
			b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic })
			b.append(t, "c", user("more"))
		}, 1000, nil, engine.BreakTailReplaced},
		{"hidden", func(t *testing.T, b *bench) { b.edit(t, "c", hide(2, 4)) }, 1000, nil, engine.BreakRewound},
	} {
		for _, cache := range []int64{0, 1 << 20} {
			b := base(t, cache)
			if tt.then != nil {
				tt.then(t, b)
			}
			r := b.asked(t, "c", tt.budget, func(r *engine.BuildRequest) {
				r.Format = conversation.FormatAnthropic
				if tt.change != nil {
					tt.change(r)
				}
			})
			p := r.Prefix
			if p.BrokenBy != tt.want || (p.BrokenBy == engine.BreakNone) != (p.StableBlocks == p.PreviousBlocks) && p.BrokenBy != engine.BreakFirstBuild ||
				p.FixedInputChanged {
				t.Errorf("%s, cache %d: %+v, want cause %d", tt.name, cache, p, tt.want)
			}
			if p.StableTokens > r.Tokens.Messages || (p.StableBlocks > 0) != (p.StableTokens > 0) {
				t.Errorf("%s: %d stable tokens of %d", tt.name, p.StableTokens, r.Tokens.Messages)
			}
		}
	}
}

func TestEngine_Build_FixedInputCountedAndHashed(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("u"))
	fixed := func(in engine.FixedInput) *engine.BuildResult {
		return b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Fixed = in })
	}
	prompt := engine.FixedInput{SystemPrompt: words(10), ToolsJSON: words(20)}
	for _, tt := range []struct {
		name    string
		in      engine.FixedInput
		tokens  int64
		changed bool
	}{
		{"nothing", engine.FixedInput{}, 0, false},
		{"prompt and tools", prompt, 4 + 10 + 20, true},
		{"the same", prompt, 34, false},
		{"moved from one to the other", engine.FixedInput{SystemPrompt: words(10) + words(20)}, 34, true},
		{"tools alone", engine.FixedInput{ToolsJSON: words(30)}, 30, true},
		{"counted by the caller", engine.FixedInput{ToolsJSON: words(30), Tokens: ptr(int32(55))}, 55, true},
		{"a count alone", engine.FixedInput{Tokens: ptr(int32(55))}, 55, true},
	} {
		r := fixed(tt.in)
		if r.Tokens.Fixed != tt.tokens || r.Manifest.FixedTokens != tt.tokens || r.Prefix.FixedInputChanged != tt.changed ||
			r.Tokens.Total != r.Tokens.Fixed+r.Tokens.Messages {
			t.Errorf("%s: %+v, %+v", tt.name, r.Tokens, r.Prefix)
		}
		if strings.Contains(string(r.MessagesJSON)+string(r.System), "wordword") {
			t.Errorf("%s: it is rendered", tt.name)
		}
	}
	if h := b.head(t, "c"); h.Tokens != 5 {
		t.Errorf("%d tokens on record: fixed input is never stored", h.Tokens)
	}
}

// TestEngine_Build_Breakpoints: they follow the system messages, the block before the tail, and the last recorded block.
func TestEngine_Build_Breakpoints(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", text(conversation.RoleSystem, "s1"), text(conversation.RoleSystem, "s2"), pinned(user("p")), answer("a"))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if got := fmt.Sprint(r.Breakpoints); got != "[1 3]" {
		t.Errorf("breakpoints %s of %d blocks", got, r.Blocks)
	}
	b.steps(t, "c", 40, 40)
	r = b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if got := fmt.Sprint(r.Breakpoints); got != fmt.Sprintf("[1 2 %d]", r.Blocks-1) {
		t.Errorf("breakpoints %s of %d blocks", got, r.Blocks)
	}
	b.append(t, "c", answer("the end"))
	r = b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic })
	if last := r.Breakpoints[len(r.Breakpoints)-1]; last != r.Blocks-2 {
		t.Errorf("breakpoints %v of %d blocks, of which the last is made up", r.Breakpoints, r.Blocks)
	}
}

// TestEngine_Build_DecisionsAddUp: every recorded message is shown, or one decision says that it is before the window (behaviour §4).
func TestEngine_Build_DecisionsAddUp(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleSystem, "s"), pinned(user("p")), user("q"))
	for step := range 40 {
		id := fmt.Sprint("k", step)
		b.append(t, "c", call(id), result(id, words(30+step%7*60)))
		r := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
		saved, left := int64(0), int64(0)
		for _, d := range r.Decisions {
			switch d.Kind {
			case conversation.DecisionClipped:
				saved += d.Before - d.After
				if d.EditSeq == 0 || d.Reason == conversation.ReasonUnspecified || d.First != d.Last {
					t.Errorf("step %d: %+v", step, d)
				}
			case conversation.DecisionLeftOut:
				left += d.Before
				if d.First != 1 || d.Last != r.Manifest.Window.Start-1 || d.After != 0 {
					t.Errorf("step %d: %+v with window %+v", step, d, r.Manifest.Window)
				}
			}
		}
		recorded := b.head(t, "c").Tokens
		if saved != r.Tokens.SavedByClipping || left != r.Tokens.SavedByFit || recorded-saved-left != r.Tokens.Messages {
			t.Fatalf("step %d: of %d, %d clipped and %d left out, %+v", step, recorded, saved, left, r.Tokens)
		}
		if (left > 0) != (r.Manifest.Window.Start > 1) {
			t.Errorf("step %d: window %+v, left out %d", step, r.Manifest.Window, left)
		}
	}
}

// TestEngine_Build_WarmIsCold: a window in memory gives the same answers as a newly loaded one, also after edits by others.
func TestEngine_Build_WarmIsCold(t *testing.T) {
	warm := newBench(1 << 20)
	cold := newBenchOn(warm.store, 0)
	warm.append(t, "c", text(conversation.RoleSystem, "s"), user("go"))
	for step := range 40 {
		id := fmt.Sprint("k", step)
		warm.append(t, "c", call(id), result(id, words(60)), user(fmt.Sprint("u", step)))
		if step%9 == 5 {
			last := warm.head(t, "c").Messages
			warm.edit(t, "c", hide(last-4, last-1), conversation.Edit{
				Kind: conversation.EditRemove, Range: conversation.Range{First: last - 8, End: last - 4}, Reason: conversation.ReasonBeforeWindow,
			})
		}
		for _, budget := range []int32{500, 1500} {
			a := cold.asked(t, "c", budget, func(r *engine.BuildRequest) { r.DryRun = true })
			b := warm.build(t, "c", conversation.FormatOpenAIChat, budget)
			if a.SHA256 != b.SHA256 || a.Prefix != b.Prefix || fmt.Sprint(a.Decisions) != fmt.Sprint(b.Decisions) || a.Tokens != b.Tokens {
				t.Fatalf("step %d, budget %d:\ncold %s %+v\nwarm %s %+v", step, budget, a.MessagesJSON, a.Prefix, b.MessagesJSON, b.Prefix)
			}
		}
	}
	warm.rebuildsAll(t, "c", 80)
}

// TestEngine_Build_WarmWindowsAreBounded: windows that do not fit, or were not used for a while, are dropped. Only the number of reads
// shows it.
func TestEngine_Build_WarmWindowsAreBounded(t *testing.T) {
	f := newFaulty()
	reads := func(b *bench, id string) int {
		f.reads = 0
		b.build(t, id, conversation.FormatOpenAIChat, 100_000)
		return f.reads
	}
	b := newBenchOn(f, 50_000)
	for _, id := range []string{"a", "b", "c"} {
		b.append(t, id, user(words(2000)))
		b.build(t, id, conversation.FormatOpenAIChat, 100_000)
	}
	cold, warm := reads(b, "a"), reads(b, "a")
	if warm >= cold {
		t.Errorf("the least recently used of three needs %d reads, the most recent %d", cold, warm)
	}
	b.now = b.now.Add(5 * 60 * 1e9)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if idle := reads(b, "a"); idle <= warm {
		t.Errorf("after five minutes without a build: %d reads, warm %d", idle, warm)
	}
}

// TestEngine_Build_CutShort_LeavesNoGap: after a failing read ends a build at any point, later builds with the same window miss nothing.
func TestEngine_Build_CutShort_LeavesNoGap(t *testing.T) {
	for fail := 1; fail < 12; fail++ {
		f := newFaulty()
		b := newBenchOn(f, 1<<20)
		for i := range 300 {
			b.append(t, "c", user(fmt.Sprint("message ", i)))
		}
		b.append(t, "c", call("a"), result("a", words(2000)))
		f.reads, f.read = 0, func(store.Query) error {
			if f.reads == fail {
				return context.Canceled
			}
			return nil
		}
		_, _ = b.ask("c", 1000, nil)
		f.read = nil
		b.append(t, "c", user("one more"), user("and another"))
		dry := func(r *engine.BuildRequest) { r.DryRun = true }
		got, err := b.ask("c", 1000, dry)
		if err != nil {
			t.Fatal(err)
		}
		want, err := newBenchOn(f.Store, 0).ask("c", 1000, dry)
		if err != nil || got.SHA256 != want.SHA256 {
			t.Errorf("read %d failed: the warm window builds another context (%v)", fail, err)
		}
	}
}

// TestEngine_Build_Refused_LeavesTheWindowWarm: calls for another actor, and calls whose read fails, do not drop the window. The window of
// a conversation that is gone is not kept.
func TestEngine_Build_Refused_LeavesTheWindowWarm(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	b := newBenchOn(f, 1<<20)
	alice, bob := engine.SpeakingFor(ctx, []string{"alice"}), engine.SpeakingFor(ctx, []string{"bob"})
	if _, err := b.Append(alice, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("x")}}); err != nil {
		t.Fatal(err)
	}
	build := func(c context.Context) error {
		_, err := b.Build(c, engine.BuildRequest{Key: keyOf("c"), Format: conversation.FormatNeutral})
		return err
	}
	warm := func(why string) {
		t.Helper()
		if err := build(alice); err != nil || b.Stats().Windows.Bytes == 0 {
			t.Fatalf("%s: a build (%v) leaves %+v", why, err, b.Stats().Windows)
		}
	}
	warm("at first")
	before := b.Stats().Windows
	expect(t, build(bob), conversation.ConversationNotFound)
	if now := b.Stats().Windows; now.Bytes != before.Bytes || now.Hits != before.Hits {
		t.Errorf("another actor's call changes %+v to %+v", before, now)
	}
	for _, failure := range []error{store.ErrUnavailable, context.Canceled} {
		f.read = func(store.Query) error { return failure }
		if err := build(alice); err == nil {
			t.Fatal("a build succeeds whose reads fail")
		}
		f.read = nil
		if now := b.Stats().Windows; now.Bytes != before.Bytes {
			t.Errorf("after %v, %d bytes of %d are warm", failure, now.Bytes, before.Bytes)
		}
	}
	warm("again")
	if hits := b.Stats().Windows.Hits; hits != before.Hits+3 {
		t.Errorf("%d hits, want %d", hits, before.Hits+3)
	}
	f.read = func(store.Query) error { return store.ErrNotFound }
	if err := build(alice); err == nil || b.Stats().Windows.Bytes != 0 {
		t.Errorf("of what is gone (%v), %d bytes are kept", err, b.Stats().Windows.Bytes)
	}
}

// TestEngine_Delete_WarmWindow_IsLetGo: nothing of a deleted conversation stays in memory.
func TestEngine_Delete_WarmWindow_IsLetGo(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 20)
	b.append(t, "c", user("x"))
	if b.build(t, "c", conversation.FormatNeutral, 1000); b.Stats().Windows.Bytes == 0 {
		t.Fatal("the window is not warm")
	}
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	if kept := b.Stats().Windows.Bytes; kept != 0 {
		t.Errorf("%d bytes are kept", kept)
	}
}

package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Build_Turns checks builds against behaviour §3.1.
func TestEngine_Build_Turns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		current int32
		same    bool
		turn    *int32
		want    int32
		refused conversation.Kind
	}{
		{"the first", 0, false, nil, 1, ""},
		{"the next", 4, false, nil, 5, ""},
		{"the same", 4, true, nil, 4, ""},
		{"the same, before any build", 0, true, nil, 1, ""},
		{"by number: the current one", 4, false, ptr(int32(4)), 4, ""},
		{"by number: the next one", 4, false, ptr(int32(5)), 5, ""},
		{"by number: far ahead", 4, false, ptr(int32(1004)), 1004, ""},
		{"by number: too far ahead", 4, false, ptr(int32(1005)), 0, conversation.InvalidField},
		{"by number: passed", 4, false, ptr(int32(3)), 0, conversation.TurnPassed},
		{"by number: before all", 0, false, ptr(int32(0)), 0, conversation.TurnPassed},
		{"by number: as far as numbers go", 4, false, ptr(int32(1<<31 - 1)), 0, conversation.InvalidField},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(1 << 20)
			b.append(t, "c", user("u"))
			if tt.current > 0 {
				b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Turn = &tt.current })
			}
			before := b.head(t, "c")
			r, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.Turn, r.SameTurn = tt.turn, tt.same })
			after := b.head(t, "c")
			if tt.refused != "" {
				if expect(t, err, tt.refused); after.Version != before.Version || after.Turn != tt.current {
					t.Errorf("a refused build left %+v", after)
				}
				return
			}
			if err != nil || r.Turn != tt.want || after.Turn != tt.want || r.Manifest.Turn != tt.want {
				t.Errorf("turn %+v, %v, head %d; want %d", r, err, after.Turn, tt.want)
			}
		})
	}
}

func TestEngine_Build_SameTurnShowsNewMessages(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("one"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	b.append(t, "c", answer("two"), user("three"))
	r := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.SameTurn = true })
	if r.Turn != 1 || r.Manifest.Seq != 2 || r.Blocks != 3 {
		t.Errorf("turn %d, manifest %d, %d blocks", r.Turn, r.Manifest.Seq, r.Blocks)
	}
	if m := b.records(t, "c")[2]; m.TurnAdded != 1 {
		t.Errorf("added in turn %d", m.TurnAdded)
	}
}

// TestEngine_Build_DryRunCommitsNothing: neither turn nor edit nor window nor version moves (behaviour §3.3), and the build that
// follows gives the same bytes.
func TestEngine_Build_DryRunCommitsNothing(t *testing.T) {
	for _, cache := range []int64{0, 1 << 20} {
		b := newBench(cache)
		b.append(t, "c", user("go"))
		b.steps(t, "c", 30, 40)
		b.append(t, "c", call("big"), result("big", words(900)))
		before := b.head(t, "c")
		var dry []*engine.BuildResult
		for range 2 {
			dry = append(dry, b.asked(t, "c", 1000, func(r *engine.BuildRequest) {
				r.DryRun, r.Request, r.LastUsage = true, request("BuildContext", "r", "x"), &engine.Usage{Input: 7}
			}))
		}
		after := b.head(t, "c")
		if after.Version != before.Version || after.Revision != before.Revision || after.Turn != 0 || after.EditSeq != 0 {
			t.Fatalf("before %+v, after %+v", before, after)
		}
		built := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "x") })
		for _, d := range dry {
			if d.Manifest.Seq != 0 || d.Revision != before.Revision || d.Turn != built.Turn || d.SHA256 != built.SHA256 ||
				d.Tokens != built.Tokens || len(d.Events) == 0 || len(d.Events) != len(built.Events) {
				t.Errorf("dry %+v\nreal %+v", d, built)
			}
		}
		if built.Duplicate || b.head(t, "c").EditSeq == 0 {
			t.Error("a dry run was remembered, or nothing was clipped")
		}
	}
}

// TestEngine_Build_RefusedCommitsNothing: a refused build begins no turn (behaviour §3.1), and has no effect on later ones.
func TestEngine_Build_RefusedCommitsNothing(t *testing.T) {
	tooLarge := errors.New("the reply is too large")
	for _, tt := range []struct {
		name   string
		last   []conversation.Message
		change func(*engine.BuildRequest)
		want   conversation.Kind
	}{
		{"pending", []conversation.Message{call("a", "b"), result("a", "one of two")}, nil, conversation.PendingToolCalls},
		{"cannot fit", []conversation.Message{user(words(2000))}, nil, conversation.ContextCannotFit},
		{"checked", nil, func(r *engine.BuildRequest) { r.Check = func(*engine.BuildResult) error { return tooLarge } }, conversation.Internal},
		{"no room", nil, func(r *engine.BuildRequest) { r.Budget.ReservedOutput = r.Budget.ContextWindow }, conversation.InvalidField},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(1 << 20)
			b.append(t, "c", user("go"))
			b.steps(t, "c", 20, 20)
			first := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
			b.append(t, "c", call("big"), result("big", words(3000)))
			b.append(t, "c", tt.last...)
			before := b.head(t, "c")
			for range 2 {
				_, err := b.ask("c", 1000, tt.change)
				if expect(t, err, tt.want); b.head(t, "c").Version != before.Version {
					t.Fatal("a refused build committed something")
				}
			}
			if tt.name != "checked" && tt.name != "no room" {
				return
			}
			warm := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
			if warm.Turn != first.Turn+1 || warm.Manifest.Seq != 2 || len(warm.Events) != 1 {
				t.Errorf("after refusals: turn %d, manifest %d, events %+v", warm.Turn, warm.Manifest.Seq, warm.Events)
			}
			b.rebuildsAll(t, "c", 2)
		})
	}
}

// TestEngine_Build_PendingAndEmpty checks refusals against behaviour §11.
func TestEngine_Build_PendingAndEmpty(t *testing.T) {
	system := text(conversation.RoleSystem, "s")
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		want     conversation.Kind // "" for none
	}{
		{"system alone", []conversation.Message{system, system}, conversation.EmptyContext},
		{"an empty text", []conversation.Message{user("")}, conversation.EmptyContext},
		{"open", []conversation.Message{user("u"), call("a")}, conversation.PendingToolCalls},
		{"some open", []conversation.Message{user("u"), call("a", "b"), result("b", "")}, conversation.PendingToolCalls},
		{"all answered", []conversation.Message{user("u"), call("a", "b"), result("b", ""), result("a", "")}, ""},
		{"open, then something else", []conversation.Message{user("u"), call("a"), user("never mind")}, ""},
		{"late", []conversation.Message{user("u"), call("a"), user("never mind"), result("a", "late")}, ""},
	} {
		for _, f := range []conversation.Format{conversation.FormatNeutral, conversation.FormatOpenAIChat, conversation.FormatOpenAIResponses,
			conversation.FormatAnthropic, conversation.FormatGemini} {
			if f == conversation.FormatNeutral && tt.name == "an empty text" {
				continue // the neutral format drops nothing
			}
			b := newBench(0)
			b.append(t, "c", tt.messages...)
			_, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.Format = f })
			if tt.want == "" && err != nil || tt.want != "" && conversation.KindOf(err) != tt.want {
				t.Errorf("%s in format %d: %v, want %q", tt.name, f, err, tt.want)
			}
		}
	}
}

// TestEngine_Build_EmptyContext_SaysWhatIsMissing: the error distinguishes a conversation without messages from one with only system
// messages, and from one whose messages show nothing.
func TestEngine_Build_EmptyContext_SaysWhatIsMissing(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		kind     conversation.Kind
		want     string
	}{
		{"no message", nil, conversation.NoMessages, "no messages"},
		{"system alone", []conversation.Message{text(conversation.RoleSystem, "s")}, conversation.EmptyContext, "nothing to show but system"},
		{"a user without a word", []conversation.Message{user("")}, conversation.EmptyContext, "none of the messages on record"},
		{"the same behind the system", []conversation.Message{text(conversation.RoleSystem, "s"), user("")}, conversation.EmptyContext, "nothing to show but system"},
	} {
		b := newBench(0)
		if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c")}); err != nil {
			t.Fatal(err)
		}
		if tt.messages != nil {
			b.append(t, "c", tt.messages...)
		}
		_, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic })
		if conversation.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestEngine_Build_Revision: it moves with API writes and with builds that change the view; bookkeeping never moves it
// (behaviour §3.4).
func TestEngine_Build_Revision(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"))
	steady := func(what string, want int64) {
		t.Helper()
		if got := b.head(t, "c").Revision; got != want {
			t.Errorf("%s: revision %d, want %d", what, got, want)
		}
	}
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	b.build(t, "c", conversation.FormatAnthropic, 1000)
	steady("builds that show everything", 1)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	steady("a sweep", 1)
	b.append(t, "c", call("a"), result("a", words(800)))
	steady("an append", 2)
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	steady("a build that clips", 3)
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	steady("and one that finds it clipped", 3)
	b.steps(t, "c", 10, 100)
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	steady("ten appends and a build that moves the window", 14)
}

// TestEngine_Build_RequestGivesWay: the view changes although the window's start stays, so the build moves the revision.
func TestEngine_Build_RequestGivesWay(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user(words(100)), answer(words(700)), answer(words(300)))
	first := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if want := (conversation.Window{Start: 2}); !first.Manifest.Window.Equal(&want) {
		t.Fatalf("window %+v", first.Manifest.Window)
	}
	second := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.Fixed.Tokens = ptr(int32(690)) })
	if want := (conversation.Window{Start: 2, Cuts: []conversation.Cut{{}}}); !second.Manifest.Window.Equal(&want) || second.Prefix.BrokenBy != engine.BreakWindowMoved {
		t.Fatalf("window %+v, broken by %d", second.Manifest.Window, second.Prefix.BrokenBy)
	}
	if second.Revision == first.Revision {
		t.Error("the view changed, and the revision did not")
	}
}

// TestEngine_Build_AfterUndoneEdits: a clip made by a dry run is forgotten, with its written form: an edit committed later has the
// same number and another text.
func TestEngine_Build_AfterUndoneEdits(t *testing.T) {
	warm := newBench(1 << 20)
	cold := newBenchOn(warm.store, 0)
	warm.append(t, "c", user("go"), call("a"), result("a", words(900)))
	dry := func(b *bench, budget int32) *engine.BuildResult {
		return b.asked(t, "c", budget, func(r *engine.BuildRequest) { r.DryRun = true })
	}
	dry(warm, 400)
	_, err := warm.ask("c", 600, func(r *engine.BuildRequest) {
		r.Check = func(*engine.BuildResult) error { return conversation.Errorf(conversation.ReplyTooLarge, "too large") }
	})
	expect(t, err, conversation.ReplyTooLarge)
	want := dry(cold, 1000)
	if got := warm.build(t, "c", conversation.FormatOpenAIChat, 1000); got.SHA256 != want.SHA256 || got.Tokens != want.Tokens {
		t.Errorf("warm %s\ncold %s", got.MessagesJSON, want.MessagesJSON)
	}
}

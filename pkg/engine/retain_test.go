package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

var (
	never  = conversation.Retention{}
	always = conversation.Retention{Kind: conversation.RetentionPermanent}
)

func keepLast(n int32) conversation.Retention {
	return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: n}
}

func adds(plugin, header, s string, display bool, r conversation.Retention) conversation.Addition {
	return conversation.Addition{Plugin: plugin, Header: header, Display: display, Retention: r, Parts: user(s).Parts}
}

// enrich appends a message with what plugins add to it.
func (b *bench) enrich(t testing.TB, id string, m conversation.Message, additions ...conversation.Addition) *engine.AppendResult {
	t.Helper()
	r, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf(id), Messages: []conversation.Message{m}, Extras: []engine.AppendExtra{{Additions: additions}}, Variants: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// page returns what a build shows, one message per line, with spacing as _.
func page(r *engine.BuildResult) string {
	return strings.ReplaceAll(strings.Join(seen(r), "\n"), "\n\n", "_")
}

// TestEngine_Build_MixedRetention plays a mixed scenario over ten turns, block by block: a plugin whose blocks stay always, one that keeps
// the last two, one for the current message only, headers and spacing, and an assistant whose blocks are not text.
func TestEngine_Build_MixedRetention(t *testing.T) {
	b := newEager()
	thinking := conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{
		{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: "hm"}, Signature: conversation.Content{Inline: "s"}, Provider: "anthropic"}},
		{Kind: conversation.PartText, Text: conversation.Content{Inline: "said"}},
		{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: "openai", JSON: conversation.Content{Inline: `{"b": 1,"a":2 }`}}},
	}}
	const said = `reasoning:hm|said|opaque:{"b": 1,"a":2 }`
	files := func(n int, r conversation.Retention, display bool) conversation.Addition {
		return adds("files", "FILES", fmt.Sprint("f", n), display, r)
	}
	clock := func(n int) conversation.Addition { return adds("clock", "CLOCK", fmt.Sprint("now ", n), true, never) }
	rules := func(n int) conversation.Addition { return adds("rules", "", fmt.Sprint("r", n), true, always) }
	for i, turn := range []struct {
		add  []conversation.Message
		with []conversation.Addition // to the first of them
		want []string
	}{
		// Turn 1: the newest message in its display variant, including the clock.
		{[]conversation.Message{user("u1")}, []conversation.Addition{files(1, keepLast(2), true), clock(1), rules(1)},
			[]string{"u1|FILES|f1|_|CLOCK|now 1|_|r1|_"}},
		// Turn 2: the persistent variant from now on: the clock is gone, and its header too. Assistants are never changed.
		{[]conversation.Message{thinking, user("plain")}, nil, []string{"u1|FILES|f1|_|r1|_", said, "plain"}},
		// Turn 3: u3 is number 0, u1 number 1: 2 > 1, its files stay.
		{[]conversation.Message{user("u3")}, []conversation.Addition{files(3, keepLast(2), false), clock(3)},
			[]string{"u1|FILES|f1|_|r1|_", said, "plain", "u3|CLOCK|now 3|_"}},
		// Turn 4: what u3 saves and did not show appears, and the clock is gone.
		{[]conversation.Message{thinking}, nil, []string{"u1|FILES|f1|_|r1|_", said, "plain", "u3|FILES|f3|_", said}},
		// Turn 5: a message whose additions are all permanent counts too: u1 is number 2, so its files go, with header and spacing.
		{[]conversation.Message{user("u5")}, []conversation.Addition{rules(5)},
			[]string{"u1|r1|_", said, "plain", "u3|FILES|f3|_", said, "u5|r5|_"}},
		// Turn 6: a message without additions does not count.
		{[]conversation.Message{user("plain 6")}, nil, []string{"u1|r1|_", said, "plain", "u3|FILES|f3|_", said, "u5|r5|_", "plain 6"}},
		// Turn 7: a message with additions for display only carries retention too, because its own words are permanent: u3 is number 2.
		{[]conversation.Message{user("u7")}, []conversation.Addition{clock(7)},
			[]string{"u1|r1|_", said, "plain", "u3", said, "u5|r5|_", "plain 6", "u7|CLOCK|now 7|_"}},
		// Turn 8: tool messages can have additions. The neutral format writes what is not a result as a message of its own.
		{[]conversation.Message{result("k", "found"), call("later")}, []conversation.Addition{files(8, keepLast(1), true), clock(8)},
			[]string{"u1|r1|_", said, "plain", "u3", said, "u5|r5|_", "plain 6", "u7", "call", "found", "FILES|f8|_|CLOCK|now 8|_"}},
		// Turn 9: keep_last 1 stays while it is the newest of all.
		{[]conversation.Message{user("plain 9")}, nil,
			[]string{"u1|r1|_", said, "plain", "u3", said, "u5|r5|_", "plain 6", "u7", "call", "found", "FILES|f8|_", "plain 9"}},
		// Turn 10: and goes with the next.
		{[]conversation.Message{user("u10")}, []conversation.Addition{files(10, keepLast(1), true)},
			[]string{"u1|r1|_", said, "plain", "u3", said, "u5|r5|_", "plain 6", "u7", "call", "found", "plain 9", "u10|FILES|f10|_"}},
	} {
		if turn.add[0].Role == conversation.RoleTool {
			b.append(t, "c", call("k"))
			turn.add = turn.add[:1]
		}
		b.enrich(t, "c", turn.add[0], turn.with...)
		b.append(t, "c", turn.add[1:]...)
		r := b.turn(t, "c")
		if want := strings.Join(turn.want, "\n"); page(r) != want {
			t.Errorf("turn %d shows\n%s\nwant\n%s", i+1, page(r), want)
		}
		again := b.turn(t, "c", sameTurn)
		if page(again) != page(r) || len(again.Events) != 0 {
			t.Errorf("turn %d built again shows\n%s\nand tells of %+v", i+1, page(again), again.Events)
		}
	}
	b.rebuildsAll(t, "c", 20)
}

// TestEngine_Build_AllInputs: with retention.all_inputs every message of the user's and of tools counts, and no other does.
func TestEngine_Build_AllInputs(t *testing.T) {
	all := by(conversation.Policy{Retention: conversation.RetentionPolicy{AllInputs: ptr(true)}})
	for _, tt := range []struct {
		name  string
		later []conversation.Message
		stays bool
	}{
		{"an assistant", []conversation.Message{answer("x"), answer("y")}, true},
		{"a system message", []conversation.Message{text(conversation.RoleSystem, "x"), text(conversation.RoleSystem, "y")}, true},
		{"one user", []conversation.Message{user("x")}, true},
		{"two users", []conversation.Message{user("x"), answer("y"), user("z")}, false},
		{"a user and a tool", []conversation.Message{user("x"), call("k"), result("k", "z")}, false},
		{"two tools", []conversation.Message{call("k", "j"), result("k", "z"), result("j", "z")}, false},
	} {
		b := newEager()
		b.enrich(t, "c", user("u"), adds("p", "", "a", true, keepLast(2)))
		b.turn(t, "c", all)
		b.append(t, "c", tt.later...)
		plain, r := b.turn(t, "c", dry), b.turn(t, "c", all)
		if got, _ := message(plain, 0); got != "u|a|\n\n" {
			t.Errorf("%s, without all_inputs: %q", tt.name, got)
		}
		if got, _ := message(r, 0); (got == "u|a|\n\n") != tt.stays {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestEngine_Build_WithoutBlocks: a message with no block left leaves the view (behaviour §6), and the context stays legal.
func TestEngine_Build_WithoutBlocks(t *testing.T) {
	b := newEager()
	b.enrich(t, "c", conversation.Message{Role: conversation.RoleUser}, adds("p", "H", "a", true, keepLast(1)))
	wantTurn(t, b.turn(t, "c"), "H|a|\n\n")
	b.append(t, "c", answer("ok"))
	wantTurn(t, b.turn(t, "c"), "H|a|\n\n", "ok")
	b.enrich(t, "c", user("u"), adds("p", "H", "b", true, keepLast(1)))
	r := b.turn(t, "c")
	wantTurn(t, r, "ok", "u|H|b|\n\n")
	wantEvents(t, r, "retention 0", "removed 0")
	if d := decision(r, 0); d == nil || d.Kind != conversation.DecisionRemoved || d.Reason != conversation.ReasonRetention || d.Before == 0 || d.After != 0 {
		t.Errorf("decision %+v", d)
	}
	if r.Tokens.SavedByRetention == 0 {
		t.Error("nothing saved by retention")
	}
	b.rebuildsAll(t, "c", 3)
}

// TestEngine_Build_SwitchOfVariants: the display variant is for messages appended since the last committed build of an earlier turn. The
// switch is never deferred, and is made neither in same_turn nor by a build that commits nothing (behaviour §6).
func TestEngine_Build_SwitchOfVariants(t *testing.T) {
	now, later := "u|now|\n\n", "u|later|\n\n"
	both := []conversation.Addition{adds("p", "", "now", true, never), adds("p", "", "later", false, always)}
	b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.Defaults = conversation.Policy{} }) // COALESCED
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.enrich(t, "c", user("u"), both...) // after a build, before a rebuild of its turn
	wantShown(t, b.turn(t, "c", sameTurn), 1, now)
	wantShown(t, b.turn(t, "c", sameTurn), 1, now)
	wantShown(t, b.turn(t, "c", dry), 1, later) // shown in turn 1: the next turn's build switches it
	wantShown(t, b.turn(t, "c", sameTurn), 1, now)
	r := b.turn(t, "c")
	wantShown(t, r, 1, later)
	wantEvents(t, r, "retention 1")
	wantShown(t, b.turn(t, "c", sameTurn), 1, later)

	b.enrich(t, "c", user("u"), both...) // message 2, appended in turn 2
	if _, err := b.tryTurn("c", within(1)); err == nil {
		t.Fatal("a build within one token")
	}
	wantShown(t, b.turn(t, "c", dry), 2, now)
	wantShown(t, b.turn(t, "c"), 2, now)
	wantShown(t, b.turn(t, "c", within(2000)), 2, later) // at whatever budget
	b.rebuildsAll(t, "c", 8)
}

// TestEngine_Build_SwitchLeftBehind: a message that was before the window when it should have switched shows its persistent variant when it
// comes back.
func TestEngine_Build_SwitchLeftBehind(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("opening"))
	b.enrich(t, "c", user("u"), adds("p", "", "now", true, never), adds("p", "", "later", false, always))
	b.append(t, "c", answer(words(1200)), user("on"))
	wantShown(t, b.turn(t, "c", within(1000)), 1, "")
	b.append(t, "c", user("next"))
	b.turn(t, "c", within(1000))
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(1))}); err != nil {
		t.Fatal(err)
	}
	wantShown(t, b.turn(t, "c", sameTurn, within(1000)), 1, "u|later|\n\n")
	wantShown(t, b.turn(t, "c", within(1000)), 1, "u|later|\n\n")
	b.rebuildsAll(t, "c", 4)
}

// TestEngine_Build_ExpansionRestartsNumbering: an expansion brings masked blocks back, and numbers their message from then on
// (behaviour §10); its variant stays the persistent one.
func TestEngine_Build_ExpansionRestartsNumbering(t *testing.T) {
	b := newEager()
	b.enrich(t, "c", user("u"), adds("p", "H", "a", true, keepLast(2)), adds("p", "", "now", true, never))
	b.turn(t, "c")
	for range 2 {
		b.enrich(t, "c", user("x"), adds("p", "", "b", true, always))
	}
	wantShown(t, b.turn(t, "c"), 0, "u")
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(0))}); err != nil {
		t.Fatal(err)
	}
	back := "u|H|a|\n\n"
	wantShown(t, b.turn(t, "c"), 0, back)
	b.enrich(t, "c", user("x"), adds("p", "", "b", true, always))
	wantShown(t, b.turn(t, "c"), 0, back) // number 1
	b.enrich(t, "c", user("x"), adds("p", "", "b", true, always))
	wantShown(t, b.turn(t, "c"), 0, "u")
	b.rebuildsAll(t, "c", 5)
}

// TestEngine_Append_ReturnsVariants: what was asked for, also for a repeated request id, of large contents too (seed 002,
// "Core Types").
func TestEngine_Append_ReturnsVariants(t *testing.T) {
	b := newEager()
	large := long("l", 40_000)
	ask := func() *engine.AppendResult {
		r, err := b.Append(ctx, engine.AppendRequest{
			Key: keyOf("c"), Messages: []conversation.Message{user("u"), answer("plain")}, Variants: true, Request: request("AppendMessages", "r", "x"),
			Extras: []engine.AppendExtra{{Additions: []conversation.Addition{adds("p", "H", large, true, never), adds("q", "I", "b", false, keepLast(1))}}, {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	show := func(m conversation.Message) string {
		return strings.Join(seen(&engine.BuildResult{Messages: neutralMessages(m)}), "")
	}
	first := ask()
	b.turn(t, "c")
	b.append(t, "c", user("next"))
	b.turn(t, "c")
	for i, r := range []*engine.AppendResult{first, ask()} {
		if r.Duplicate != (i == 1) || len(r.Display) != 2 || len(r.Persistent) != 2 {
			t.Fatalf("%+v", r)
		}
		if d, p := show(r.Display[0]), show(r.Persistent[0]); d != "u|H|"+large+"|\n\n" || p != "u|I|b|\n\n" {
			t.Errorf("display %s, persistent %s", abridged(d), p)
		}
		if show(r.Display[1]) != "plain" || show(r.Persistent[1]) != "plain" || r.Persistent[0].ID != "m0" || r.Display[1].Index != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// TestEngine_Build_RetentionEmpties_Removes: a message with no block left leaves the view, and says so by its event and its level.
func TestEngine_Build_RetentionEmpties_Removes(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"))
	b.enrich(t, "c", conversation.Message{Role: conversation.RoleUser}, adds("clock", "", "now", true, keepLast(1)))
	b.append(t, "c", answer("so"), user("next"))
	b.turn(t, "c")
	b.enrich(t, "c", user("more"), adds("rules", "", "r", true, always))
	r := b.turn(t, "c")
	var types []conversation.EventType
	for _, e := range r.Events {
		if e.Index == 1 {
			types = append(types, e.Type)
		}
	}
	if want := []conversation.EventType{conversation.EventRetentionApplied, conversation.EventRemoved}; !slices.Equal(types, want) {
		t.Errorf("events %v, want %v", types, want)
	}
	if d := decision(r, 1); d == nil || d.Kind != conversation.DecisionRemoved || d.Reason != conversation.ReasonRetention || d.Before == 0 {
		t.Errorf("%+v", d)
	}
	if m, err := b.Message(ctx, keyOf("c"), 1); err != nil || m.Level != conversation.Removed || m.InView || m.Expired {
		t.Errorf("%+v, %v", m, err)
	}
	if r.Tokens.SavedByRetention == 0 || r.Tokens.SavedByExpiry != 0 {
		t.Errorf("%+v", r.Tokens)
	}
	if again := b.turn(t, "c"); len(again.Events) != 0 {
		t.Errorf("again: %+v", again.Events)
	}
	b.rebuildsAll(t, "c", 3)
}

// TestEngine_Build_RemovedMessage_LeavesKeptAdditions: additions with keep_last depend on their number alone: they stay when their message
// is removed (behaviour §6).
func TestEngine_Build_RemovedMessage_LeavesKeptAdditions(t *testing.T) {
	for _, erases := range []bool{false, true} {
		b := newEager()
		e := removed(1)
		if erases {
			e = erasing(e)
		}
		b.append(t, "c", user("go"), call("k"))
		found := result("k", "found")
		found.Expiration = e
		b.enrich(t, "c", found, adds("files", "FILES", "f", true, keepLast(2)), adds("rules", "", "r", true, always))
		b.append(t, "c", answer("so"))
		b.enrich(t, "c", living(user("words"), e), adds("files", "FILES", "g", true, keepLast(1)), adds("clock", "", "now", true, never))
		b.append(t, "c", answer("so"), user("next"))
		b.turn(t, "c")
		for range 3 {
			r := b.turn(t, "c")
			if want := "go\nFILES|f|_\nso\nFILES|g|_\nso\nnext"; page(r) != want {
				t.Errorf("turn %d shows\n%s\nwant\n%s", r.Turn, page(r), want)
			}
			if r.Turn > 2 && len(r.Events) > 0 {
				t.Errorf("turn %d: %+v", r.Turn, r.Events)
			}
		}
		if m, err := b.Message(ctx, keyOf("c"), 4); err != nil || conversation.Erased(m.Message.Parts[:1]) != erases {
			t.Errorf("%+v, %v", m, err)
		}
		b.enrich(t, "c", user("newer"), adds("rules", "", "r", true, always))
		if r, want := b.turn(t, "c"), "go\nso\nso\nnext\nnewer|r|_"; page(r) != want {
			t.Errorf("shows\n%s\nwant\n%s", page(r), want)
		}
		if !erases {
			b.rebuildsAll(t, "c", 5)
		}
	}
}

// TestEngine_Build_RetentionBesideASummary_KeepsTheWords: a message that a window shows next to a summary changes its variant, and stays.
func TestEngine_Build_RetentionBesideASummary_KeepsTheWords(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("the task"))
	b.enrich(t, "c", user("the detail"), adds("clock", "", "now", true, never))
	for i := range 4 {
		b.append(t, "c", text(conversation.RoleAssistant, fmt.Sprint("step ", i, words(150))), user("go on"))
	}
	small := b.asked(t, "c", 600, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
	if !slices.ContainsFunc(small.Events, func(e conversation.Event) bool { return e.Type == conversation.EventSummarized }) {
		t.Fatalf("nothing is summarized: %s", page(small))
	}
	large := b.asked(t, "c", 6000, func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral })
	if got := page(large); !strings.HasPrefix(got, "the task\nthe detail\nstep 0") {
		t.Errorf("a window that is opened afresh shows %q: %+v", got, large.Events)
	}
}

package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func closing(r *engine.BuildRequest) { r.CloseOpenCalls = true }

func aborted(m conversation.Message) conversation.Message {
	m.Tags = []string{"aborted"}
	return m
}

// unitsOf are the first indices of the units of a conversation's messages, as they are stored.
func (b *bench) unitsOf(t testing.TB, id string) []int32 {
	t.Helper()
	var out []int32
	for _, r := range b.export(t, id) {
		if r.Message != nil {
			out = append(out, r.Message.Unit-1)
		}
	}
	return out
}

// repairsOf are the reasons of repairs that tell of calls and results that do not pair.
func repairsOf(r *engine.BuildResult) []conversation.Reason {
	var out []conversation.Reason
	for _, d := range r.Decisions {
		if d.Reason == conversation.ReasonCallNeverAnswered || d.Reason == conversation.ReasonResultLate {
			out = append(out, d.Reason)
		}
	}
	return out
}

// TestEngine_Append_UnitsByPosition checks the stored units of messages against behaviour §1.
func TestEngine_Append_UnitsByPosition(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		want     []int32
	}{
		{"a call a message", []conversation.Message{user("u"), call("a"), call("b"), result("a", ""), result("b", ""), user("n")}, []int32{0, 1, 1, 1, 1, 5}},
		{"text between", []conversation.Message{call("a"), answer("so"), call("b"), result("b", "")}, []int32{0, 0, 0, 0}},
		{"a call after a result", []conversation.Message{call("a", "b"), result("a", ""), call("c"), result("b", "")}, []int32{0, 0, 2, 2}},
		{"closed by the user", []conversation.Message{call("a"), user("u"), call("b"), result("a", "")}, []int32{0, 1, 2, 2}},
		{"no call open", []conversation.Message{answer("a"), call("b")}, []int32{0, 1}},
		{"cut off", []conversation.Message{call("a"), aborted(call("b")), call("c"), result("c", "")}, []int32{0, 1, 2, 2}},
		{"results of what was cut off", []conversation.Message{aborted(call("a", "b")), result("a", ""), result("b", "")}, []int32{0, 1, 2}},
		{"a tool that was cut off", []conversation.Message{call("a", "b"), aborted(result("a", "")), result("b", "")}, []int32{0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(0)
			b.append(t, "c", tt.messages...)
			for _, m := range tt.messages {
				b.append(t, "one by one", m)
			}
			for _, id := range []string{"c", "one by one"} {
				if got := b.unitsOf(t, id); !slices.Equal(got, tt.want) {
					t.Errorf("%s: units %v, want %v", id, got, tt.want)
				}
			}
		})
	}
}

// TestEngine_Build_CallsOneAMessage: parallel calls that come in one message each are answered in every format, and an engine
// without a window in memory builds the same.
func TestEngine_Build_CallsOneAMessage(t *testing.T) {
	for _, f := range allFormats {
		s := newFaulty()
		b := newBenchOn(s, 1<<20)
		b.append(t, "c", user("go"), call("same"), answer("and"), call("same"), result("same", "first"), result("same", "second"))
		warm := b.build(t, "c", f, 4000)
		if got := repairsOf(warm); len(got) > 0 {
			t.Errorf("format %d: repairs %v", f, got)
		}
		cold := newBenchOn(s, 0).asked(t, "c", 4000, func(r *engine.BuildRequest) { r.Format, r.DryRun, r.SameTurn = f, true, true })
		if cold.SHA256 != warm.SHA256 {
			t.Errorf("format %d: cold and warm differ", f)
		}
		if f == conversation.FormatOpenAIChat && !strings.Contains(string(warm.MessagesJSON),
			`{"role":"tool","tool_call_id":"same","content":"first"},{"role":"tool","tool_call_id":"pal000002","content":"second"}`) {
			t.Errorf("results are paired otherwise: %s", warm.MessagesJSON)
		}
	}
}

// TestEngine_Build_PendingNamesCalls: the refusal names the calls that wait, also if some are answered already.
func TestEngine_Build_PendingNamesCalls(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), call("a"), call("b"), call("d"), result("b", "r"))
	_, err := b.ask("c", 1000, nil)
	expect(t, err, conversation.PendingToolCalls)
	var domain *conversation.Error
	if errors.As(err, &domain); len(domain.Violations) != 2 || domain.Violations[0].Text != "a" || domain.Violations[1].Text != "d" {
		t.Errorf("violations %+v, want those of a and d", domain.Violations)
	}
}

// TestEngine_Build_AbortedNeverWaits: calls of a message that was cut off are closed at once. A result that comes for them is
// late.
func TestEngine_Build_AbortedNeverWaits(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), aborted(call("a")))
	if got, want := repairsOf(b.turn(t, "c")), []conversation.Reason{conversation.ReasonCallNeverAnswered}; !slices.Equal(got, want) {
		t.Errorf("repairs %v, want %v", got, want)
	}
	b.append(t, "c", result("a", "too late"))
	want := []conversation.Reason{conversation.ReasonCallNeverAnswered, conversation.ReasonResultLate}
	if got := repairsOf(b.turn(t, "c")); !slices.Equal(got, want) {
		t.Errorf("repairs %v, want %v", got, want)
	}
}

// TestEngine_Build_CloseOpenCalls: a build while calls wait shows a fixed result, which the real one replaces later. A unit that
// a build has shown takes no further calls.
func TestEngine_Build_CloseOpenCalls(t *testing.T) {
	for _, f := range allFormats {
		b := newBench(1 << 20)
		in := func(r *engine.BuildRequest) { r.Format = f }
		b.append(t, "c", user("go"), call("a"), call("b"))
		if _, err := b.ask("c", 1000, in); conversation.KindOf(err) != conversation.PendingToolCalls {
			t.Fatalf("format %d: %v", f, err)
		}
		shown := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { in(r); closing(r) })
		if got := repairsOf(shown); len(got) != 2 {
			t.Errorf("format %d: repairs %v", f, got)
		}
		b.append(t, "c", result("b", "real"))
		shown = b.asked(t, "c", 1000, func(r *engine.BuildRequest) { in(r); closing(r) })
		if got := repairsOf(shown); len(got) != 1 || shown.Prefix.BrokenBy != engine.BreakTailReplaced {
			t.Errorf("format %d: repairs %v, broken by %d", f, got, shown.Prefix.BrokenBy)
		}
		b.append(t, "c", result("a", "real too"))
		if got := repairsOf(b.asked(t, "c", 1000, in)); len(got) > 0 {
			t.Errorf("format %d: repairs %v", f, got)
		}
		b.rebuildsAll(t, "c", 3)
	}
	b := newBench(0)
	b.append(t, "c", user("go"), call("a"))
	b.turn(t, "c", closing)
	b.append(t, "c", call("b"), result("b", "r"), result("a", "late"))
	if got, want := b.unitsOf(t, "c"), []int32{0, 1, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("units %v, want %v", got, want)
	}
}

// TestEngine_Rewind_IntoParallelCalls: the rest of the unit goes on: further calls join it, and its calls wait again.
func TestEngine_Rewind_IntoParallelCalls(t *testing.T) {
	for from, want := range map[int32][]int32{
		2: {0, 1, 1, 1, 1, 1, 1},       // the first of the calls is left
		3: {0, 1, 1, 1, 1, 1, 1, 1},    // no result is left
		4: {0, 1, 1, 1, 1, 5, 5, 5, 5}, // a result is left, so a further call begins a unit
	} {
		b := newBench(0)
		b.append(t, "c", user("go"), call("a"), call("b"), result("b", "r"), result("a", "r"))
		b.rewound(t, "c", from)
		b.append(t, "c", call("x"), result("x", "r"))
		switch from {
		case 3:
			b.append(t, "c", result("b", "again"))
		case 4:
			b.append(t, "c", user("next"), result("a", "late"))
			want = []int32{0, 1, 1, 1, 1, 5, 5, 7, 8}
		}
		if got := b.unitsOf(t, "c"); !slices.Equal(got, want) {
			t.Errorf("from %d: units %v, want %v", from, got, want)
		}
	}
}

// TestEngine_Expand_ParallelCalls: a unit of several assistant messages expires and comes back as a whole, also in a copy of the
// conversation.
func TestEngine_Expand_ParallelCalls(t *testing.T) {
	b := newBench(1 << 20)
	eagerly := func(r *engine.BuildRequest) { r.PolicyOverride = eager }
	b.append(t, "c", user("go"), call("a"), call("b"), resultLiving("a", words(100), removed(0)), resultLiving("b", words(100), removed(0)))
	b.turn(t, "c", eagerly)
	b.append(t, "c", user("next"))
	b.turn(t, "c", eagerly)
	b.append(t, "c", user("and"))
	if got := b.turn(t, "c", eagerly); slices.ContainsFunc(got.Messages, func(m provider.Message) bool { return 0 < m.Index && m.Index < 5 }) {
		t.Fatalf("some of the unit is left: %+v", got.Messages)
	}
	b.expanded(t, 3)
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err, causeOf(err))
	}
	for _, id := range []string{"c", "copy"} {
		got := b.turn(t, id)
		var shown []int32
		for _, m := range got.Messages {
			shown = append(shown, m.Index)
		}
		if want := []int32{0, 1, 3, 4, 5, 6}; !slices.Equal(shown, want) || len(got.Messages[1].Parts) != 2 || len(repairsOf(got)) > 0 {
			t.Errorf("%s shows %v, want %v: %+v", id, shown, want, got.Messages)
		}
	}
	if one, other := b.unitsOf(t, "c"), b.unitsOf(t, "copy"); !slices.Equal(one, other) {
		t.Errorf("units %v of the original, %v of the copy", one, other)
	}
}

// TestEngine_Import_RefusesOtherUnits: a message belongs to a unit that an append could have put it in.
func TestEngine_Import_RefusesOtherUnits(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"), call("a"), call("b"), result("a", "r"), result("b", "r"))
	for _, tt := range []struct {
		index, unit int32
		ok          bool
	}{{2, 2, true}, {2, 1, false}, {3, 3, false}, {3, 4, false}, {0, 2, false}} {
		records := b.export(t, "c")
		for _, r := range records {
			if r.Message != nil && r.Message.Index == tt.index {
				r.Message.Unit = tt.unit
			}
		}
		if _, err := b.imports("copy"+string('a'+tt.index*8+tt.unit), records); (err == nil) != tt.ok {
			t.Errorf("message %d in unit %d: %v", tt.index, tt.unit-1, err)
		}
	}
}

// TestEngine_Build_PinnedParallelCalls: a pin on one message of the assistant's keeps the unit.
func TestEngine_Build_PinnedParallelCalls(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"), call("a"), pinned(call("b")), result("a", "first"), result("b", "second"))
	if got := b.head(t, "c").Pins; len(got) != 1 || got[0] != (conversation.Range{First: 1, End: 5}) {
		t.Fatalf("pins %+v", got)
	}
	for range 10 {
		b.append(t, "c", user(words(60)), answer(words(60)))
		b.build(t, "c", conversation.FormatOpenAIChat, 500)
	}
	if got := string(b.build(t, "c", conversation.FormatOpenAIChat, 500).MessagesJSON); !strings.Contains(got, "first") || !strings.Contains(got, "second") {
		t.Errorf("the pinned unit is not whole: %s", got)
	}
}

// TestEngine_Append_RepeatedIDs_PolicyOfTheToolCalled: a result without a name is of the tool whose call it answers by position.
func TestEngine_Append_RepeatedIDs_PolicyOfTheToolCalled(t *testing.T) {
	b := newBench(0)
	b.putPolicy(t, conversation.ActionPolicy{Key: conversation.ActionKey{ToolName: "fetch"}, Expiration: *removed(3)})
	fetch := call("same")
	fetch.Parts[0].Call.Name = "fetch"
	b.append(t, "c", user("go"), call("same"), fetch, result("same", "of search"), result("same", "of fetch"))
	messages := b.records(t, "c")
	if got := messages[3].Parts[0].Result.Expiration; got != nil {
		t.Errorf("the result of search lives %+v", got)
	}
	if got := messages[4].Parts[0].Result.Expiration; got == nil || *got.Turns != 3 {
		t.Errorf("the result of fetch lives %+v", got)
	}
}

package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// expand expands a message, with a request that a test may change.
func (b *bench) expand(index int32, change ...func(*engine.ExpandRequest)) (*engine.ExpandResult, error) {
	r := engine.ExpandRequest{Key: keyOf("c"), Index: &index, Limit: 100, MaxBytes: 1 << 20, Size: func(m *engine.MessageInView) int {
		n := 0
		for _, c := range conversation.Contents(m.Message.Parts) {
			n += len(c.Inline)
		}
		return n
	}}
	for _, c := range change {
		c(&r)
	}
	return b.Expand(ctx, r)
}

func (b *bench) expanded(t tb, index int32, change ...func(*engine.ExpandRequest)) *engine.ExpandResult {
	t.Helper()
	r, err := b.expand(index, change...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func returnOnly(r *engine.ExpandRequest) { r.ReturnOnly = true }

// TestEngine_Expand_WorkedExampleAfterIt: RESTORE clears the level and restarts the clock: expanded in turn 4 with 2 turns to live, in
// full in 4 (built again), 5 and 6, and compacted in 7 (behaviour §5, §10; seed 000, "Agent Expands Compacted Message").
func TestEngine_Expand_WorkedExampleAfterIt(t *testing.T) {
	whole := long("result", 4000)
	short := firstChars(whole, 400, 2)
	b := newEager()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.append(t, "c", call("k"), resultLiving("k", whole, compacted(2, 400)), user("next"))
	for _, want := range []string{whole, whole, short} {
		wantShown(t, b.turn(t, "c"), 2, want)
	}
	before := b.head(t, "c")
	x := b.expanded(t, 2)
	if got := x.Message.Message.Parts[0].Result.Text.Inline; got != whole || x.TotalChars != 4000 || x.Revision != before.Revision+1 || x.Duplicate {
		t.Errorf("%+v", x)
	}
	// Its unit weighs 4+12 and 1,004 tokens, and 8 tokens came after it.
	if x.RewriteTokens < 1020 || x.RewriteTokens > 1040 {
		t.Errorf("%d tokens are read anew", x.RewriteTokens)
	}
	if len(x.Events) != 1 { // the unit comes back as a whole, and of it the call was there
		t.Fatalf("events %+v", x.Events)
	}
	if e := x.Events[0]; e.Type != conversation.EventExpanded || e.Index != 2 || e.Turn != 4 || e.Reason != conversation.ReasonExpandRequest {
		t.Errorf("event %+v", e)
	}
	if saved := x.Events[0].Saved; saved != int64(len(short)+3)/4-1000 {
		t.Errorf("the expansion saves %d", saved)
	}
	wantShown(t, b.turn(t, "c", sameTurn), 2, whole)
	_, err := b.expand(2)
	expect(t, err, conversation.NotEdited)
	for _, want := range []string{whole, whole, short, short} {
		r := b.turn(t, "c")
		wantShown(t, r, 2, want)
		if r.Turn == 5 && r.Prefix.BrokenBy != engine.BreakNone || r.Turn == 7 && r.Prefix.BrokenBy != engine.BreakExpired {
			t.Errorf("turn %d: broken by %d", r.Turn, r.Prefix.BrokenBy)
		}
	}
	b.rebuildsAll(t, "c", 9)
}

// TestEngine_Expand_Whatever: everything that left the view comes back, with its whole unit.
func TestEngine_Expand_Whatever(t *testing.T) {
	whole := long("result", 4000)
	for _, tt := range []struct {
		name string
		unit []conversation.Message
		ask  int32
		want []string // the unit, from message 1 on
	}{
		{"removed, asked by the result", []conversation.Message{call("k"), resultLiving("k", whole, removed(0))}, 2, []string{"call", whole}},
		{"removed, asked by the call", []conversation.Message{call("k"), resultLiving("k", whole, removed(0))}, 1, []string{"call", whole}},
		{"cleared", []conversation.Message{call("k", "j"), resultLiving("k", whole, removed(0)), result("j", "kept")}, 2, []string{"call|call", whole, "kept"}},
		{"compacted, asked by its neighbor", []conversation.Message{call("k", "j"), resultLiving("k", whole, compacted(0, 9)), result("j", "kept")}, 3,
			[]string{"call|call", whole, "kept"}},
		{"two forms in one unit", []conversation.Message{call("k", "j"), resultLiving("k", whole, compacted(0, 9)), resultLiving("j", whole, removed(0)), user("x")}, 1,
			[]string{"call|call", whole, whole, "x"}},
		{"words", []conversation.Message{living(user(whole), removed(0))}, 1, []string{whole}},
		{"a large content", []conversation.Message{call("k"), resultLiving("k", long("r", 40_000), compacted(0, 9))}, 2, []string{"call", long("r", 40_000)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"))
			b.append(t, "c", tt.unit...)
			b.append(t, "c", answer("done"))
			before := b.turn(t, "c")
			_ = b.expanded(t, tt.ask)
			r := b.turn(t, "c", sameTurn)
			wantTurn(t, r, append(append([]string{"go"}, tt.want...), "done")...)
			if before.Tokens.Messages >= r.Tokens.Messages || r.Prefix.BrokenBy != engine.BreakExpanded {
				t.Errorf("%d tokens became %d, broken by %d", before.Tokens.Messages, r.Tokens.Messages, r.Prefix.BrokenBy)
			}
			b.rebuildsAll(t, "c", 2)
		})
	}
}

// TestEngine_Expand_Refusals: an expansion never does nothing silently (behaviour §10).
func TestEngine_Expand_Refusals(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", words(300), compacted(0, 9)), user("hidden"), answer("done"))
	unbuilt, err := b.expand(2)
	if expect(t, err, conversation.NotEdited); unbuilt != nil {
		t.Error("before any build")
	}
	b.turn(t, "c", within(700))
	b.edit(t, "c", hide(3, 4))
	before := b.head(t, "c")
	for _, tt := range []struct {
		name   string
		index  int32
		change func(*engine.ExpandRequest)
		want   conversation.Kind
	}{
		{"in view in full", 0, nil, conversation.NotEdited},
		{"the newest", 4, nil, conversation.NotEdited},
		{"hidden", 3, nil, conversation.NotEdited},
		{"past the end", 5, nil, conversation.MessageNotFound},
		{"before the start", -1, nil, conversation.MessageNotFound},
		{"an id that nobody has", 0, func(r *engine.ExpandRequest) { r.Index, r.MessageID = nil, "m99" }, conversation.MessageNotFound},
		{"an id that is none of ours", 0, func(r *engine.ExpandRequest) { r.Index, r.MessageID = nil, "m" }, conversation.MessageNotFound},
		{"a summary that is none", 0, func(r *engine.ExpandRequest) { r.Index, r.Summary = nil, 7 }, conversation.SummaryNotFound},
		{"another conversation", 0, func(r *engine.ExpandRequest) { r.Key = keyOf("other") }, conversation.ConversationNotFound},
		{"larger than the reply", 2, func(r *engine.ExpandRequest) { r.MaxBytes = 1000 }, conversation.ReplyTooLarge},
	} {
		change := tt.change
		if change == nil {
			change = func(*engine.ExpandRequest) {}
		}
		if _, err := b.expand(tt.index, change); conversation.KindOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if after := b.head(t, "c"); after.Version != before.Version {
		t.Error("a refused expansion wrote something")
	}
	// The last build's budget was 700 tokens: of 350, 320 fit, and of 600 they do not.
	b.expanded(t, 2)
	b.append(t, "c", user("x"))
	b.turn(t, "c", within(600))
	b.turn(t, "c", within(600))
	_, err = b.expand(2)
	expect(t, err, conversation.ExpansionTooLarge)
	if text := err.Error(); !strings.Contains(text, "messages 1-2") || !strings.Contains(text, "chars 0 to ") || strings.Contains(text, "word") {
		t.Errorf("it says %q", text)
	}
	if r := b.expanded(t, 2, returnOnly); r.TotalChars != 1200 { // what it advises works
		t.Errorf("%+v", r)
	}
}

// TestEngine_Expand_ReturnOnly: the original is returned, and nothing else changes.
func TestEngine_Expand_ReturnOnly(t *testing.T) {
	b := newEager()
	whole := long("result", 4000)
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, removed(0)), user("hidden"), answer("done"))
	b.turn(t, "c")
	b.edit(t, "c", hide(3, 4))
	before := b.head(t, "c")
	for index, want := range map[int32]string{0: "go", 2: whole, 3: "hidden", 4: "done"} {
		r := b.expanded(t, index, returnOnly)
		if got := told(&r.Message.Message.Parts[0]); got != want || r.Returned != nil || r.Next != nil || len(r.Events) != 0 || r.RewriteTokens != 0 {
			t.Errorf("message %d: %+v", index, r)
		}
		if r.Revision != before.Revision || r.TotalChars != int64(len(want)) {
			t.Errorf("message %d: %+v", index, r)
		}
	}
	if b.head(t, "c").Version != before.Version {
		t.Error("it wrote something")
	}
}

// TestEngine_Expand_ByID: the engine's ids work, and the caller's, of which the newest counts.
func TestEngine_Expand_ByID(t *testing.T) {
	b := newEager()
	mine := func(id, s string) conversation.Message {
		m := living(user(long(s, 2000)), compacted(0, 100))
		m.ID = id
		return m
	}
	b.append(t, "c", mine("", "zero"), mine("mine", "one"), mine("mine", "two"), mine("x", "three"))
	for range 40 {
		b.append(t, "c", user("a"), user("b"), user("c"), user("d"))
	}
	b.append(t, "c", mine("m1", "not one"))
	for id, want := range map[string]string{"m0": "zero", "mine": "two", "x": "three", "m163": "d", "m1": "not one"} {
		r, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), MessageID: id, ReturnOnly: true})
		if err != nil || !strings.HasPrefix(told(&r.Message.Message.Parts[0]), want) {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	for _, id := range []string{"m2", "m-1", "m+3", "m 0", "m00", "m99999999999", "M0"} {
		_, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), MessageID: id, ReturnOnly: true})
		expect(t, err, conversation.MessageNotFound)
	}
}

// TestEngine_Expand_RequestIDs: a retry gets the first outcome, and restores nothing again (behaviour §3.2).
func TestEngine_Expand_RequestIDs(t *testing.T) {
	b := newEager()
	whole := long("result", 4000)
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, compacted(0, 100)), answer("done"))
	b.turn(t, "c")
	once := func(content string) (*engine.ExpandResult, error) {
		return b.expand(2, func(r *engine.ExpandRequest) { r.Request = request("ExpandMessage", "r", content) })
	}
	first, err := once("x")
	if err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("later"))
	b.turn(t, "c")
	b.turn(t, "c")
	before := b.head(t, "c")
	again, err := once("x")
	if err != nil || !again.Duplicate || again.Revision != first.Revision || told(&again.Message.Message.Parts[0]) != whole {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = once("y")
	expect(t, err, conversation.RequestIDReused)
	if b.head(t, "c").Version != before.Version {
		t.Error("a repeated request wrote something")
	}
	b.now = b.now.Add(25 * time.Hour)
	if r, err := once("y"); err != nil || r.Duplicate {
		t.Errorf("a day later: %+v, %v", r, err)
	}
}

// TestEngine_Expand_BeforeTheWindow: the unit comes back in its place in the view's order. The window does not drop it for 5 turns,
// including the turn of the expansion.
func TestEngine_Expand_BeforeTheWindow(t *testing.T) {
	b := newEager()
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("go"), call("k"), result("k", words(200)), pinned(user("pin")))
	for i := range 7 {
		b.append(t, "c", user(fmt.Sprint(i, words(300))))
	}
	r := b.turn(t, "c", within(2000))
	if _, ok := message(r, 3); ok {
		t.Fatal("the window did not move")
	}
	b.expanded(t, 2)
	r = b.turn(t, "c", within(2000), sameTurn)
	got := seen(r)
	if got[0] != "s" || got[1] != "go" || got[2] != "pin" || got[3] != "call" || got[4] != words(200) {
		t.Errorf("shows %.200q", got)
	}
	if r.Prefix.BrokenBy != engine.BreakExpanded {
		t.Errorf("broken by %d", r.Prefix.BrokenBy)
	}
	in, err := b.Message(ctx, keyOf("c"), 3)
	if err != nil || !in.InView {
		t.Errorf("%+v, %v", in, err)
	}
	for turn := int32(2); turn <= 8; turn++ { // every build moves the window
		b.append(t, "c", user(fmt.Sprint(turn, words(900))))
		r = b.turn(t, "c", within(2000))
		if _, ok := message(r, 3); ok != (turn <= 6) {
			t.Errorf("turn %d: in view is %v", turn, ok)
		}
	}
	b.rebuildsAll(t, "c", 9)
}

// TestEngine_Expand_GivesWay: a unit that was expanded is dropped if nothing else helps, and not for messages that fit next to it.
func TestEngine_Expand_GivesWay(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"), call("k"), result("k", words(450)), answer(words(400)), user(words(300)))
	b.turn(t, "c", within(1000))
	b.expanded(t, 2)
	wantShown(t, b.turn(t, "c", within(1000)), 2, words(450))
	b.append(t, "c", user(words(400)))
	wantShown(t, b.turn(t, "c", within(1000)), 2, words(450))
	b.append(t, "c", user(words(700)))
	r := b.turn(t, "c", within(1000))
	wantShown(t, r, 2, "")
	wantShown(t, r, 6, words(700))
	b.append(t, "c", user("small"))
	wantShown(t, b.turn(t, "c", within(1000)), 2, "") // once given way, gone until asked for again
	b.rebuildsAll(t, "c", 5)
}

// TestEngine_Expand_GivesWayAlone: when an expanded unit is dropped, everything that fits without it stays.
func TestEngine_Expand_GivesWayAlone(t *testing.T) {
	b := newEager()
	b.append(t, "c", user("go"), call("k"), result("k", words(450)), answer(words(400)), user(words(300)))
	b.turn(t, "c", within(1000))
	b.expanded(t, 2)
	b.append(t, "c", answer("kept"), user(words(560)))
	r := b.turn(t, "c", within(1000), by(conversation.Policy{Fit: conversation.FitPolicy{TargetPercent: ptr(int32(90))}}))
	wantShown(t, r, 2, "")
	wantShown(t, r, 5, "kept")
	wantShown(t, r, 6, words(560))
}

// TestEngine_Expand_Reason_IsToldByItsEvents: the reason, in the caller's words, is kept with the edit. The events of the answer and of the
// stream tell it.
func TestEngine_Expand_Reason_IsToldByItsEvents(t *testing.T) {
	const reason = "the user asks about item 47"
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", long("r", 2000), compacted(0, 100)), user("next"))
	b.turn(t, "c")
	x, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2)), Reason: reason})
	if err != nil || len(x.Events) != 1 || x.Events[0].Said != reason {
		t.Fatalf("%+v, %v", x, err)
	}
	enough, told := errors.New("enough"), 0
	err = b.Watch(ctx, keyOf("c"), "", func(e engine.EventAt) error {
		if (e.Event.Said == reason) != (e.Event.Type == conversation.EventExpanded) {
			t.Errorf("%+v", e.Event)
		}
		if e.Event.Type == conversation.EventExpanded {
			told++
			return enough
		}
		return nil
	})
	if told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// TestEngine_Messages_InView_OfWhatCameToARestoredUnit: a result that answers a call in a restored unit is shown with the unit, and counts
// as in view.
func TestEngine_Messages_InView_OfWhatCameToARestoredUnit(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 20)
	b.append(t, "c", user("go"), call("a"), result("a", "first"), answer(words(900)), user("on"), answer(words(900)), user("on"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1500)
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(1))}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 2}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", result("a", "second"), answer(words(900)), user("on"), answer(words(900)), user("on"))
	r := b.build(t, "c", conversation.FormatOpenAIChat, 1500)
	if r.Manifest.Window.Start <= 7 || !strings.Contains(string(r.MessagesJSON), "second") {
		t.Fatalf("window %+v shows %s", r.Manifest.Window, r.MessagesJSON)
	}
	list, err := b.Messages(ctx, engine.MessagesRequest{
		Key: keyOf("c"), Range: conversation.Range{First: 7, End: 8}, Limit: 1, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil || len(list.Messages) != 1 || !list.Messages[0].InView {
		t.Errorf("%+v, %v", list, err)
	}
}

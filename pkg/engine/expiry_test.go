package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// worked appends the worked example of behaviour §5: a message that is added in turn 1, as message 2, with 2 turns to live. After
// each of the following builds it appends something newer.
func worked(t *testing.T, b *bench, m conversation.Message) (built []*engine.BuildResult) {
	b.append(t, "c", user("go"))
	built = append(built, b.turn(t, "c"))
	if m.Role == conversation.RoleTool {
		b.append(t, "c", call("k"), m)
	} else {
		b.append(t, "c", answer("well"), m)
	}
	for i := range 5 {
		built = append(built, b.turn(t, "c"))
		b.append(t, "c", answer(fmt.Sprint("done ", i)), user(fmt.Sprint("next ", i)))
	}
	return built
}

// TestEngine_Build_WorkedExample: with turn_added 1 and 2 turns, a text is in full in turns 2 and 3, and expired from turn 4 on
// (behaviour §5). Without a model, a summary is an extract.
func TestEngine_Build_WorkedExample(t *testing.T) {
	whole := long("result", 5000)
	none := lives(2, conversation.ExpirationNone)
	extract := "[Extract of 5000 characters. Full text: expand_message(2)]\n\n" + whole[:500]
	for _, tt := range []struct {
		name string
		e    *conversation.Expiration
		want string // from turn 4 on; "" if it is not shown at all
		call bool   // whether the call is shown then
	}{
		{"nothing said", nil, whole, true},
		{"NONE", none, whole, true},
		{"no turns", &conversation.Expiration{Mode: conversation.ExpirationRemove}, whole, true},
		{"REMOVE", removed(2), "", false},
		{"COMPACT", lives(2, conversation.ExpirationCompact), firstChars(whole, 500, 2), true},
		{"COMPACT to a length", compacted(2, 100), firstChars(whole, 100, 2), true},
		{"AI_SUMMARY without a model", summarized(2, 500), extract, true},
	} {
		for _, m := range []conversation.Message{resultLiving("k", whole, tt.e), living(result("k", whole), tt.e), living(user(whole), tt.e)} {
			t.Run(fmt.Sprint(tt.name, " ", m.Role, m.Expiration != nil), func(t *testing.T) {
				b := newEager()
				built := worked(t, b, m)
				for i, r := range built[1:] {
					want := whole
					if i >= 2 {
						want = tt.want
					}
					wantShown(t, r, 2, want)
				}
				if _, ok := message(built[3], 1); m.Role == conversation.RoleTool && ok != tt.call {
					t.Errorf("the call is shown: %v", ok)
				}
				if edits := b.head(t, "c").EditSeq; (edits > 0) != (tt.want != whole) {
					t.Errorf("%d edits", edits)
				}
				b.rebuildsAll(t, "c", len(built))
			})
		}
	}
}

// TestEngine_Build_ZeroTurns: 0 is valid: the text is shown while it is in the newest unit (behaviour §5).
func TestEngine_Build_ZeroTurns(t *testing.T) {
	whole := long("result", 2000)
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, compacted(0, 100)))
	for range 3 {
		wantShown(t, b.turn(t, "c"), 2, whole)
	}
	b.append(t, "c", answer("done"))
	wantShown(t, b.turn(t, "c"), 2, firstChars(whole, 100, 2))

	// A text that is never in the newest unit is never shown in full.
	b.append(t, "c", call("k"), resultLiving("k", whole, compacted(0, 100)), user("next"))
	wantShown(t, b.turn(t, "c"), 5, firstChars(whole, 100, 5))
}

// TestEngine_Build_OnlyIfLighter: the sample texts of behaviour §5, and texts for which an edit saves nothing.
func TestEngine_Build_OnlyIfLighter(t *testing.T) {
	for _, tt := range []struct {
		chars, length int32
		edited        bool
	}{
		{500, 500, false},  // not longer than what would be left
		{501, 500, false},  // the annotation weighs more
		{590, 500, false},  // by an estimate
		{800, 500, true},   // 200 tokens become 146
		{2000, 1, true},    // a single character is left
		{100, 1000, false}, // a length greater than the text's
	} {
		t.Run(fmt.Sprint(tt.chars, " to ", tt.length), func(t *testing.T) {
			whole := long("x", int(tt.chars))
			b := newEager()
			b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, compacted(0, tt.length)), answer("done"))
			before := b.turn(t, "c", dry, overriding(conversation.ExpirationOverride{Disable: true}))
			r := b.turn(t, "c")
			want := whole
			if tt.edited {
				want = firstChars(whole, int(tt.length), 2)
			}
			wantShown(t, r, 2, want)
			if tt.edited != (r.Tokens.Messages < before.Tokens.Messages) || tt.edited != (len(r.Events) > 0) {
				t.Errorf("%d tokens became %d, events %+v", before.Tokens.Messages, r.Tokens.Messages, r.Events)
			}
		})
	}
}

// TestEngine_Build_ExplainsExpiry: an expiry causes a decision, an event with the tokens it saves, and a figure in the report
// (behaviour §4, §13).
func TestEngine_Build_ExplainsExpiry(t *testing.T) {
	whole := long("result", 4000)
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, compacted(0, 400)), answer("done"))
	r := b.turn(t, "c")
	shown, _ := message(r, 2)
	after := int64(len(shown)+3) / 4
	d := decision(r, 2)
	if d == nil || d.Kind != conversation.DecisionCompacted || d.Reason != conversation.ReasonExpiredFirstChars || d.EditSeq != 1 || d.Before-d.After != 1000-after {
		t.Errorf("decision %+v; want %d tokens saved", d, 1000-after)
	}
	want := conversation.Event{
		Type: conversation.EventCompacted, Turn: 1, Index: 2, Last: 2, Reason: conversation.ReasonExpiredFirstChars, Saved: 1000 - after, EditSeq: 1,
		Level: conversation.Shortened, Expandable: true,
	}
	if len(r.Events) != 1 || r.Events[0] != want {
		t.Errorf("events %+v, want %+v", r.Events, want)
	}
	if r.Tokens.SavedByExpiry != 1000-after {
		t.Errorf("saved by expiry: %d", r.Tokens.SavedByExpiry)
	}
	m, err := b.Message(ctx, keyOf("c"), 2)
	if err != nil || !m.Expired || m.Level != conversation.Shortened || m.Chars != 4000 || m.Saved != 1000-after || !m.EditTime.Equal(b.now) {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestEngine_Build_TurnsJumpAndRepeat: a skipped turn counts, and a turn that is built again ages nothing (behaviour §3).
func TestEngine_Build_TurnsJumpAndRepeat(t *testing.T) {
	whole := long("result", 2000)
	short := firstChars(whole, 100, 2)
	at := func(n int32) func(*engine.BuildRequest) { return func(r *engine.BuildRequest) { r.Turn = &n } }
	b := newEager()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.append(t, "c", call("k"), resultLiving("k", whole, compacted(2, 100)), answer("done"))
	wantShown(t, b.turn(t, "c", at(3)), 2, whole)
	b.append(t, "c", user("more"))
	for range 3 {
		wantShown(t, b.turn(t, "c", sameTurn), 2, whole)
		wantShown(t, b.turn(t, "c", at(3)), 2, whole)
	}
	for range 2 {
		wantShown(t, b.turn(t, "c", at(4), dry), 2, short) // what would be
		wantShown(t, b.turn(t, "c", at(900), dry), 2, short)
	}
	if h := b.head(t, "c"); h.EditSeq != 0 || h.Turn != 3 {
		t.Fatalf("dry runs committed something: %+v", h)
	}
	wantShown(t, b.turn(t, "c", at(900)), 2, short)
	wantShown(t, b.turn(t, "c", sameTurn), 2, short)
}

// TestEngine_Build_SameTurnAgesNothing: messages that came after the build of a turn do not expire in that turn.
func TestEngine_Build_SameTurnAgesNothing(t *testing.T) {
	whole := long("result", 2000)
	b := newEager()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.append(t, "c", call("k"), resultLiving("k", whole, compacted(0, 100)), answer("done"), user("more"))
	wantShown(t, b.turn(t, "c", sameTurn), 2, whole)
	wantShown(t, b.turn(t, "c"), 2, firstChars(whole, 100, 2))

	// Neither does a text that was due in the turn but was in the newest unit at its build.
	b.append(t, "c", call("k"), resultLiving("k", whole, compacted(0, 100)))
	for range 3 {
		wantShown(t, b.turn(t, "c"), 6, whole)
	}
	b.append(t, "c", answer("done"))
	wantShown(t, b.turn(t, "c", sameTurn), 6, whole)
	wantShown(t, b.turn(t, "c"), 6, firstChars(whole, 100, 6))
}

// TestEngine_Build_Frozen: what a committed build decided stays, whatever policies and overrides say later. disable undoes
// nothing (behaviour §4).
func TestEngine_Build_Frozen(t *testing.T) {
	whole := long("result", 4000)
	short := firstChars(whole, 400, 2)
	for name, change := range map[string]func(*engine.BuildRequest){
		"disabled":        overriding(conversation.ExpirationOverride{Disable: true}),
		"off":             by(conversation.Policy{Expiration: conversation.ExpirationPolicy{Off: ptr(true)}}),
		"a longer life":   overriding(conversation.ExpirationOverride{Expiration: *lives(100, conversation.ExpirationCompact)}),
		"another length":  overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactLength: ptr(int32(50))}}),
		"a summary":       overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactMode: conversation.CompactSummary}}),
		"another policy":  by(conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: *compacted(0, 20)}}),
		"nothing changed": func(*engine.BuildRequest) {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, compacted(0, 400)), answer("done"))
			first := b.turn(t, "c")
			wantShown(t, first, 2, short)
			b.append(t, "c", user("next"))
			wantShown(t, b.turn(t, "c", change), 2, short)
			if got := b.head(t, "c").EditSeq; got != 1 {
				t.Errorf("%d edits", got)
			}
			b.rebuildsAll(t, "c", 2)
		})
	}
}

// TestEngine_Build_StrongerEdit: levels only rise, and a stronger edit is computed from the original (behaviour §4).
func TestEngine_Build_StrongerEdit(t *testing.T) {
	whole := long("result", 8000)
	b := newEager()
	b.append(t, "c", user("go"), call("k", "j"), resultLiving("k", whole, compacted(1, 3000)), result("j", "kept"))
	r := b.turn(t, "c", within(4000)) // a share of 1,000 tokens
	clipped, _ := message(r, 2)
	if !strings.Contains(clipped, "[Clipped: first ") {
		t.Fatalf("not clipped: %s", abridged(clipped))
	}
	b.append(t, "c", answer("done"))
	wantShown(t, b.turn(t, "c"), 2, firstChars(whole, 3000, 2))
	b.append(t, "c", user("next"))
	r = b.turn(t, "c", overriding(conversation.ExpirationOverride{Expiration: *removed(0)}))
	wantShown(t, r, 1, "") // the whole unit leaves: both results are due
	b.rebuildsAll(t, "c", 3)
}

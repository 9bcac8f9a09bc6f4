package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_UndoRewind_ShowsWhatWasTakenBack: the context is the same as before the rewind, whatever was built in between, and appends
// continue from there.
func TestEngine_UndoRewind_ShowsWhatWasTakenBack(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("first"), call("k"), result("k", "one"), answer("right"), user("and?"))
	before := b.turn(t, "c")
	b.rewind(t, "c", 4)
	if r := b.turn(t, "c"); len(r.Messages) != 4 {
		t.Fatalf("%d messages after the rewind", len(r.Messages))
	}
	r, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c"), Request: request("UndoRewind", "u", "x")})
	if err != nil || r.Range != (conversation.Range{First: 4, End: 6}) || len(r.Events) != 1 || r.Events[0].Type != conversation.EventRewindUndone {
		t.Fatalf("%+v, %v", r, err)
	}
	if after := b.turn(t, "c"); after.SHA256 != before.SHA256 {
		t.Errorf("another context: %s", page(after))
	}
	b.append(t, "c", answer("more"), user("then?"))
	if after := b.turn(t, "c"); len(after.Messages) != len(before.Messages)+2 {
		t.Errorf("%d messages", len(after.Messages))
	}
	b.rebuildsAll(t, "c", 4)
}

func TestEngine_UndoRewind_NothingToUndo(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("first"), answer("one"))
	undo := func() error { _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")}); return err }
	if err := undo(); conversation.KindOf(err) != conversation.NothingToUndo {
		t.Errorf("without a rewind: %v", err)
	}
	b.rewind(t, "c", 1)
	b.append(t, "c", answer("two"))
	if err := undo(); conversation.KindOf(err) != conversation.NothingToUndo {
		t.Errorf("after an append: %v", err)
	}
	b.rewind(t, "c", 2)
	if err := undo(); err != nil {
		t.Errorf("the newest rewind: %v", err)
	}
	if err := undo(); conversation.KindOf(err) != conversation.NothingToUndo {
		t.Errorf("the one before: %v", err)
	}
}

// TestEngine_UndoRewind_TheHeadIsTheOneBefore: this holds for any sequence of appends, rewinds and undos.
func TestEngine_UndoRewind_TheHeadIsTheOneBefore(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		b := newBench(0)
		b.append(t, "c", text(conversation.RoleSystem, "s"))
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			b.goOn(t, rt, "c")
		}
		before := b.head(t, "c")
		var ranges []conversation.Range
		for range rapid.IntRange(1, 3).Draw(rt, "rewinds") {
			r, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: rapid.Int32Range(0, before.Messages-1).Draw(rt, "from")})
			if err != nil {
				break
			}
			ranges = append(ranges, r.Range)
		}
		slices.Reverse(ranges)
		for _, want := range ranges {
			r, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")})
			if err != nil || r.Range != want {
				rt.Fatalf("%+v, %v", r, err)
			}
		}
		if diff := cmp.Diff(paired(before), paired(b.head(t, "c"))); diff != "" {
			rt.Fatal(diff)
		}
		b.append(t, "c", user("next")) // and pairs, pins and numbers go on
		if _, err := b.imports("copy", b.export(t, "c")); err != nil {
			rt.Fatal(err, causeOf(err))
		}
	})
}

// paired is what of a head follows from the messages that are there.
func paired(h store.Head) store.Head {
	out := store.Head{
		Messages: h.Messages, Tokens: h.Tokens, UnitStart: h.UnitStart, CallsEnd: h.CallsEnd, LeadingSystem: h.LeadingSystem, Request: h.Request,
		Opening: h.Opening, CallOrdinal: h.CallOrdinal, Unanswered: h.Unanswered, Pins: h.Pins, Place: h.Place,
	}
	if len(out.Pins) == 0 {
		out.Pins = nil
	}
	if len(out.Unanswered) == 0 {
		out.Unanswered = nil
	}
	return out
}

func (b *bench) rewind(t testing.TB, id string, from int32) {
	t.Helper()
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf(id), From: from}); err != nil {
		t.Fatal(err)
	}
}

// TestEngine_UndoRewind_SummarizedMeanwhile: of a summary that would be in force again, and one that was made in its range meanwhile,
// only one is in force: nothing is told twice.
func TestEngine_UndoRewind_SummarizedMeanwhile(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("first"))
	for i := range 4 {
		b.append(t, "c", answer(words(300)), user(fmt.Sprint("request ", i)))
	}
	compact := func(recent int32) conversation.Range {
		r, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), KeepRecent: &recent})
		if err != nil {
			t.Fatal(err)
		}
		return r.Summaries[len(r.Summaries)-1].Range
	}
	b.turn(t, "c")
	large := compact(1)
	b.rewind(t, "c", large.End)
	if small := compact(1); !large.Covers(small) || small == large {
		t.Fatalf("%+v and then %+v", large, small)
	}
	if _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")}); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, m := range b.turn(t, "c").Messages {
		if m.Summary > 0 {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d summaries", shown)
	}
	b.rebuildsAll(t, "c", 2)
}

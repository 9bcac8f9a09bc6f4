package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Import_OfRewoundAndSummarized: messages that were taken back do not pair, pin or lead in the copy either, and
// summaries have everything that their successors need.
func TestEngine_Import_OfRewoundAndSummarized(t *testing.T) {
	b := summarizes(conversation.StrategySummarize)
	rewind := func(from int32) {
		if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: from}); err != nil {
			t.Fatal(err)
		}
	}
	b.append(t, "c", text(conversation.RoleSystem, "s"), user("first"), call("k", "l"), result("k", "one"), result("l", "two"))
	b.append(t, "c", pinned(user("wrong")), call("m"))
	rewind(4)
	b.append(t, "c", result("l", "again"), answer("so"), pinned(user("keep this")))
	rewind(3)
	b.append(t, "c", result("k", "anew"), result("l", "anew"), user("Never stop."), answer("right"))
	b.worked(t, "c", 0, 80, 100, 8000)
	rewind(b.head(t, "c").Messages - 1)
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err, causeOf(err))
	}
	for _, id := range []string{"c", "copy"} {
		b.append(t, id, result("k79", "at last"), user("and?"))
	}
	for range 3 {
		one, other := b.turn(t, "c", within(8000)), b.turn(t, "copy", within(8000))
		if one.SHA256 != other.SHA256 || one.Tokens != other.Tokens {
			t.Errorf("the copy builds otherwise: %+v and %+v", one.Tokens, other.Tokens)
		}
		for _, id := range []string{"c", "copy"} {
			b.append(t, id, user(words(4000)))
		}
	}
	one, other := b.head(t, "c"), b.head(t, "copy")
	if one.Request != other.Request || one.UnitStart != other.UnitStart || len(one.Pins) != len(other.Pins) || one.LeadingSystem != other.LeadingSystem {
		t.Errorf("heads %+v and %+v", one, other)
	}
}

// TestEngine_Import_OfRewinds: whatever was said and taken back, the copy's head is the original's.
func TestEngine_Import_OfRewinds(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		b := newBench(0)
		b.append(t, "c", text(conversation.RoleSystem, "s"))
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			b.goOn(t, rt, "c")
		}
		first := b.export(t, "c")
		if _, err := b.imports("copy", first); err != nil {
			rt.Fatal(err, causeOf(err))
		}
		again, want := likened(b.export(t, "copy")), likened(first)
		for i := range want {
			if diff := cmp.Diff(want[i], again[i]); diff != "" {
				rt.Fatalf("record %d: %s", i, diff)
			}
		}
	})
}

// goOn appends something, or takes something back.
func (b *bench) goOn(t testing.TB, rt *rapid.T, id string) {
	next := b.head(t, id).Messages
	switch rapid.IntRange(0, 9).Draw(rt, "what") {
	case 0:
		m := user("u")
		m.Pinned = rapid.IntRange(0, 3).Draw(rt, "pinned") == 0
		b.append(t, id, m)
	case 1:
		b.append(t, id, call(fmt.Sprint("a", next), fmt.Sprint("b", next)))
	case 2, 3: // a result, if there was such a call, and it is open
		of := fmt.Sprint(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "call"), rapid.Int32Range(0, next).Draw(rt, "of"))
		_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf(id), Messages: []conversation.Message{result(of, "r")}})
		if err != nil && conversation.KindOf(err) != conversation.ResultWithoutCall {
			rt.Fatal(err)
		}
	case 4:
		b.append(t, id, answer("a"))
	case 7:
		b.append(t, id, aborted(call(fmt.Sprint("a", next))))
	case 8:
		if _, err := b.tryTurn(id, closing); err != nil && conversation.KindOf(err) != conversation.EmptyContext {
			rt.Fatal(err)
		}
	case 5:
		_, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf(id), From: rapid.Int32Range(0, next-1).Draw(rt, "from")})
		if err != nil && conversation.KindOf(err) != conversation.AlreadyRewound {
			rt.Fatal(err)
		}
	case 9:
		if _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf(id)}); err != nil && conversation.KindOf(err) != conversation.NothingToUndo {
			rt.Fatal(err)
		}
	case 6:
		m := user("p")
		m.Parts = append(m.Parts, conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: "x"}, Plugin: "memory",
			Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 2},
		})
		b.append(t, id, m)
	}
}

package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Import_OfRewoundAndSummarised: what was taken back does not pair, pin or lead in the copy either, and summaries come
// with all that their successors need.
func TestEngine_Import_OfRewoundAndSummarised(t *testing.T) {
	b := summarises(conversation.StrategySummarize)
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
	if one.LastUser != other.LastUser || one.UnitStart != other.UnitStart || len(one.Pins) != len(other.Pins) || one.LeadingSystem != other.LeadingSystem {
		t.Errorf("heads %+v and %+v", one, other)
	}
}

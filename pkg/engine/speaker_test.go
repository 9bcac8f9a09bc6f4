package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_Build_LastSpeakerNeverExpires: without the last unit in which anybody but the system speaks, there would be no
// context.
func TestEngine_Build_LastSpeakerNeverExpires(t *testing.T) {
	b := newEager()
	asked := user("what is it?")
	asked.Expiration = &conversation.Expiration{Turns: ptr(int32(0)), Mode: conversation.ExpirationRemove}
	b.append(t, "c", asked, text(conversation.RoleSystem, "be brief"))
	for range 3 {
		if got, ok := message(b.turn(t, "c"), 0); !ok || got != "what is it?" {
			t.Fatalf("the question is shown as %q, %v", got, ok)
		}
	}
	b.append(t, "c", user("and this?"))
	if _, ok := message(b.turn(t, "c"), 0); ok {
		t.Error("the question stays, and another one is there")
	}
}

// TestEngine_Build_RetentionTellsWhatItSaves: a mask's event says how many tokens the view lost by it.
func TestEngine_Build_RetentionTellsWhatItSaves(t *testing.T) {
	b := newEager()
	said := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: words(100)}}
	if _, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Messages: []conversation.Message{user("go")},
		Extras: []engine.AppendExtra{{Additions: []conversation.Addition{{Plugin: "p", Display: true, Parts: []conversation.Part{said}}}}},
	}); err != nil {
		t.Fatal(err)
	}
	first := b.turn(t, "c").Tokens.Messages
	r := b.turn(t, "c")
	if len(r.Events) != 1 || r.Events[0].Saved != first-r.Tokens.Messages || r.Events[0].Saved <= 0 {
		t.Errorf("events %+v, and the view lost %d tokens", r.Events, first-r.Tokens.Messages)
	}
}

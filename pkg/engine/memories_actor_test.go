package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// TestEngine_Memories_OfAnActorByName_NeedACallThatSpeaksForThem: this holds no matter what the server's edge lets through.
func TestEngine_Memories_OfAnActorByName_NeedACallThatSpeaksForThem(t *testing.T) {
	t.Parallel()
	b := newRecalling(t, &fakeMemory{answers: []memory.Memory{remembered("m1", "x")}}, nil)
	of := engine.MemoriesOf{Key: engine.Key{Namespace: "default"}, ActorID: "ann"}
	bob := engine.SpeakingFor(ctx, []string{"bob"})
	_, err := b.ListMemories(bob, engine.ListMemoriesRequest{Of: of, Limit: 1})
	expect(t, err, conversation.PermissionDenied)
	_, err = b.AddMemory(bob, engine.AddMemoryRequest{Of: of, Text: "x"})
	expect(t, err, conversation.PermissionDenied)
	_, err = b.DeleteMemory(bob, of, "m1")
	expect(t, err, conversation.PermissionDenied)
	_, err = b.ForgetActor(bob, "default", "ann", false)
	expect(t, err, conversation.PermissionDenied)
	if deleted, err := b.DeleteMemory(engine.SpeakingFor(ctx, []string{"ann"}), of, "m1"); err != nil || !deleted {
		t.Errorf("ann herself: %v, %v", deleted, err)
	}
}

package engine_test

import (
	"context"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	memorystore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
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

// noted is a memory whose notes a test does something to before they are kept.
type noted struct {
	*fakeMemory
	before func()
}

func (n *noted) Put(_ context.Context, _ memory.Scope, note *memory.Note) (string, error) {
	n.before()
	n.set(func(o *fakeMemory) { o.answers = append(o.answers, remembered("added", note.Text)) })
	return "added", nil
}

// TestEngine_AddMemory_ToAConversationThatIsDeletedMeanwhile_LeavesNothing: neither where the id stays free nor where another conversation has it.
func TestEngine_AddMemory_ToAConversationThatIsDeletedMeanwhile_LeavesNothing(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"deleted": false, "begun again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &noted{fakeMemory: &fakeMemory{}}
			b := newBenchWith(memorystore.New(memorystore.Options{}), func(e *engine.Options) { e.Memory = engine.MemoryOf(o) })
			t.Cleanup(b.Close)
			begin := func() {
				if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: engine.Info{Counter: "chars4"}}); err != nil {
					t.Fatal(err)
				}
			}
			begin()
			o.before = func() {
				if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
					t.Error(err)
				}
				if again {
					begin()
				}
			}
			of := engine.MemoriesOf{Key: keyOf("c"), Scope: memory.ScopeSession}
			_, err := b.AddMemory(ctx, engine.AddMemoryRequest{Of: of, Text: "x"})
			if kind := conversation.KindOf(err); kind != conversation.ConversationNotFound && kind != conversation.ConversationDeleted {
				t.Errorf("%v", err)
			}
			if len(o.answers) > 0 {
				t.Error("the memory is left")
			}
		})
	}
}

package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	memorystore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// TestEngine_Memory_Texts_AreWhatMayBeShown: a memory that keeps no texts of its own shows none that the record does not.
func TestEngine_Memory_Texts_AreWhatMayBeShown(t *testing.T) {
	t.Parallel()
	var from engine.MemorySources
	b := newBenchWith(memorystore.New(memorystore.Options{}), func(o *engine.Options) {
		o.CacheBytes, o.ContentCacheBytes = 1<<20, 1<<20
		o.Memory = func(s engine.MemorySources) memory.Target {
			from = s
			return &fakeMemory{}
		}
	})
	t.Cleanup(b.Close)
	long := strings.Repeat("ä", 80_000)
	assistant := conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "Noted."}}}}
	b.append(t, "c", user("first"), assistant, user(long), call("1"), result("1", "of a tool"), user("later"))
	incarnation := b.head(t, "c").Incarnation
	texts := func(indices ...int32) (out []string) {
		t.Helper()
		found, err := from.Texts(ctx, "default", "c", incarnation, indices)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			out = append(out, m.Text)
		}
		return out
	}
	if got := texts(5, 0, 1, 2, 3, 4, 99, -1); !slices.Equal(got, []string{"later", "first", "Noted.", long}) {
		t.Errorf("%d texts: %.20q", len(got), got)
	}
	if found, err := from.Texts(ctx, "default", "c", conversation.ID{1}, []int32{0}); err != nil || len(found) > 0 {
		t.Errorf("of another conversation of the name: %v, %v", found, err)
	}
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 5}); err != nil {
		t.Fatal(err)
	}
	if got := texts(0, 5); !slices.Equal(got, []string{"first"}) {
		t.Errorf("after a rewind: %q", got)
	}
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := texts(0, 1, 5); len(got) > 0 {
		t.Errorf("of a deleted conversation: %q", got)
	}
}

func TestEngine_Memory_Cache_IsBoundByThatOfContents(t *testing.T) {
	t.Parallel()
	var from engine.MemorySources
	b := newBenchWith(memorystore.New(memorystore.Options{}), func(o *engine.Options) {
		o.ContentCacheBytes = 1000
		o.Memory = func(s engine.MemorySources) memory.Target {
			from = s
			return &fakeMemory{}
		}
	})
	t.Cleanup(b.Close)
	key := func(id string) store.Key { return store.Key{Namespace: "memory:default", Conversation: id} }
	from.Cache.Put(key("a"), 1, 400)
	from.Cache.Put(key("b"), 2, 400)
	if a, b := from.Cache.Get(key("a")), from.Cache.Get(key("b")); a != nil || b != 2 {
		t.Errorf("kept %v and %v", a, b)
	}
	from.Cache.Put(key("b"), 3, 1001)
	if got := from.Cache.Get(key("b")); got != nil {
		t.Errorf("one that has no room leaves %v", got)
	}
	from.Cache.Put(key("c"), 4, 1)
	from.Cache.Drop(key("c"))
	if got := from.Cache.Get(key("c")); got != nil {
		t.Errorf("dropped: %v", got)
	}
}

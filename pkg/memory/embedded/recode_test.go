package embedded_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// segments are the segments' slots of a scope.
func segments(t *testing.T, s store.Store, scope memory.Scope) (store.Head, map[string][]byte) {
	t.Helper()
	snap, err := s.Read(t.Context(), embedded.Partition(scope), store.Query{SlotsOf: "index/"})
	must(t, err)
	return snap.Head, snap.Slots
}

// What another version coded otherwise is found all the same, and is coded anew where it is written.
func TestTarget_AnotherCoding_IsReadAnew(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "one", 0, day(0), "The bees are in the hall.", "I am allergic to walnuts.", "Hidden honey."))
	add(t, target, talk(s, "two", 0, day(1), filler("w", 2000)))
	_, err := target.Put(t.Context(), s, &memory.Note{Key: "k", Text: "The lantern is blue.", Time: day(1)})
	must(t, err)
	head, slots := segments(t, w.store, s)
	for name, value := range slots {
		if slots[name], err = embedded.Scramble(value); err != nil {
			t.Fatal(err)
		}
	}
	expect := head.Version
	head.Version++
	must(t, w.store.Commit(t.Context(), embedded.Partition(s), &store.Change{Expect: expect, Head: head, Slots: slots}))
	w.record.hide(s.Namespace, "one", incarnationOf("one"), 2)
	target = w.process()
	found := func() {
		t.Helper()
		for _, text := range []string{"bees", "walnuts", "lantern", "w17x"} {
			if len(find(t, target, s, text)) != 1 {
				t.Errorf("%s is not found", text)
			}
		}
	}
	found()
	add(t, target, talk(s, "three", 0, day(2), "They make wax."))
	target = w.process()
	found()
	if _, slots = segments(t, w.store, s); len(slots) == 0 {
		t.Error("no segments")
	}
	for name, value := range slots {
		if embedded.Coding(value) != search.Coding {
			t.Errorf("%s is not coded anew", strings.TrimPrefix(name, "index/"))
		}
	}
	if n := len(list(t, target, s)); n != 6 {
		t.Errorf("%d memories", n)
	}
}

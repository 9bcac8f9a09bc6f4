package engine_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// aged makes a conversation with events of every type, and returns the events that answers reported.
func aged(t *testing.T, b *bench) (told []conversation.Event) {
	hear := func(events []conversation.Event) { told = append(told, events...) }
	hear(b.append(t, "c", user("go"), call("k", "j", "l"),
		resultLiving("k", words(100), removed(0)), resultLiving("j", words(400), compacted(0, 100)), resultLiving("l", words(400), erasing(removed(1)))).Events)
	r, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Messages: []conversation.Message{user("u")},
		Extras: []engine.AppendExtra{{Additions: []conversation.Addition{adds("p", "", "a", true, keepLast(1)), adds("q", "", "b", true, never)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	hear(r.Events)
	hear(b.turn(t, "c").Events)
	hear(b.append(t, "c", call("big"), result("big", words(900)), living(user("x"), removed(0))).Events)
	hear(b.turn(t, "c", within(2000)).Events)
	hear(b.expanded(t, 3, returnOnly).Events)
	hear(b.append(t, "c", answer("well")).Events)
	hear(b.turn(t, "c", within(2000)).Events)
	x, err := b.expand(8) // the removed words
	if err != nil {
		t.Fatal(err)
	}
	hear(x.Events)
	hear(b.turn(t, "c", sameTurn).Events)
	hear(b.append(t, "c", user("last")).Events)
	hear(b.turn(t, "c").Events)
	return told
}

// TestEngine_Watch_Lifecycle: the stream has every type of event, in the order of commits, exactly as answers reported them. From every
// token it continues without gap or repeat, also in another process, and after a restart on the same store (behaviour §13).
func TestEngine_Watch_Lifecycle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s, err := bolt.Open(path, bolt.Options{MapBytes: 1 << 26})
	if err != nil {
		t.Fatal(err)
	}
	b := lifeBench(s, nil)
	told := aged(t, b)
	all := b.watch(t, "c", "", len(told))
	types := map[conversation.EventType]int{}
	for i, e := range all {
		if types[e.Event.Type]++; e.Event != told[i] {
			t.Errorf("event %d is %+v, the answer told of %+v", i, e.Event, told[i])
		}
	}
	for kind := conversation.EventAdded; kind <= conversation.EventExpanded; kind++ {
		if types[kind] == 0 {
			t.Errorf("no event of type %d: %v", kind, types)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = bolt.Open(path, bolt.Options{MapBytes: 1 << 26}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	again := lifeBench(s, nil)
	for i := range all[:len(all)-1] {
		if got, want := again.watch(t, "c", all[i].Token, len(all)-1-i), all[i+1:]; !slices.Equal(got, want) {
			t.Fatalf("behind event %d: got %v, want %v", i, got, want)
		}
	}
	again.ids.Store(1 << 32)
	again.append(t, "c", user("after the restart"))
	got := again.watch(t, "c", all[len(all)-1].Token, 1)
	if e := got[0].Event; e.Type != conversation.EventAdded || fmt.Sprint(e.Index) != fmt.Sprint(again.head(t, "c").Messages-1) {
		t.Errorf("%+v", e)
	}
}

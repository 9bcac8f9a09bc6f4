package storetest

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func listCases() []check {
	return []check{
		{"ByteOrderAndPages", listOrder},
		{"HeadsAndInfos", of(listHeads)},
		{"TrickyNamesStayApart", trickyNames},
	}
}

func listIDs(b *box, namespace, after string, limit int) []string {
	b.Helper()
	entries, err := b.s.List(b.ctx, namespace, after, limit)
	b.must(err)
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func listOrder(b *box) {
	ids := []string{"b", "a", "a\x00", "a\xff", "aa", "B", "\xff", "\x00", "ä"}
	for _, id := range ids {
		b.begin(name(id))
	}
	slices.Sort(ids)
	b.equal(listIDs(b, "default", "", 100), ids)
	b.equal(listIDs(b, "default", "", 0), []string(nil))
	b.equal(listIDs(b, "default", "\xff\xff", 9), []string(nil))
	b.equal(listIDs(b, "default", "a", 2), []string{"a\x00", "aa"})
	b.equal(paged(func(after *string) []string {
		if after == nil {
			after = new(string)
		}
		return listIDs(b, "default", *after, 2)
	}), ids)
}

func listHeads(k *talk) {
	bare := k.unborn(name("b"))
	bare.commit(bare.change())
	k.commit(say(k.change(), 5))
	gone := k.begin(name("c"))
	gone.bury(start())
	entries, err := k.s.List(k.ctx, "default", "", 10)
	k.must(err)
	k.equal(entries, []store.Entry{
		{ID: "a", Head: k.head, Info: store.Info{Title: "a", Metadata: `{"a":1}`}},
		{ID: "b", Head: bare.head},
		{ID: "c", Head: gone.head, Info: store.Info{Title: "c", Metadata: `{"a":1}`}},
	})
}

// trickyNames: pairs whose bytes are the same when they are put one after the other, and bytes that separators like.
func trickyNames(b *box) {
	keys := []store.Key{
		{Namespace: "a", Conversation: "bc"}, {Namespace: "ab", Conversation: "c"}, {Namespace: "", Conversation: "abc"},
		{Namespace: "a\x00", Conversation: "b"}, {Namespace: "a", Conversation: "\x00b"}, {Namespace: "a/b", Conversation: "c"},
		{Namespace: "a", Conversation: "/b/c"}, {Namespace: "\xff", Conversation: "\xff"}, {Namespace: "\xff\xff", Conversation: "x"},
		{Namespace: "{a}", Conversation: "}"}, {Namespace: "a\x00\x01", Conversation: "c"}, {Namespace: "a", Conversation: "c"},
	}
	talks := make([]*talk, 0, len(keys))
	for i, key := range keys {
		k := b.begin(key)
		c := k.change()
		for range i {
			say(c, 1)
		}
		k.commit(c)
		talks = append(talks, k)
	}
	listed := make(map[store.Key]bool)
	for i, k := range talks {
		if snap := b.read(k.key, allMessages()); len(snap.Messages) != i {
			b.Fatalf("%q has %d messages of its %d", k.key, len(snap.Messages), i)
		}
		for _, id := range listIDs(b, k.key.Namespace, "", 100) {
			listed[store.Key{Namespace: k.key.Namespace, Conversation: id}] = true
		}
	}
	b.equal(len(listed), len(keys))
	for _, key := range keys {
		if !listed[key] {
			b.Fatalf("%q is not listed", key)
		}
	}
}

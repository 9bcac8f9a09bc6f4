package storetest

import (
	"bytes"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func slotCases() []check {
	return []check{
		{"SetReadRemove", of(slotsSetReadRemove)},
		{"ByPrefix", of(slotsByPrefix)},
		{"NamespacePartition", namespacePartition},
		{"ExpectSlotsGuards", of(expectSlots)},
		{"AsideLeavesTheHead", of(asideLeavesTheHead)},
		{"ErasedAreGone", of(erasedSlots)},
	}
}

func (k *talk) set(pairs map[string][]byte) {
	k.Helper()
	c := k.change()
	c.Slots = pairs
	k.commit(c)
}

func slotsSetReadRemove(k *talk) {
	big := bytes.Repeat([]byte("x"), store.MaxSlot)
	k.set(map[string][]byte{"s1": []byte("one"), "s2": {}, "s3": big, "": []byte("nameless")})
	got := k.read(k.key, store.Query{Slots: []string{"s1", "s2", "s3", "s4", ""}}).Slots
	k.equal(got, map[string][]byte{"s1": []byte("one"), "s2": {}, "s3": big, "": []byte("nameless")})
	if got["s2"] == nil {
		k.Fatal("a slot that is empty reads as one that is not there")
	}
	k.set(map[string][]byte{"s1": nil, "s2": []byte("two"), "s9": nil})
	k.equal(k.read(k.key, store.Query{Slots: []string{"s1", "s2", "s9"}}).Slots, map[string][]byte{"s2": []byte("two")})
}

// erasedSlots: a commit that erases sets and removes slots as others do.
func erasedSlots(k *talk) {
	k.set(map[string][]byte{"s1": []byte("one"), "s2": []byte("two")})
	c := k.change()
	c.Slots, c.Erases = map[string][]byte{"s1": nil, "s2": []byte("three")}, true
	if !c.Frees() {
		k.Error("what erases is refused in a full store")
	}
	k.commit(c)
	k.equal(k.read(k.key, store.Query{AllSlots: true}).Slots, map[string][]byte{"s2": []byte("three")})
	k.refused(&store.Change{Aside: true, Erases: true, Head: store.Head{Incarnation: k.head.Incarnation}, Slots: map[string][]byte{"s2": nil}}, store.ErrInvalid)
}

func slotsByPrefix(k *talk) {
	k.set(map[string][]byte{"p/": {1}, "p/a": {2}, "p/\xff": {3}, "p": {4}, "p0": {5}, "q": {6}})
	k.equal(k.read(k.key, store.Query{SlotsOf: "p/"}).Slots, map[string][]byte{"p/": {1}, "p/a": {2}, "p/\xff": {3}})
	k.equal(k.read(k.key, store.Query{SlotsOf: "p/", Slots: []string{"q"}}).Slots,
		map[string][]byte{"p/": {1}, "p/a": {2}, "p/\xff": {3}, "q": {6}})
	k.set(map[string][]byte{"": {7}})
	k.equal(k.read(k.key, store.Query{AllSlots: true, SlotsOf: "p/"}).Slots,
		map[string][]byte{"": {7}, "p/": {1}, "p/a": {2}, "p/\xff": {3}, "p": {4}, "p0": {5}, "q": {6}})
	k.set(map[string][]byte{"": nil})
	many := make(map[string][]byte)
	for i := range 300 {
		many[fmt.Sprintf("m%03d", i)] = []byte{byte(i)}
	}
	k.set(many)
	k.equal(k.read(k.key, store.Query{SlotsOf: "m"}).Slots, many)
}

// namespacePartition: the empty conversation of a namespace holds slots, and no list shows it.
func namespacePartition(b *box) {
	k := b.unborn(store.Key{Namespace: "default"})
	k.set(map[string][]byte{"profile/m": []byte("p")})
	other := b.unborn(store.Key{})
	other.set(map[string][]byte{"profile/m": []byte("q")})
	b.equal(b.read(k.key, store.Query{SlotsOf: "profile/"}).Slots, map[string][]byte{"profile/m": []byte("p")})
	b.begin(name("a"))
	for _, namespace := range []string{"default", ""} {
		entries, err := b.s.List(b.ctx, namespace, "", 10)
		b.must(err)
		for _, e := range entries {
			if e.ID == "" {
				b.Fatal("the list shows the namespace's own partition")
			}
		}
	}
}

func expectSlots(k *talk) {
	try := func(expect map[string][]byte, want error) {
		k.Helper()
		c := k.change()
		c.ExpectSlots, c.Slots = expect, map[string][]byte{"s": []byte("mine")}
		if want != nil {
			k.refused(c, want)
			return
		}
		k.commit(c)
	}
	try(map[string][]byte{"s": []byte("mine")}, store.ErrConflict)
	try(map[string][]byte{"s": {}}, store.ErrConflict)
	try(map[string][]byte{"s": nil}, nil)
	try(map[string][]byte{"s": nil}, store.ErrConflict)
	try(map[string][]byte{"s": []byte("min")}, store.ErrConflict)
	try(map[string][]byte{"s": []byte("mine"), "t": []byte("x")}, store.ErrConflict)
	try(map[string][]byte{"s": []byte("mine"), "t": nil}, nil)
}

// asideLeavesTheHead: a lease is taken and renewed without a word to those who append.
func asideLeavesTheHead(k *talk) {
	lease := &store.Change{
		Aside: true, Head: store.Head{Incarnation: k.head.Incarnation},
		Slots: map[string][]byte{"lease": []byte("me")}, ExpectSlots: map[string][]byte{"lease": nil},
	}
	k.commit(lease)
	snap := k.read(k.key, store.Query{Slots: []string{"lease"}})
	k.equal(snap.Head, k.head)
	k.equal(string(snap.Slots["lease"]), "me")
	k.refused(lease, store.ErrConflict)
	k.commit(say(k.change(), 1))
	stranger := *lease
	stranger.Head.Incarnation, stranger.ExpectSlots = k.id(), nil
	k.refused(&stranger, store.ErrConflict)
	k.unborn(name("b")).refused(&stranger, store.ErrNotFound)
	c := k.change()
	c.Head.State = store.Deleted
	k.commit(c)
	free := *lease
	free.ExpectSlots = nil
	k.refused(&free, store.ErrConflict)
}

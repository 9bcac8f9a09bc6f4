package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// movingCases is what moving everything to another store rests on.
func movingCases() []check {
	return []check{
		{"NamesOfAllNamespaces", namesOfAll},
		{"OutcomesInPages", of(outcomesInPages)},
		{"StoredContentsInPages", of(storedInPages)},
		{"OutcomesAndSlotsAreStaged", outcomesStaged},
		{"TombstoneWithoutItsRecords", tombstoneArrives},
		{"SealEndsWriting", of(sealEndsWriting)},
		{"SealLeavesNothingUnderWay", sealIsComplete},
		{"SealOutlivesTheProcess", of(sealSurvives)},
	}
}

func sortKeys(keys []store.Key) []store.Key {
	slices.SortFunc(keys, store.Key.Compare)
	return keys
}

func namesOfAll(b *box) {
	none, err := b.s.Names(b.ctx, nil, 10)
	b.must(err)
	b.equal(none, []store.Key(nil))
	want := []store.Key{
		{}, {Namespace: "", Conversation: "a"}, {Namespace: "a"}, {Namespace: "a", Conversation: "b\x00"}, {Namespace: "aa", Conversation: "\xff"},
		{Namespace: "b", Conversation: "deleted"}, {Namespace: "\xff\xff", Conversation: "z"},
	}
	for _, key := range want {
		k := b.begin(key)
		if key.Conversation == "deleted" {
			k.bury(start())
		}
	}
	unnamed := b.unborn(name("staged"))
	unnamed.stage(b.id(), "x", start())
	for _, page := range []int{1, 3, 100} {
		got := paged(func(after *store.Key) []store.Key {
			keys, err := b.s.Names(b.ctx, after, page)
			b.must(err)
			return keys
		})
		b.equal(sortKeys(got), sortKeys(slices.Clone(want)))
	}
}

func outcomesInPages(k *talk) {
	want := make([]store.Outcome, 0, 7)
	for i := range 7 {
		c := k.change()
		c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: strings.Repeat("r", i%3), ID: fmt.Sprint(i)}, Time: start(), Hash: [32]byte{byte(i)}}
		k.commit(c)
		want = append(want, *c.Outcome)
	}
	for _, page := range []int{1, 3, 100} {
		got := paged(func(after *store.Outcome) []store.Outcome {
			q := &store.OutcomeRange{Limit: page}
			if after != nil {
				q.After = &after.Key
			}
			return k.read(k.key, store.Query{Outcomes: q}).Outcomes
		})
		slices.SortFunc(got, func(x, y store.Outcome) int { return strings.Compare(x.Key.ID, y.Key.ID) })
		k.equal(got, want)
	}
}

func storedInPages(k *talk) {
	other := k.begin(name("b"))
	foreign := k.id()
	other.stage(foreign, "x", start())
	other.refer(foreign)
	var want []conversation.ID
	for i := range 5 {
		id := k.id()
		k.stage(id, noise(store.ChunkBytes*(i%2)+1), start())
		k.refer(id)
		want = append(want, id)
	}
	k.stage(k.id(), "nobody refers to it", start())
	k.release(want[0])
	want = want[1:]
	slices.SortFunc(want, func(x, y conversation.ID) int { return bytes.Compare(x[:], y[:]) })
	for _, page := range []int{1, 3, 100} {
		got := paged(func(after *conversation.ID) []conversation.ID {
			q := &store.StoredRange{Limit: page}
			if after != nil {
				q.After = *after
			}
			return k.read(k.key, store.Query{Stored: q}).Stored
		})
		k.equal(got, want)
	}
}

func outcomesStaged(b *box) {
	k := b.unborn(name("import"))
	outcome := store.Outcome{Key: store.RequestKey{RPC: "r", ID: "i"}, Time: start(), Count: 2}
	u := &store.Upload{
		Incarnation: k.head.Incarnation, Time: start(), Outcomes: []store.Outcome{outcome}, Slots: map[string][]byte{"s": []byte("v"), "s2": {}},
	}
	k.must(k.s.Stage(k.ctx, k.key, u))
	c := k.change()
	c.Head.Version, c.Head.Revision = 41, 7
	k.commit(c)
	snap := b.read(k.key, store.Query{Request: &outcome.Key, SlotsOf: "s", Outcomes: &store.OutcomeRange{Limit: 10}})
	b.equal(snap.Outcome, &outcome)
	b.equal(snap.Outcomes, []store.Outcome{outcome})
	b.equal(snap.Slots, u.Slots)
	b.equal(snap.Head.Version, uint64(41))
	b.wants(b.s.Stage(b.ctx, k.key, u), store.ErrConflict) // it has a head now
	long := &store.Upload{Incarnation: b.id(), Slots: map[string][]byte{"s": make([]byte, store.MaxSlot+1)}}
	b.wants(b.s.Stage(b.ctx, k.key, long), store.ErrInvalid)
}

// tombstoneArrives: of what was purged, a head that counts messages is all that is left.
func tombstoneArrives(b *box) {
	k := b.unborn(name("a"))
	c := k.change()
	c.Head.State, c.Head.Messages, c.Head.EditSeq, c.Head.ManifestSeq, c.Head.Version = store.Deleted, 5, 3, 2, 9
	c.Head.NextDue = start()
	k.commit(c)
	b.equal(b.read(k.key, everything()), &store.Snapshot{Head: k.head})
	b.equal(b.due(start()), []store.Task{k.task(start())})
}

func sealEndsWriting(k *talk) {
	k.stage(k.id(), "x", start())
	k.must(k.s.Seal(k.ctx, true))
	k.must(k.s.Seal(k.ctx, true))
	k.refused(say(k.change(), 1), store.ErrSealed)
	k.refused(&store.Change{Aside: true, Head: k.head, Slots: map[string][]byte{"s": {1}}}, store.ErrSealed)
	k.unborn(name("b")).refused(k.unborn(name("b")).change(), store.ErrSealed)
	k.wants(k.s.Stage(k.ctx, k.key, &store.Upload{Incarnation: k.head.Incarnation, ID: k.id(), Data: []byte("x")}), store.ErrSealed)
	for _, task := range k.due(start().Add(store.UploadGrace)) {
		k.undeletable(task.Key, store.Deletion{Incarnation: task.Incarnation, Upload: task.Upload}, store.ErrSealed)
	}
	k.must(k.s.Seal(k.ctx, false))
	k.commit(say(k.change(), 1))
}

// sealIsComplete: what is read once Seal has returned is all that there will be.
func sealIsComplete(b *box) {
	talks := make([]*talk, committers)
	for i := range talks {
		talks[i] = b.begin(name(fmt.Sprint(i)))
	}
	var wg sync.WaitGroup
	for _, k := range talks {
		wg.Go(func() {
			for k.s.Commit(k.ctx, k.key, say(k.change(), 1)) == nil {
				k.head.Version++
				k.head.Revision++
				k.head.Messages++
				k.head.Tokens++
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	b.must(b.s.Seal(b.ctx, true))
	seen := make([]uint64, len(talks))
	for i, k := range talks {
		seen[i] = b.read(k.key, store.Query{}).Head.Version
	}
	wg.Wait()
	for i, k := range talks {
		b.equal(b.read(k.key, store.Query{}).Head.Version, seen[i])
	}
	b.must(b.s.Seal(b.ctx, false))
}

func sealSurvives(k *talk) {
	k.must(k.s.Seal(k.ctx, true))
	if !k.reopen() {
		return
	}
	k.refused(say(k.change(), 1), store.ErrSealed)
	k.must(k.s.Seal(k.ctx, false))
	k.reopen()
	k.commit(say(k.change(), 1))
}

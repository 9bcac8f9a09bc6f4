package storetest

import (
	"context"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func commitCases() []check {
	return []check{
		{"NewNameNeedsExpectZero", newNameNeedsExpectZero},
		{"VersionMustMatch", of(versionMustMatch)},
		{"AnotherLiveIncarnationConflicts", of(anotherLiveIncarnationConflicts)},
		{"InvalidChangesAreRefused", of(invalidChangesAreRefused)},
		{"RecordsNeverOverwritten", of(recordsNeverOverwritten)},
		{"ReplacementsRewrite", of(replacementsRewrite)},
		{"ChangeIsNotKept", of(changeIsNotKept)},
		{"CancelledContextCommitsNothing", of(cancelledContext)},
		{"BigValues", of(bigValues)},
		{"RequestIDsAndTheirEnd", of(requestIDs)},
		{"LongNames", longNames},
	}
}

func newNameNeedsExpectZero(b *box) {
	k := b.unborn(name("a"))
	c := k.change()
	c.Expect, c.Head.Version = 3, 4
	k.refused(c, store.ErrNotFound)
	k.commit(k.change())
	c = b.unborn(name("a")).change()
	k.refused(c, store.ErrConflict)
	c = k.change()
	c.Expect, c.Head.Version = 0, 1
	k.refused(c, store.ErrConflict)
}

func versionMustMatch(k *talk) {
	old := say(k.change(), 1)
	k.commit(say(k.change(), 1))
	k.refused(old, store.ErrConflict)
	ahead := say(k.change(), 1)
	ahead.Expect++
	ahead.Head.Version++
	k.refused(ahead, store.ErrConflict)
	k.equal(k.messages(store.MessageRange{Range: all()}), []int32{0})
}

func anotherLiveIncarnationConflicts(k *talk) {
	c := k.change()
	c.Head.Incarnation = k.id()
	k.refused(c, store.ErrConflict)
	// Nor may one incarnation hang under two names.
	other := k.unborn(name("b"))
	other.head.Incarnation = k.head.Incarnation
	other.refused(other.change(), store.ErrConflict)
}

func invalidChangesAreRefused(k *talk) {
	k.commit(edit(say(k.change(), 1, 1), conversation.EditRemove, 0, 1))
	for _, spoil := range []func(*store.Change){
		func(c *store.Change) { c.Head.Version++ },
		func(c *store.Change) { c.Head.Version = c.Expect },
		func(c *store.Change) { c.Head.Incarnation = conversation.ID{} },
		func(c *store.Change) { say(c, 1).Messages[0].Index = 0 },
		func(c *store.Change) { c.Head.Messages++ },
		func(c *store.Change) { c.Head.EditSeq += 2 },
		func(c *store.Change) { edit(c, conversation.EditRemove, 0, 1).Edits[0].Seq = 1 },
		func(c *store.Change) { build(c).Manifest.Seq = 9 },
		func(c *store.Change) { c.ReplaceMessages = []conversation.Message{{Index: 2}} },
		func(c *store.Change) { c.ReplaceEdits = []conversation.Edit{{Seq: 2}} },
		func(c *store.Change) { c.Slots = map[string][]byte{"s": make([]byte, store.MaxSlot+1)} },
		func(c *store.Change) { say(c, 1).Aside = true },
	} {
		c := k.change()
		spoil(c)
		k.refused(c, store.ErrInvalid)
	}
	long := store.Key{Namespace: strings.Repeat("n", store.MaxName+1)}
	k.wants(k.s.Commit(k.ctx, long, k.change()), store.ErrInvalid)
}

// recordsNeverOverwritten: a change that begins below what is on record is refused, although it is consistent in itself.
func recordsNeverOverwritten(k *talk) {
	k.commit(say(k.change(), 1, 2, 3))
	c := k.change()
	c.Head.Messages = 1
	k.refused(say(c, 9), store.ErrInvalid)
}

func replacementsRewrite(k *talk) {
	k.commit(build(edit(say(k.change(), 1, 2, 3), conversation.EditParts, 1, 2)))
	snap := k.read(k.key, everything())
	m, e, f := snap.Messages[1], snap.Edits[0], snap.Manifests[0]
	m.Parts, e.Before, f.UsageReported = nil, 77, true
	c := k.change()
	c.ReplaceMessages, c.ReplaceEdits = []conversation.Message{m}, []conversation.Edit{e}
	c.ReplaceManifests = []conversation.Manifest{f}
	k.commit(c)
	got := k.read(k.key, everything())
	snap.Head, snap.Messages[1], snap.Edits[0], snap.Manifests[0] = k.head, m, e, f
	k.equal(got, snap)
	k.equal(seqs(k.read(k.key, store.Query{
		Edits: &store.EditRange{Of: []conversation.Range{{First: 1, End: 2}}},
	}).Edits), []int64{1})
}

func changeIsNotKept(k *talk) {
	c := say(k.change(), 1)
	c.Messages[0].Tags = []string{"one"}
	c.Slots = map[string][]byte{"s": []byte("kept")}
	k.commit(c)
	c.Messages[0].Tags[0] = "changed"
	c.Slots["s"][0] = 'X'
	snap := k.read(k.key, everything())
	k.equal(snap.Messages[0].Tags, []string{"one"})
	k.equal(string(snap.Slots["s"]), "kept")
	snap.Slots["s"][0] = 'Y'
	snap.Messages = append(snap.Messages[:0], conversation.Message{})
	k.equal(string(k.read(k.key, everything()).Slots["s"]), "kept")
}

func cancelledContext(k *talk) {
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	k.wants(k.s.Commit(ctx, k.key, say(k.change(), 1)), context.Canceled)
	_, err := k.s.Read(ctx, k.key, store.Query{})
	k.wants(err, context.Canceled)
	k.equal(k.read(k.key, store.Query{}).Head, k.head)
}

func bigValues(k *talk) {
	c := say(k.change(), 1, 1, 1)
	c.Messages[1].Parts[0].Text.Inline = noise(3 << 20)
	c.Messages[2].Parts[0].Text.Inline = strings.Repeat("much of the same ", 1<<18)
	k.commit(c)
	k.equal(k.read(k.key, allMessages()).Messages, c.Messages)
}

func noise(n int) string {
	out := make([]byte, n)
	x := uint64(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return string(out)
}

func requestIDs(k *talk) {
	// Two pairs that are one string when they are joined without care.
	keys := []store.RequestKey{{RPC: "Append", ID: "r1"}, {RPC: "AppendM", ID: "1"}, {RPC: "Append", ID: "r\x00\xff"}}
	for i, key := range keys {
		c := say(k.change(), 1)
		c.Outcome = &store.Outcome{
			Key: key, Hash: [32]byte{byte(i + 1)}, Time: start().Add(time.Duration(i) * time.Hour), FirstIndex: int32(i), Count: 1,
			Manifest: 4, Revision: k.head.Revision,
		}
		k.commit(c)
		k.equal(k.read(k.key, store.Query{Request: &key}).Outcome, c.Outcome)
	}
	missing := k.read(k.key, store.Query{Request: &store.RequestKey{RPC: "Append", ID: "r2"}})
	k.equal(missing.Outcome, (*store.Outcome)(nil))
	c := k.change()
	c.DropOutcomes = start().Add(time.Hour)
	k.commit(c)
	for i, key := range keys {
		if got := k.read(k.key, store.Query{Request: &key}).Outcome; (got != nil) != (i >= 1) {
			k.Fatalf("request id %d after the end of what is older than an hour: %v", i, got)
		}
	}
}

func longNames(b *box) {
	long := strings.Repeat("\xff", store.MaxName)
	k := b.begin(store.Key{Namespace: long, Conversation: long})
	c := say(k.change(), 1)
	c.Slots = map[string][]byte{long: []byte("v")}
	c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: long, ID: long}, Time: start()}
	k.commit(c)
	snap := b.read(k.key, store.Query{Slots: []string{long}, Request: &c.Outcome.Key})
	b.equal(string(snap.Slots[long]), "v")
	b.equal(snap.Outcome, c.Outcome)
}

package storetest

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func lifeCases() []check {
	return []check{
		{"DueFollowsTheHead", of(dueFollowsTheHead)},
		{"DueOldestFirst", dueOldestFirst},
		{"TombstoneIsRead", of(tombstoneIsRead)},
		{"DeleteNeverTouchesTheLiving", of(deleteLiving)},
		{"DeleteInSteps", deleteInSteps},
		{"DeleteKeepsTheTombstone", deleteKeepsTombstone},
		{"RecreationIsANewIncarnation", recreation},
		{"RecreationMakesTheOldOneDue", recreationDue},
		{"WaitersAndClose", of(closes)},
	}
}

func (k *talk) dueAt(at time.Time) {
	k.Helper()
	c := k.change()
	c.Head.NextDue = at
	k.commit(c)
}

// bury deletes the conversation, and makes it due.
func (k *talk) bury(due time.Time) {
	k.Helper()
	c := k.change()
	c.Head.State, c.Head.DeleteTime, c.Head.NextDue = store.Deleted, start().Add(30*24*time.Hour), due
	k.commit(c)
}

func (k *talk) task(at time.Time) store.Task {
	return store.Task{Key: k.key, Incarnation: k.head.Incarnation, Time: at}
}

func dueFollowsTheHead(k *talk) {
	far := start().Add(1000 * time.Hour)
	k.equal(k.due(far), []store.Task(nil))
	k.dueAt(start().Add(2))
	k.equal(k.due(start().Add(1)), []store.Task(nil))
	k.equal(k.due(start().Add(2)), []store.Task{k.task(start().Add(2))})
	k.commit(say(k.change(), 1)) // the same time stays
	k.equal(k.due(far), []store.Task{k.task(start().Add(2))})
	k.dueAt(start().Add(time.Hour))
	k.equal(k.due(far), []store.Task{k.task(start().Add(time.Hour))})
	k.dueAt(time.Time{})
	k.equal(k.due(far), []store.Task(nil))
}

func dueOldestFirst(b *box) {
	want := make([]store.Task, 0, 20)
	for i := range 20 {
		k := b.begin(name(string(rune('a' + i))))
		at := start().Add(time.Duration(i*7%20) * time.Second)
		if i%5 == 0 { // before 1970, too
			at = at.AddDate(-100, 0, 0)
		}
		k.dueAt(at)
		want = append(want, k.task(at))
	}
	tasks := b.due(start().Add(time.Hour))
	b.equal(len(tasks), len(want))
	for i := 1; i < len(tasks); i++ {
		if tasks[i].Time.Before(tasks[i-1].Time) {
			b.Fatalf("task %d is older than the one before it", i)
		}
	}
	first, err := b.s.Due(b.ctx, start().Add(time.Hour), 3)
	b.must(err)
	b.equal(first, tasks[:3])
}

func tombstoneIsRead(k *talk) {
	k.commit(say(k.change(), 1))
	k.bury(time.Time{})
	snap := k.read(k.key, everything())
	k.equal(snap.Head, k.head)
	k.equal(indices(snap.Messages), []int32{0})
	u := &store.Upload{Incarnation: k.head.Incarnation, ID: k.id(), Data: []byte("x")}
	k.wants(k.s.Stage(k.ctx, k.key, u), store.ErrNotFound)
}

func deleteLiving(k *talk) {
	k.commit(say(k.change(), 1))
	for _, keep := range []bool{true, false} {
		k.undeletable(k.key, store.Deletion{Incarnation: k.head.Incarnation, KeepHead: keep}, store.ErrConflict)
		k.undeletable(name("wrong"), store.Deletion{Incarnation: k.head.Incarnation, KeepHead: keep}, store.ErrConflict)
	}
	k.equal(k.messages(store.MessageRange{Range: all()}), []int32{0})
	k.deleteAll(k.key, store.Deletion{Incarnation: k.id()})
}

// rich is a conversation with a record of every kind, between two others.
func rich(b *box) *talk {
	b.begin(name("0"))
	b.begin(name("z"))
	k := b.begin(name("a"))
	content, orphan := b.id(), b.id()
	k.stage(content, noise(3*store.ChunkBytes), start())
	k.stage(orphan, noise(2*store.ChunkBytes), start())
	c := build(edit(say(k.change(), 1, 1, 1, 1, 1), conversation.EditRemove, 0, 1))
	c.Slots = map[string][]byte{"s": []byte("v")}
	c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: "r", ID: "i"}, Time: start()}
	c.Uploads = []conversation.ID{content}
	k.commit(edit(c, conversation.EditHide, 0, 2))
	return k
}

func deleteInSteps(b *box) {
	k := rich(b)
	k.bury(start())
	steps := 0
	for done := false; !done; steps++ {
		var err error
		done, err = b.s.Delete(b.ctx, k.key, store.Deletion{Incarnation: k.head.Incarnation, Limit: 2})
		b.must(err)
		if steps > 100 {
			b.Fatal("no end")
		}
	}
	if steps < 5 {
		b.Fatalf("%d steps for some 15 records, two at a time", steps)
	}
	b.absent(k.key, store.Query{})
	b.equal(b.due(start().Add(1000*time.Hour)), []store.Task(nil))
	entries, err := b.s.List(b.ctx, "default", "", 10)
	b.must(err)
	b.equal(len(entries), 2)
	k.commit(b.unborn(k.key).change()) // the name is free
}

func deleteKeepsTombstone(b *box) {
	k := rich(b)
	k.bury(start())
	b.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, KeepHead: true, Limit: 3})
	snap := b.read(k.key, everything())
	b.equal(snap, &store.Snapshot{Head: k.head})
	b.equal(b.read(k.key, store.Query{Request: &store.RequestKey{RPC: "r", ID: "i"}}).Outcome.Time, start())
	b.equal(b.due(start()), []store.Task{k.task(start())})
	k.dueAt(k.head.DeleteTime)
	b.equal(b.due(start()), []store.Task(nil))
	b.equal(b.due(k.head.DeleteTime), []store.Task{k.task(k.head.DeleteTime)})
	b.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation})
	b.absent(k.key, store.Query{})
	b.equal(b.due(k.head.DeleteTime), []store.Task(nil))
}

// recreate begins a new incarnation on top of a deleted one.
func (k *talk) recreate() *talk {
	k.Helper()
	next := k.unborn(k.key)
	next.head.Version, next.head.UpdateTime = k.head.Version, start().Add(time.Hour)
	next.commit(next.change())
	return next
}

func recreation(b *box) {
	k := rich(b)
	early := b.unborn(k.key)
	early.head.Version = k.head.Version
	k.refused(early.change(), store.ErrConflict)
	k.bury(start())
	stale := b.unborn(k.key)
	k.refused(stale.change(), store.ErrConflict)
	next := k.recreate()
	snap := b.read(k.key, everything())
	b.equal(snap, &store.Snapshot{Head: next.head})
	k.refused(k.change(), store.ErrConflict)
	b.absent(k.key, store.Query{Incarnation: k.head.Incarnation})
	next.commit(say(next.change(), 1))
	b.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, Limit: 3})
	b.equal(next.messages(store.MessageRange{Range: all()}), []int32{0})
	b.equal(b.due(start().Add(1000*time.Hour)), []store.Task(nil))
}

// recreationDue: what is left of the old one must not be forgotten, whenever it was due.
func recreationDue(b *box) {
	for i, due := range []time.Time{{}, start().Add(time.Minute), start().Add(1000 * time.Hour)} {
		k := b.begin(name(string(rune('a' + i))))
		k.bury(due)
		next := k.recreate()
		at := next.head.UpdateTime
		if !due.IsZero() && due.Before(at) {
			at = due
		}
		b.equal(b.due(next.head.UpdateTime), []store.Task{k.task(at)})
		b.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, KeepHead: true})
		b.equal(b.due(next.head.UpdateTime), []store.Task(nil))
		b.read(k.key, store.Query{Incarnation: next.head.Incarnation})
	}
}

func closes(k *talk) {
	k.must(k.s.Close())
	k.must(k.s.Close())
	_, err := k.s.Read(k.ctx, k.key, store.Query{})
	k.wants(err, store.ErrClosed)
	_, err = k.s.List(k.ctx, "default", "", 1)
	k.wants(err, store.ErrClosed)
	_, err = k.s.Due(k.ctx, start(), 1)
	k.wants(err, store.ErrClosed)
	k.undeletable(k.key, store.Deletion{Incarnation: k.head.Incarnation}, store.ErrClosed)
	k.wants(k.s.Commit(k.ctx, k.key, k.change()), store.ErrClosed)
	k.wants(k.s.Stage(k.ctx, k.key, &store.Upload{Incarnation: k.id(), ID: k.id()}), store.ErrClosed)
	k.wants(k.s.Wait(k.ctx, k.key, 99), store.ErrClosed)
}

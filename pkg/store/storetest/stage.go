package storetest

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func stageCases() []check {
	return []check{
		{"ContentVisibleOnlyAfterCommit", of(contentVisibleAfterCommit)},
		{"ContentRanges", of(contentRanges)},
		{"OrphansAreDueAfterAnHour", of(orphansAreDue)},
		{"OrphansCannotComeBack", of(orphansCannotComeBack)},
		{"CommittedContentIsPastStaging", of(committedContent)},
		{"ReleasedContentIsDue", of(releasedContent)},
		{"SharedContentIsReferredToAgain", of(sharedContent)},
		{"ContentBeforeTheConversation", contentBeforeConversation},
		{"ImportByStagedIncarnation", importStaged},
		{"ImportThatIsGone", importGone},
		{"ImportCannotReachLiveRecords", of(importIntoLive)},
	}
}

// stage uploads data in chunks.
func (k *talk) stage(id conversation.ID, data string, at time.Time) {
	k.Helper()
	for n := int32(0); len(data) > 0; n++ {
		piece := data[:min(len(data), store.ChunkBytes)]
		k.must(k.s.Stage(k.ctx, k.key, &store.Upload{
			Incarnation: k.head.Incarnation, Time: at, ID: id, Chunk: n, Data: []byte(piece),
		}))
		data = data[len(piece):]
	}
}

func (k *talk) content(id conversation.ID, offset, length int64) []byte {
	k.Helper()
	return k.read(k.key, store.Query{Contents: []store.ContentRange{{ID: id, Offset: offset, Length: length}}}).Contents[0]
}

// release commits a change that lets contents go.
func (k *talk) release(ids ...conversation.ID) {
	k.Helper()
	c := k.change()
	c.Release = ids
	k.commit(c)
}

// refer commits a change that refers to uploads.
func (k *talk) refer(ids ...conversation.ID) {
	k.Helper()
	c := k.change()
	c.Uploads = ids
	k.commit(c)
}

func contentVisibleAfterCommit(k *talk) {
	id := k.id()
	k.stage(id, "hello", start())
	k.stage(id, "hellO", start())
	if got := k.content(id, 0, -1); got != nil {
		k.Fatalf("staged content reads as %q", got)
	}
	k.refer(id)
	k.equal(string(k.content(id, 0, -1)), "hellO")
	other := k.begin(name("b"))
	if got := other.content(id, 0, -1); got != nil {
		k.Fatalf("another conversation reads %q", got)
	}
	k.equal(k.due(start().Add(store.UploadGrace)), []store.Task(nil))
}

func contentRanges(k *talk) {
	id, whole := k.id(), noise(2*store.ChunkBytes+100)
	k.stage(id, whole, start())
	k.refer(id)
	end := int64(len(whole))
	for _, c := range []struct{ offset, length, from, to int64 }{
		{0, -1, 0, end},
		{0, 0, 0, 0},
		{0, 10, 0, 10},
		{store.ChunkBytes - 5, 10, store.ChunkBytes - 5, store.ChunkBytes + 5},
		{store.ChunkBytes, store.ChunkBytes, store.ChunkBytes, 2 * store.ChunkBytes},
		{end - 5, 10, end - 5, end},
		{end - 5, -1, end - 5, end},
		{end, 10, end, end},
		{end + 10*store.ChunkBytes, -1, end, end},
	} {
		got := k.content(id, c.offset, c.length)
		if got == nil || string(got) != whole[c.from:c.to] {
			k.Fatalf("bytes from %d, %d of them: got %d, wanted %d", c.offset, c.length, len(got), c.to-c.from)
		}
	}
}

func orphansAreDue(k *talk) {
	id := k.id()
	k.stage(id, "x", start())
	k.stage(id, "x", start().Add(time.Minute)) // the latest piece counts
	k.stage(id, "x", start())
	due := start().Add(time.Minute + store.UploadGrace)
	k.equal(k.due(due.Add(-1)), []store.Task(nil))
	task := store.Task{Key: k.key, Incarnation: k.head.Incarnation, Upload: id, Time: due}
	k.equal(k.due(due), []store.Task{task})
	k.equal(k.due(due), []store.Task{task})
	k.deleteAll(k.key, store.Deletion{Incarnation: task.Incarnation, Upload: id, Limit: 1})
	k.equal(k.due(due), []store.Task(nil))
	k.deleteAll(k.key, store.Deletion{Incarnation: task.Incarnation, Upload: id})
}

func orphansCannotComeBack(k *talk) {
	id := k.id()
	k.stage(id, noise(3*store.ChunkBytes), start())
	done, err := k.s.Delete(k.ctx, k.key, store.Deletion{Incarnation: k.head.Incarnation, Upload: id, Limit: 1})
	k.must(err)
	k.equal(done, false)
	c := k.change()
	c.Uploads = []conversation.ID{id}
	k.refused(c, store.ErrNotFound)
	k.wants(k.s.Stage(k.ctx, k.key, &store.Upload{Incarnation: k.head.Incarnation, ID: id, Data: []byte("x")}), store.ErrNotFound)
	k.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, Upload: id, Limit: 1})
	k.refused(c, store.ErrNotFound)
	c.Uploads = []conversation.ID{k.id()}
	k.refused(c, store.ErrNotFound)
}

func committedContent(k *talk) {
	id := k.id()
	k.stage(id, "kept", start())
	k.refer(id)
	k.refer(id) // a second message may refer to it
	u := &store.Upload{Incarnation: k.head.Incarnation, ID: id, Data: []byte("lost")}
	k.wants(k.s.Stage(k.ctx, k.key, u), store.ErrConflict)
	k.undeletable(k.key, store.Deletion{Incarnation: k.head.Incarnation, Upload: id}, store.ErrConflict)
	k.equal(string(k.content(id, 0, -1)), "kept")
}

func releasedContent(k *talk) {
	id, kept := k.id(), k.id()
	k.stage(id, "going", start())
	k.stage(kept, "staying", start())
	k.refer(id, kept)
	k.release(id)
	if got := k.content(id, 0, -1); got != nil {
		k.Fatalf("released content reads as %q", got)
	}
	want := store.Task{Key: k.key, Incarnation: k.head.Incarnation, Upload: id, Time: start()}
	k.equal(k.due(start()), []store.Task{want})
	again := k.change()
	again.Uploads = []conversation.ID{id}
	k.refused(again, store.ErrNotFound)
	k.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, Upload: id})
	k.equal(k.due(start()), []store.Task(nil))
	k.equal(string(k.content(kept, 0, -1)), "staying")
}

// contentBeforeConversation: the first message of a conversation may have contents of its own.
func contentBeforeConversation(b *box) {
	k := b.unborn(name("a"))
	id := b.id()
	k.stage(id, "early", start())
	b.absent(k.key, store.Query{})
	k.refer(id)
	b.equal(string(k.content(id, 0, -1)), "early")
	b.equal(b.due(start().Add(store.UploadGrace)), []store.Task(nil))
}

// staged is an import that waits for its commit, which is returned with it.
func staged(b *box) (*talk, *store.Change) {
	k := b.unborn(name("import"))
	id := k.head.Incarnation
	c := build(edit(say(k.change(), 1, 2, 3), conversation.EditParts, 1, 2))
	c.Messages[2].Commit = 1
	k.must(k.s.Stage(k.ctx, k.key, &store.Upload{Incarnation: id, Time: start(), Messages: c.Messages[:2]}))
	k.must(k.s.Stage(k.ctx, k.key, &store.Upload{Incarnation: id, Time: start(), Messages: c.Messages[2:], Edits: c.Edits}))
	k.must(k.s.Stage(k.ctx, k.key, &store.Upload{
		Incarnation: id, Time: start(), Manifests: []conversation.Manifest{*c.Manifest},
	}))
	c.Messages, c.Edits, c.Manifest = nil, nil, nil
	return k, c
}

func importStaged(b *box) {
	k, c := staged(b)
	content := b.id()
	k.stage(content, "words", start())
	b.absent(k.key, store.Query{})
	early := b.read(k.key, store.Query{
		Incarnation: k.head.Incarnation, Ranges: []store.MessageRange{{Range: all()}}, Contents: []store.ContentRange{{ID: content, Length: -1}},
	})
	b.equal(indices(early.Messages), []int32{0, 1, 2})
	b.equal(string(early.Contents[0]), "words")
	b.absent(name("other"), store.Query{Incarnation: k.head.Incarnation})
	k.commit(c)
	snap := b.read(k.key, everything())
	b.equal(indices(snap.Messages), []int32{0, 1, 2})
	b.equal(seqs(snap.Edits), []int64{1})
	b.equal(len(snap.Manifests), 1)
	b.equal(string(k.content(content, 0, -1)), "words")
	b.equal(b.due(start().Add(store.UploadGrace)), []store.Task(nil))
	k.commit(say(k.change(), 4))
	b.equal(k.messages(store.MessageRange{Range: all()}), []int32{0, 1, 2, 3})
}

func importGone(b *box) {
	k, c := staged(b)
	task := store.Task{Key: k.key, Incarnation: k.head.Incarnation, Staged: true, Time: start().Add(store.UploadGrace)}
	b.equal(b.due(task.Time), []store.Task{task})
	done, err := b.s.Delete(b.ctx, k.key, store.Deletion{Incarnation: k.head.Incarnation, Limit: 1})
	b.must(err)
	b.equal(done, false)
	k.refused(c, store.ErrNotFound)
	u := &store.Upload{Incarnation: k.head.Incarnation, Messages: []conversation.Message{{}}}
	b.wants(b.s.Stage(b.ctx, k.key, u), store.ErrNotFound)
	b.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, Limit: 1})
	k.refused(c, store.ErrNotFound)
	b.equal(b.due(task.Time), []store.Task(nil))
	_, err = b.s.Read(context.Background(), k.key, store.Query{Incarnation: k.head.Incarnation})
	b.wants(err, store.ErrNotFound)
}

func importIntoLive(k *talk) {
	u := &store.Upload{Incarnation: k.head.Incarnation, Messages: []conversation.Message{{Index: 0, ID: "forged"}}}
	k.wants(k.s.Stage(k.ctx, k.key, u), store.ErrConflict)
	other, _ := staged(k.box)
	u.Incarnation = other.head.Incarnation
	k.wants(k.s.Stage(k.ctx, k.key, u), store.ErrConflict)
	k.wants(k.s.Stage(k.ctx, k.key, &store.Upload{ID: k.id(), Data: []byte("x")}), store.ErrInvalid)
	u = &store.Upload{Incarnation: k.id(), ID: k.id(), Data: make([]byte, store.ChunkBytes+1)}
	k.wants(k.s.Stage(k.ctx, k.key, u), store.ErrInvalid)
}

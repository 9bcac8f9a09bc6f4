package storetest

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func erasureCases() []check {
	return []check{
		{"ErasureIsOneCommit", erasureIsOneCommit},
		{"ErasedContentIsSwept", erasedContentIsSwept},
		{"RefusedErasureChangesNothing", refusedErasure},
		{"ErasureAgainChangesNothing", erasureAgain},
		{"ErasureIsNeverHalfSeen", erasureNeverHalfSeen},
		{"ErasureSurvives", erasureSurvives},
	}
}

// secret is a conversation with something to erase: message 1 has words in it and a content beside it, and the edits 1 and 3
// of it show some of them. The rest stays.
type secret struct {
	*talk
	content, kept conversation.ID
}

func newSecret(b *box) *secret {
	k := b.begin(name("a"))
	x := &secret{talk: k, content: b.id(), kept: b.id()}
	k.stage(x.content, "secret "+noise(store.ChunkBytes), start())
	k.stage(x.kept, "open", start())
	c := say(k.change(), 1, 2, 3)
	c.Uploads = []conversation.ID{x.content, x.kept}
	c.Messages[1].Parts = append(c.Messages[1].Parts, conversation.Part{
		Kind: conversation.PartMedia, Media: &conversation.Media{Data: conversation.Content{Ref: &conversation.ContentRef{ID: x.content}}},
	})
	k.commit(c)
	k.commit(show(k.change(), 1, "secret words"))
	k.commit(show(k.change(), 2, "open words"))
	k.commit(show(k.change(), 1, "a secret"))
	return x
}

// show adds an edit that replaces a message's first part.
func show(c *store.Change, message int32, text string) *store.Change {
	edit(c, conversation.EditParts, message, message+1)
	c.Edits[len(c.Edits)-1].Parts = []conversation.PartEdit{{Level: conversation.Shortened, Shown: conversation.Part{
		Kind: conversation.PartText, Text: conversation.Content{Inline: text},
	}}}
	return c
}

func gone(bytes int64) conversation.Content {
	return conversation.Content{Erased: &conversation.ErasedContent{Bytes: bytes, Chars: bytes, Hash: [32]byte{9}}}
}

// erasure is what the engine commits: the message without its words, the edits of it without theirs, the content released,
// and an edit that takes the message out of the view.
func (x *secret) erasure() *store.Change {
	x.Helper()
	snap := x.read(x.key, everything())
	c := x.change()
	c.Head.UpdateTime = start().Add(time.Minute)
	c.Release = []conversation.ID{x.content}
	m := snap.Messages[1]
	m.Parts = conversation.CloneParts(m.Parts)
	m.Parts[0].Text, m.Parts[1].Media.Data = gone(18), gone(7)
	c.ReplaceMessages = []conversation.Message{m}
	for _, e := range snap.Edits {
		if e.Range.First == 1 && e.Kind == conversation.EditParts {
			e.Parts = []conversation.PartEdit{{Level: conversation.Shortened, Shown: conversation.Part{Kind: conversation.PartText, Text: gone(12)}}}
			c.ReplaceEdits = append(c.ReplaceEdits, e)
		}
	}
	return edit(c, conversation.EditRemove, 1, 2)
}

func erasureIsOneCommit(b *box) {
	x := newSecret(b)
	want, c := b.read(x.key, everything()), x.erasure()
	x.commit(c)
	want.Head, want.Messages[1] = x.head, c.ReplaceMessages[0]
	want.Edits[0], want.Edits[2] = c.ReplaceEdits[0], c.ReplaceEdits[1]
	want.Edits = append(want.Edits, c.Edits[0])
	b.equal(b.read(x.key, everything()), want)
	b.equal(x.edits(store.EditRange{Of: []conversation.Range{{First: 1, End: 2}}}), []int64{1, 3, 4})
	if got := x.begins(); got != nil {
		b.Fatalf("erased content reads as %q", got)
	}
	b.equal(string(x.talk.content(x.kept, 0, -1)), "open")
	// Events: what was rewritten keeps its place, and does not come again.
	messages, edits := x.since(x.head.Version-1, 100)
	b.equal(messages, []int32(nil))
	b.equal(edits, []int64{4})
	messages, edits = x.since(0, 100)
	b.equal(messages, []int32{0, 1, 2})
	b.equal(edits, []int64{1, 2, 3, 4})
}

func (x *secret) begins() []byte {
	x.Helper()
	return x.talk.content(x.content, 0, 7)
}

func erasedContentIsSwept(b *box) {
	x := newSecret(b)
	x.commit(x.erasure())
	at := start().Add(time.Minute)
	b.equal(b.due(at.Add(-1)), []store.Task(nil))
	b.equal(b.due(at), []store.Task{{Key: x.key, Incarnation: x.head.Incarnation, Upload: x.content, Time: at}})
	u := &store.Upload{Incarnation: x.head.Incarnation, ID: x.content, Data: []byte("back")}
	b.wants(b.s.Stage(b.ctx, x.key, u), store.ErrNotFound)
	b.deleteAll(x.key, store.Deletion{Incarnation: x.head.Incarnation, Upload: x.content, Limit: 1})
	b.equal(b.due(start().Add(1000*time.Hour)), []store.Task(nil))
	if got := x.begins(); got != nil {
		b.Fatalf("swept content reads as %q", got)
	}
	b.equal(string(x.talk.content(x.kept, 0, -1)), "open")
}

// refusedErasure: whatever a refusal is for, words and content are as they were, and nothing is due.
func refusedErasure(b *box) {
	x := newSecret(b)
	for _, spoil := range []struct {
		want error
		how  func(*store.Change)
	}{
		{store.ErrConflict, func(c *store.Change) { c.Expect, c.Head.Version = c.Expect-1, c.Head.Version-1 }},
		{store.ErrConflict, func(c *store.Change) { c.ExpectSlots = map[string][]byte{"s": []byte("another's")} }},
		{store.ErrConflict, func(c *store.Change) { c.Head.Incarnation = b.id() }},
		{store.ErrNotFound, func(c *store.Change) { c.Uploads = []conversation.ID{b.id()} }},
		{store.ErrInvalid, func(c *store.Change) { c.ReplaceMessages[0].Index = 3 }},
		{store.ErrInvalid, func(c *store.Change) { c.ReplaceMessages[0].Index = -1 }},
		{store.ErrInvalid, func(c *store.Change) { c.ReplaceEdits[1].Seq = 4 }},
		{store.ErrInvalid, func(c *store.Change) { c.ReplaceEdits[1].Seq = 0 }},
	} {
		c := x.erasure()
		spoil.how(c)
		x.refused(c, spoil.want)
		b.equal(string(x.begins()), "secret ")
		b.equal(b.due(start().Add(1000*time.Hour)), []store.Task(nil))
	}
	x.commit(x.erasure())
}

// erasureAgain: a retry that does not know that the first one stands.
func erasureAgain(b *box) {
	x := newSecret(b)
	x.commit(x.erasure())
	due := b.due(start().Add(time.Hour))
	want := b.read(x.key, everything())
	again := x.erasure()
	again.Edits, again.Head.EditSeq = nil, x.head.EditSeq
	x.commit(again)
	want.Head = x.head
	b.equal(b.read(x.key, everything()), want)
	b.equal(b.due(start().Add(time.Hour)), due)
	b.deleteAll(x.key, store.Deletion{Incarnation: x.head.Incarnation, Upload: x.content})
	x.release(x.content)
	b.deleteAll(x.key, store.Deletion{Incarnation: x.head.Incarnation, Upload: x.content})
	b.equal(b.due(start().Add(time.Hour)), []store.Task(nil))
}

// erasureNeverHalfSeen: an answer has the words, the edits and the content, or none of them.
func erasureNeverHalfSeen(b *box) {
	for range 20 {
		x := newSecret(b)
		erase := x.erasure()
		during(func() { x.commit(erase) }, 3, func() { x.checkWhole() })
		b.equal(x.checkWhole(), true)
		x.bury(start())
		b.deleteAll(x.key, store.Deletion{Incarnation: x.head.Incarnation})
	}
}

// checkWhole says whether the secret is erased; it fails if it is erased in part.
func (x *secret) checkWhole() bool {
	q := everything()
	q.Contents = []store.ContentRange{{ID: x.content, Length: 1}}
	snap, err := x.s.Read(x.ctx, x.key, q)
	if err != nil {
		x.Error(err)
		return false
	}
	seen := []bool{
		conversation.Erased(snap.Messages[1].Parts), snap.Edits[0].Parts[0].Shown.Text.Erased != nil,
		snap.Edits[2].Parts[0].Shown.Text.Erased != nil, len(snap.Edits) == 4, snap.Contents[0] == nil,
	}
	for _, s := range seen {
		if s != seen[0] {
			x.Error("erased in part:", fmt.Sprint(seen))
		}
	}
	return seen[0]
}

func erasureSurvives(b *box) {
	x := newSecret(b)
	x.commit(x.erasure())
	want, due := b.read(x.key, everything()), b.due(start().Add(time.Hour))
	if !b.reopen() {
		return
	}
	b.equal(b.read(x.key, everything()), want)
	b.equal(b.due(start().Add(time.Hour)), due)
	b.equal(x.checkWhole(), true)
}

package storetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Contents that stay outside the view: what the records say of them, and how several messages refer to one.

func drawCitationsPolicy(rt *rapid.T, p *conversation.Policy) {
	on, none, recall := rapid.Bool().Draw(rt, "cite"), int32(0), []string{"again"}
	p.Citations = rapid.SampledFrom([]conversation.CitationsPolicy{
		{}, {On: &on}, {RecallTools: &recall}, {ThresholdChars: &none, ReleaseOnEndRun: &on},
	}).Draw(rt, "citations")
}

func drawSource(rt *rapid.T) *conversation.ResultSource {
	return rapid.SampledFrom([]*conversation.ResultSource{nil, {}, {Title: "Letters"}, {Type: conversation.SourceTypeWeb, URL: "https://a.example"}}).Draw(rt, "source")
}

func drawRecalled(rt *rapid.T) *conversation.Recalled {
	return rapid.SampledFrom([]*conversation.Recalled{nil, {}, {Index: 2}, {ContentID: "c1-aaaaaaaa"}, {Memories: true}}).Draw(rt, "recalled")
}

func cited() conversation.PartEdit {
	return conversation.PartEdit{Level: conversation.Cited, Shown: conversation.Part{
		Kind: conversation.PartText, Text: conversation.Content{Inline: "[c1-aaaaaaaa] words ... More: retrieve_content"}, Tokens: 9,
		Citation: &conversation.Citation{
			ContentID: "c1-aaaaaaaa", SourceType: conversation.SourceTypeWeb, SourceURL: "https://example.com/", ContentType: "text/plain",
			TotalBytes: 90_000, TotalChars: 80_000, Location: "beginning", ExcerptFrom: 14, ExcerptEnd: 19, HowFrom: 24,
		},
	}}
}

// handled adds an edit that says that a content came, or went.
func handled(c *store.Change, kind conversation.EditKind, handle string, first, end int32) *store.Change {
	edit(c, kind, first, end).Edits[len(c.Edits)-1].Content = handle
	return c
}

// sources is a conversation of which messages cite contents, and that has others beside its messages.
func sources(b *box) *talk {
	k := b.begin(name("a"))
	k.commit(handled(k.change(), conversation.EditStoreContent, "c1-aaaaaaaa", 0, 0))               // 1, before all messages
	k.commit(handled(say(k.change(), 1, 1, 1), conversation.EditStoreContent, "c2-aaaaaaaa", 1, 2)) // 2
	k.commit(handled(k.change(), conversation.EditStoreContent, "c3-aaaaaaaa", 3, 3))               // 3, after the last one
	k.commit(handled(say(k.change(), 1, 1), conversation.EditStoreContent, "c4-aaaaaaaa", 4, 5))    // 4
	c := handled(k.change(), conversation.EditExpireContent, "c2-aaaaaaaa", 1, 2)                   // 5
	k.commit(handled(c, conversation.EditExpireContent, "c3-aaaaaaaa", 5, 5))                       // 6
	return k
}

// editsAboutContents: they come with all edits and with those since a commit, and with a range if they are about a message of
// it. One that is about no message lies between two, and comes with a range that has both.
func editsAboutContents(b *box) {
	k := sources(b)
	b.equal(k.edits(store.EditRange{}), []int64{1, 2, 3, 4, 5, 6})
	for _, c := range []struct {
		of   []conversation.Range
		want []int64
	}{
		{[]conversation.Range{span(1, 2)}, []int64{2, 5}},
		{[]conversation.Range{span(0, 1)}, nil},
		{[]conversation.Range{span(2, 3)}, nil},
		{[]conversation.Range{span(3, 4)}, nil},
		{[]conversation.Range{span(2, 4)}, []int64{3}},
		{[]conversation.Range{span(2, 4), span(3, 5), span(4, 5)}, []int64{3, 4}},
		{[]conversation.Range{span(0, 5)}, []int64{2, 3, 4, 5}},
		{[]conversation.Range{all()}, []int64{2, 3, 4, 5, 6}},
	} {
		b.equal(k.edits(store.EditRange{Of: c.of}), c.want)
	}
	b.equal(k.edits(store.EditRange{Of: []conversation.Range{all()}, After: 2, Upto: 4}), []int64{3, 4})
	messages, edits := k.since(2, 100)
	b.equal(messages, []int32{0, 1, 2, 3, 4})
	b.equal(edits, []int64{2, 3, 4, 5, 6})
	messages, edits = k.since(4, 2)
	b.equal(messages, []int32{3, 4})
	b.equal(edits, []int64{4})
	_, edits = k.since(5, 1) // the two of one commit
	b.equal(edits, []int64{5, 6})
}

// citationsComeBackWhole: what stands for a content, the handles of edits, what a result recalled, and the policy.
func citationsComeBackWhole(k *talk) {
	c := edit(say(k.change(), 1), conversation.EditParts, 0, 1)
	c.Edits[0].Parts = []conversation.PartEdit{cited()}
	handled(handled(c, conversation.EditStoreContent, "c1-aaaaaaaa", 0, 1), conversation.EditExpireContent, "c1-aaaaaaaa", 0, 1)
	result := func(r *conversation.Recalled) conversation.Part {
		return conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "c", Recalled: r}}
	}
	c.Messages[0].Parts = append(c.Messages[0].Parts, result(nil), result(&conversation.Recalled{}), result(&conversation.Recalled{ContentID: "c1-aaaaaaaa"}))
	c.Info = &store.Info{Policy: conversation.Policy{Citations: conversation.CitationsPolicy{On: new(true), ThresholdChars: new(int32), ReleaseOnEndRun: new(bool)}}}
	k.commit(c)
	whole := func() {
		k.Helper()
		snap := k.read(k.key, everything())
		k.equal(snap.Messages, c.Messages)
		k.equal(snap.Edits, c.Edits)
		k.equal(snap.Info, c.Info)
	}
	whole()
	if k.reopen() {
		whole()
	}
}

// sharedContent: a content that one commit brought is there for the messages of all later ones, which name it in their parts
// alone; nobody counts them, and when it is released it is gone for all.
func sharedContent(k *talk) {
	id, words := k.id(), noise(store.ChunkBytes+10)
	refer := func(c *store.Change) *store.Change {
		last := &c.Messages[len(c.Messages)-1]
		last.Parts[0].Text = conversation.Content{Ref: &conversation.ContentRef{ID: id, Bytes: int64(len(words))}}
		return c
	}
	k.stage(id, words, start())
	c := refer(say(k.change(), 1))
	c.Uploads = []conversation.ID{id}
	k.commit(c)
	k.commit(refer(say(k.change(), 1)))
	k.commit(refer(say(k.change(), 1)))
	readable := func() {
		k.Helper()
		for _, m := range k.read(k.key, allMessages()).Messages {
			k.equal(string(k.content(m.Parts[0].Text.Ref.ID, 0, -1)), words)
		}
	}
	readable()
	k.equal(k.due(start().Add(1000*time.Hour)), []store.Task(nil))
	if k.s.Durability() != store.DurabilityNone && k.reopen() {
		readable()
	}
	sharedIsReleased(k, id)
}

func sharedIsReleased(k *talk, id conversation.ID) {
	k.Helper()
	want := k.read(k.key, allMessages()).Messages
	k.release(id)
	for _, m := range k.read(k.key, allMessages()).Messages {
		if got := k.content(m.Parts[0].Text.Ref.ID, 0, 1); got != nil {
			k.Fatalf("message %d still reads a released content", m.Index)
		}
	}
	k.equal(k.read(k.key, allMessages()).Messages, want)
	k.equal(k.due(start()), []store.Task{{Key: k.key, Incarnation: k.head.Incarnation, Upload: id, Time: start()}})
	k.deleteAll(k.key, store.Deletion{Incarnation: k.head.Incarnation, Upload: id})
	k.equal(k.due(start().Add(1000*time.Hour)), []store.Task(nil))
}

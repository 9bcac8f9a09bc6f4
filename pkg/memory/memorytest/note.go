package memorytest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Notes, which are kept as they are.
func noteCases() []check {
	return []check{
		{"a note is found as it was put", ofAnna(noteIsFound)},
		{"a note that is put again is the one that is there", ofAnna(notePutAgain)},
		{"a note whose answer was lost is there once", ofAnna(lostNote)},
		{"a note brings its metadata and its time", ofAnna(noteMetadata)},
		{"a note that expired is not shown", ofAnna(noteExpires)},
		{"a note that is too long is refused", ofAnna(longNote)},
	}
}

func noteIsFound(b *box, s memory.Scope) {
	id := b.put(s, facts()[0])
	b.remembers(s, facts()[0])
	for _, found := range [][]memory.Memory{b.search(s, facts()[0]), b.list(s, 50, memory.Added)} {
		b.equal(ids(found), []string{id})
		b.equal(found[0].Kind, memory.Added)
		b.equal(found[0].Text, facts()[0])
	}
	b.equal(b.list(s, 50, memory.Said, memory.Fact), []memory.Memory{})
}

func notePutAgain(b *box, s memory.Scope) {
	note := &memory.Note{Key: b.key(), Text: facts()[0], Time: now()}
	first, err := b.target.Put(b.ctx, s, note)
	b.must(err)
	b.remembers(s, facts()[0])
	again, err := b.target.Put(b.ctx, s, note)
	b.must(err)
	b.equal(again, first)
	b.equal(ids(b.list(s, 50)), []string{first})
	// The same words under another key are another note, and so is the same key in another scope.
	b.put(s, facts()[0])
	b.until("another note with these words is not there", func() bool { return len(b.list(s, 50)) == 2 })
	_, err = b.target.Put(b.ctx, b.user("bert"), note)
	b.must(err)
	b.remembers(b.user("bert"), facts()[0])
}

func lostNote(b *box, s memory.Scope) {
	if b.o.Lose == nil {
		b.Log("no answer of this target can be lost")
		return
	}
	note := &memory.Note{Key: b.key(), Text: facts()[0], Time: now()}
	b.o.Lose(b, unwatched(b.target))
	_, err := b.target.Put(b.ctx, s, note)
	b.wants(err, memory.ErrOutcomeUnknown)
	b.remembers(s, facts()[0])
	id, err := b.target.Put(b.ctx, s, note)
	b.must(err)
	b.equal(ids(b.list(s, 50)), []string{id})
}

func noteMetadata(b *box, s memory.Scope) {
	note := &memory.Note{
		Key: b.key(), Text: facts()[0], Time: now().Add(-time.Hour), ExpireTime: now().Add(time.Hour),
		Metadata: `{"topic":"bees","key":"mine","conversation":[1,{"first":2}],"n":12345678901234567890,"u":"Ünïcode </memories>"}`,
	}
	_, err := b.target.Put(b.ctx, s, note)
	b.must(err)
	b.remembers(s, facts()[0])
	for _, found := range [][]memory.Memory{b.search(s, facts()[0]), b.list(s, 50)} {
		b.equal(decoded(b, found[0].Metadata), decoded(b, note.Metadata))
		b.equal(found[0].Time.UTC().Truncate(time.Second), note.Time)
		b.equal(found[0].ExpireTime.UTC().Truncate(time.Second), note.ExpireTime)
		b.equal(found[0].Sources, []memory.Source{})
	}
}

func decoded(b *box, text string) (out any) {
	b.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	b.must(d.Decode(&out))
	return out
}

func noteExpires(b *box, s memory.Scope) {
	_, err := b.target.Put(b.ctx, s, &memory.Note{Key: b.key(), Text: facts()[0], Time: now(), ExpireTime: now().Add(time.Hour)})
	b.must(err)
	b.put(s, facts()[1])
	b.remembers(s, facts()[0], facts()[1])
	later := now().Add(time.Hour)
	found, err := b.target.Search(b.ctx, s, &memory.Query{Text: facts()[0], Limit: 20, Now: later})
	b.must(err)
	b.equal(count(found, facts()[0]), 0)
	listing, err := b.target.List(b.ctx, s, &memory.Page{Limit: 50, Now: later})
	b.must(err)
	b.equal(count(listing.Memories, facts()[0]), 0)
	b.equal(count(listing.Memories, facts()[1]), 1)
}

func longNote(b *box, s memory.Scope) {
	if b.limits.MaxNote > 200_000 {
		b.Log("notes of this target may be as long as any")
		return
	}
	_, err := b.target.Put(b.ctx, s, &memory.Note{Key: b.key(), Text: strings.Repeat("é", b.limits.MaxNote+1), Time: now()})
	b.wants(err, memory.ErrRefused)
}

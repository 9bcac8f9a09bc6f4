package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// spoils holds an export that tests damage in many ways.
type spoils struct {
	good                   []engine.Record
	chunk, citing, storing int // indices: first of three chunks, first edit that cites, first edit that a content was stored
}

type spoil = func([]engine.Record) []engine.Record

func newSpoils(t testing.TB) *spoils {
	origin := newBench(0)
	sourced(t, origin, "c")
	x := &spoils{good: origin.export(t, "c")}
	at := func(found func(engine.Record) bool) int { return slices.IndexFunc(x.good, found) }
	x.chunk = x.at(4) + 1
	x.citing = at(func(r engine.Record) bool { return r.Edit != nil && cites(r.Edit) })
	x.storing = at(func(r engine.Record) bool { return r.Edit != nil && r.Edit.Kind == conversation.EditStoreContent })
	return x
}

func cites(e *conversation.Edit) bool { return len(e.Parts) > 0 && e.Parts[0].Shown.Citation != nil }

// at is where the source of a number is.
func (x *spoils) at(number int) int {
	handle := sourcesOf(x.good)[number-1].Source.ContentID
	return slices.IndexFunc(x.good, func(r engine.Record) bool { return r.Source != nil && r.Source.Source.ContentID == handle })
}

func (x *spoils) source(number int, change func(*engine.SourceRecord)) spoil {
	return func(r []engine.Record) []engine.Record { change(r[x.at(number)].Source); return r }
}

func (x *spoils) edit(i int, change func(*conversation.Edit)) spoil {
	return func(r []engine.Record) []engine.Record { change(r[i].Edit); return r }
}

func (x *spoils) cites(change func(*conversation.Citation)) spoil {
	return x.edit(x.citing, func(e *conversation.Edit) {
		c := *e.Parts[0].Shown.Citation
		change(&c)
		e.Parts[0].Shown.Citation = &c
	})
}

func (x *spoils) runs(change func([]engine.Run) []engine.Run) spoil {
	return func(r []engine.Record) []engine.Record {
		r[1].State.Runs = change(slices.Clone(r[1].State.Runs))
		return r
	}
}

// chunks changes a chunk of three.
func (x *spoils) chunks(n int, change func(*engine.SourceChunk)) spoil {
	return func(r []engine.Record) []engine.Record { change(r[x.chunk+n].Chunk); return r }
}

// insert puts a record where another is.
func insert(i int, what func([]engine.Record) engine.Record) spoil {
	return func(r []engine.Record) []engine.Record { return slices.Insert(r, i, what(r)) }
}

func drop(i int) spoil {
	return func(r []engine.Record) []engine.Record { return slices.Delete(r, i, i+1) }
}

func swap(i, j int) spoil {
	return func(r []engine.Record) []engine.Record { r[i], r[j] = r[j], r[i]; return r }
}

func record(i int) func([]engine.Record) engine.Record {
	return func(r []engine.Record) engine.Record { return r[i] }
}

// renamed gives a content another handle, wherever it is named.
func renamed(number int, handle string) spoil {
	return func(records []engine.Record) []engine.Record {
		old := sourcesOf(records)[number-1].Source.ContentID
		for _, r := range records {
			switch {
			case r.Source != nil && r.Source.Source.ContentID == old:
				r.Source.Source.ContentID = handle
			case r.Chunk != nil && r.Chunk.ContentID == old:
				r.Chunk.ContentID = handle
			case r.Edit != nil && r.Edit.Content == old:
				r.Edit.Content = handle
			case r.Edit != nil && cites(r.Edit) && r.Edit.Parts[0].Shown.Citation.ContentID == old:
				c := *r.Edit.Parts[0].Shown.Citation
				c.ContentID = handle
				r.Edit.Parts[0].Shown.Citation = &c
			}
		}
		return records
	}
}

// order returns damage to which records there are, and where.
func (x *spoils) order() map[string]spoil {
	return map[string]spoil{
		"a source missing":          drop(x.at(6)),
		"the last source missing":   drop(len(x.good) - 1),
		"a source twice":            insert(x.at(2), record(x.at(2))),
		"a manifest after a source": swap(x.at(1)-1, x.at(1)),
		"a state after a source":    insert(x.at(2), record(1)),
		"a state after a message":   swap(1, 2),
		"two states":                insert(2, record(1)),
		"a chunk missing":           drop(x.chunk),
		"the last chunk missing":    drop(x.chunk + 2),
		"a chunk twice":             insert(x.chunk, record(x.chunk)),
		"chunks in another order":   swap(x.chunk, x.chunk+1),
		"an empty chunk": insert(x.chunk, func(r []engine.Record) engine.Record {
			return engine.Record{Chunk: &engine.SourceChunk{ContentID: r[x.chunk].Chunk.ContentID}}
		}),
		"a chunk of another":       x.chunks(0, func(c *engine.SourceChunk) { c.ContentID = "c5-aaaaaaaa" }),
		"a chunk at another place": x.chunks(1, func(c *engine.SourceChunk) { c.Offset++ }),
		"a chunk changed":          x.chunks(1, func(c *engine.SourceChunk) { c.Data = make([]byte, len(c.Data)) }),
		"sources in another order": func(r []engine.Record) []engine.Record {
			one, other := r[x.at(2)].Source, r[x.at(3)].Source
			*one, *other = *other, *one
			one.Source.ContentID, other.Source.ContentID = other.Source.ContentID, one.Source.ContentID
			return r
		},
		"two sources of a text": func(r []engine.Record) []engine.Record {
			handle := r[x.at(3)].Source.Source.ContentID
			*r[x.at(3)].Source = *r[x.at(2)].Source
			r[x.at(3)].Source.Source.ContentID = handle
			return r
		},
		"no runs":       x.runs(func([]engine.Run) []engine.Run { return nil }),
		"too many runs": x.runs(func(r []engine.Run) []engine.Run { return append(r, manyRuns(store.MaxSlots)...) }),
		"a slot of contents": func(r []engine.Record) []engine.Record {
			r[1].State.Slots = map[string][]byte{"content/last": []byte("9")}
			return r
		},
	}
}

func manyRuns(n int) []engine.Run {
	out := make([]engine.Run, n)
	for i := range out {
		out[i] = engine.Run{ID: fmt.Sprint(i), Used: time.UnixMilli(int64(i)).UTC()}
	}
	return out
}

// handles returns damage to handles of contents.
func (x *spoils) handles() map[string]spoil {
	return map[string]spoil{
		"no handle":                   x.source(1, func(s *engine.SourceRecord) { s.Source.ContentID = "" }),
		"a handle that says more":     renamed(1, "c1-aaaa\naaa"),
		"a handle in capitals":        renamed(1, "c1-AAAAAAAA"),
		"a handle with a sign":        renamed(1, "c+1-aaaaaaaa"),
		"a later number":              renamed(11, "c12-aaaaaaaa"),
		"a number without end":        renamed(11, "c9999999999-aaaaaaaa"),
		"an earlier number":           renamed(6, "c1-aaaaaaaa"),
		"another handle":              x.source(2, func(s *engine.SourceRecord) { s.Source.ContentID = "c2-bbbbbbbb" }),
		"a citation without a source": x.cites(func(c *conversation.Citation) { c.ContentID = "c99-aaaaaaaa" }),
		"a citation of no handle":     x.cites(func(c *conversation.Citation) { c.ContentID = "2" }),
		"a citation of another":       x.cites(func(c *conversation.Citation) { c.ContentID = "c2-bbbbbbbb" }),
		"a content of no name":        x.edit(x.storing, func(e *conversation.Edit) { e.Content = "" }),
		"a content of any name":       x.edit(x.storing, func(e *conversation.Edit) { e.Content = "x" }),
		"a content of no source":      x.edit(x.storing, func(e *conversation.Edit) { e.Content = "c77-aaaaaaaa" }),
		"two handles of a content": func(r []engine.Record) []engine.Record {
			came := slices.IndexFunc(r, func(r engine.Record) bool { return r.Edit != nil && strings.HasPrefix(r.Edit.Content, "c8-") })
			r[came].Edit.Content = "c8-aaaaaaaa" // and the edit that says that it went has the right one
			return r
		},
	}
}

// figures returns damage to the values in sources and runs.
func (x *spoils) figures() map[string]spoil {
	return map[string]spoil{
		"a chunk too long":            x.source(4, func(s *engine.SourceRecord) { s.Source.Bytes-- }),
		"bytes that do not come":      x.source(4, func(s *engine.SourceRecord) { s.Source.Bytes++ }),
		"fewer characters":            x.source(4, func(s *engine.SourceRecord) { s.Source.Chars-- }),
		"characters of bytes":         x.source(6, func(s *engine.SourceRecord) { s.Source.Chars = 9 }),
		"another hash":                x.source(4, func(s *engine.SourceRecord) { s.Source.SHA256 = &[32]byte{1} }),
		"no hash":                     x.source(4, func(s *engine.SourceRecord) { s.Source.SHA256 = nil }),
		"no hash of a message's":      x.source(2, func(s *engine.SourceRecord) { s.Source.SHA256 = nil }),
		"another hash of a message's": x.source(3, func(s *engine.SourceRecord) { s.Source.SHA256 = &[32]byte{1} }),
		"another length":              x.source(2, func(s *engine.SourceRecord) { s.Source.Bytes++ }),
		"another length in chunks":    x.source(3, func(s *engine.SourceRecord) { s.Source.Bytes, s.Source.Chars = 1<<20, 1<<20 }),
		"other characters":            x.source(2, func(s *engine.SourceRecord) { s.Source.Chars-- }),
		"a message that is not there": x.source(2, func(s *engine.SourceRecord) { s.Message = 1000 }),
		"a message before the first":  x.source(2, func(s *engine.SourceRecord) { s.Message = -1 }),
		"a part that is not there":    x.source(2, func(s *engine.SourceRecord) { s.Part = 1 }),
		"a part before the first":     x.source(2, func(s *engine.SourceRecord) { s.Part = -1 }),
		"a call": x.source(2, func(s *engine.SourceRecord) {
			s.Message, s.Part, s.Source.RunID, s.Source.Expires = 1, 0, "", time.Time{}
		}),
		"another text of the run":   x.source(3, func(s *engine.SourceRecord) { s.Message = 2 }),
		"another run than its text": x.source(10, func(s *engine.SourceRecord) { s.Source.RunID = "second" }),
		"a run that there is not":   x.source(5, func(s *engine.SourceRecord) { s.Source.RunID = "none" }),
		"another end than its run":  x.source(5, func(s *engine.SourceRecord) { s.Source.Expires = s.Source.Expires.Add(time.Second) }),
		"an end without a run":      x.source(1, func(s *engine.SourceRecord) { s.Source.Expires = s.Source.Accessed }),
		"part of a millisecond":     x.source(1, func(s *engine.SourceRecord) { s.Source.Accessed = s.Source.Accessed.Add(1) }),
		"cited by a later message":  x.source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = []int32{1000} }),
		"cited by an earlier one":   x.source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = []int32{-1} }),
		"cited by too many":         x.source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = make([]int32, 101) }),
		"a run twice":               x.runs(func(r []engine.Run) []engine.Run { return append(r, r[0]) }),
		"a run without a name":      x.runs(func(r []engine.Run) []engine.Run { return append(r, engine.Run{Used: r[0].Used}) }),
		"a run that is only gone": x.runs(func(r []engine.Run) []engine.Run {
			return append(r, engine.Run{ID: "x", Used: r[0].Used, Gone: true})
		}),
		"a run of no exact time": x.runs(func(r []engine.Run) []engine.Run {
			return append(r, engine.Run{ID: "x", Used: r[0].Used.Add(1)})
		}),
		"contents of what is gone": x.runs(func(r []engine.Run) []engine.Run {
			r[slices.IndexFunc(r, func(r engine.Run) bool { return r.ID == "second" })].Gone = true
			return r
		}),
	}
}

// edits returns damage to edits that cite, or are about contents.
func (x *spoils) edits() map[string]spoil {
	return map[string]spoil{
		"an excerpt past the text":   x.cites(func(c *conversation.Citation) { c.ExcerptEnd = 1 << 20 }),
		"an excerpt before the text": x.cites(func(c *conversation.Citation) { c.ExcerptFrom = -1 }),
		"an excerpt backwards":       x.cites(func(c *conversation.Citation) { c.ExcerptFrom, c.ExcerptEnd = c.HowFrom, 0 }),
		"no way to get more":         x.cites(func(c *conversation.Citation) { c.HowFrom = 1 << 20 }),
		"half a character": x.edit(x.citing, func(e *conversation.Edit) {
			e.Parts[0].Shown = conversation.Part{
				Kind: conversation.PartText, Text: conversation.Content{Inline: "ü"},
				Citation: &conversation.Citation{ContentID: e.Parts[0].Shown.Citation.ContentID, HowFrom: 1},
			}
		}),
		"cited at another level": x.edit(x.citing, func(e *conversation.Edit) { e.Parts[0].Level = conversation.Shortened }),
		"a thought that cites": x.edit(x.citing, func(e *conversation.Edit) {
			c := &conversation.Citation{ContentID: e.Parts[0].Shown.Citation.ContentID}
			e.Parts[0].Shown = conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{}, Citation: c}
		}),
		"a content past the record": x.edit(x.storing, func(e *conversation.Edit) { e.Range = conversation.Range{First: 999, End: 999} }),
		"a content of a range":      x.edit(x.storing, func(e *conversation.Edit) { e.Range = conversation.Range{First: 0, End: 2} }),
		"a content backwards":       x.edit(x.storing, func(e *conversation.Edit) { e.Range = conversation.Range{First: 2, End: 1} }),
		"a content in an edit":      x.edit(x.citing, func(e *conversation.Edit) { e.Content = "c1-aaaaaaaa" }),
		"a content and a mask":      x.edit(x.storing, func(e *conversation.Edit) { e.Mask = []int32{0} }),
		"nothing to remove": x.edit(x.storing, func(e *conversation.Edit) {
			e.Kind, e.Content = conversation.EditRemove, ""
		}),
		"a message that cites": func(r []engine.Record) []engine.Record {
			r[2].Message.Parts[0].Citation = &conversation.Citation{}
			return r
		},
	}
}

// TestEngine_Import_HostileSources: an export with contents that no conversation could have written is refused, and leaves
// nothing behind.
func TestEngine_Import_HostileSources(t *testing.T) {
	testlane.OneCaller(t)
	x := newSpoils(t)
	all := x.order()
	for _, more := range []map[string]spoil{x.handles(), x.figures(), x.edits()} {
		maps.Copy(all, more)
	}
	for name, spoil := range all {
		t.Run(name, func(t *testing.T) {
			b := newBench(0)
			records := make([]engine.Record, len(x.good))
			for i := range x.good {
				records[i] = clone(x.good[i])
			}
			_, err := b.imports("copy", spoil(records))
			expect(t, err, conversation.InvalidField)
			_, err = b.Get(ctx, keyOf("copy"))
			expect(t, err, conversation.ConversationNotFound)
			b.now = b.now.Add(store.UploadGrace + time.Minute)
			if err := b.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			if due, err := b.store.Due(ctx, b.now, 10); err != nil || len(due) != 0 {
				t.Errorf("left behind: %+v, %v", due, err)
			}
		})
	}
}

// TestEngine_Import_RenamedSource: another handle that the sidecar could have made is accepted if all records use it.
func TestEngine_Import_RenamedSource(t *testing.T) {
	testlane.OneCaller(t)
	b := newBench(0)
	sourced(t, b, "c")
	if _, err := b.imports("copy", renamed(2, "c2-abcdefg7")(b.export(t, "c"))); err != nil {
		t.Fatal(err, causeOf(err))
	}
	if _, err := b.whole("copy", "c2-abcdefg7"); err != "" {
		t.Error(err)
	}
}

// TestEngine_Import_LastChunkMissing: of the last content of all.
func TestEngine_Import_LastChunkMissing(t *testing.T) {
	b := newBench(0)
	b.kept(t, "c", "", prose(1, 300_000))
	records := b.export(t, "c")
	_, err := b.imports("copy", records[:len(records)-1])
	expect(t, err, conversation.InvalidField)
}

// TestEngine_Import_ManySources: source records are all written in one commit, so they are bounded.
func TestEngine_Import_ManySources(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"))
	records := b.export(t, "c")
	metadata := strings.Repeat(" ", 60_000) + "{}"
	for n := range 1200 {
		s := engine.Source{ContentID: fmt.Sprintf("c%d-aaaaaaaa", n+1), Accessed: b.now, Metadata: metadata, Expired: true}
		records = append(records, engine.Record{Source: &engine.SourceRecord{Source: s}})
	}
	_, err := b.imports("copy", records)
	expect(t, err, conversation.InvalidField)
	if _, err := b.imports("copy", records[:1000]); err != nil {
		t.Error(err, causeOf(err))
	}
}

// TestEngine_Import_ManyRewinds: more rewinds than a view can carry are refused.
func TestEngine_Import_ManyRewinds(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"))
	records := b.export(t, "c")
	records[1].State = &engine.State{Rewinds: slices.Repeat([]conversation.Range{{End: 1}}, 1<<16+1)}
	_, err := b.imports("copy", records)
	expect(t, err, conversation.InvalidField)
	if !strings.Contains(err.Error(), "more than 65536 rewinds") {
		t.Error(err)
	}
}

// TestEngine_Import_LongContent: a chunk that is longer than its content can be is refused before it is stored.
func TestEngine_Import_LongContent(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	b.kept(t, "c", "", prose(1, 300_000))
	records := b.export(t, "c")
	records[slices.IndexFunc(records, func(r engine.Record) bool { return r.Source != nil })].Source.Source.Bytes = 10
	f.stage = func(u *store.Upload) error {
		if len(u.Data) > 0 {
			t.Error("it is stored")
		}
		return nil
	}
	_, err := b.imports("copy", records)
	expect(t, err, conversation.InvalidField)
}

package engine_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// sourced is a conversation with contents of every kind: of messages and of StoreContent, of runs that go on, have ended, and are
// over, shared, empty, binary, recalled, erased.
func sourced(t testing.TB, b *bench, id string) {
	t.Helper()
	b.cites(t, id, func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
	of := func(run string, m conversation.Message) conversation.Message { m.RunID = run; return m }
	b.kept(t, id, "", "before all messages")
	b.append(t, id, user("go"), call("1", "2"), of("first", result("1", prose(1, 2_000))), of("first", result("2", prose(2, 90_000))))
	b.kept(t, id, "", prose(3, 600_000))
	b.kept(t, id, "second", prose(3, 600_000)) // the same bytes
	binary := strings.Repeat("\x00\xff\xfe", 100_000)
	b.kept(t, id, "second", binary)
	if _, err := b.keep(id, "", "", nil); err != nil {
		t.Fatal(err)
	}
	b.kept(t, id, "third", `{"a":[`+strings.Repeat(`{"name":"ü"},`, 9_000)+`{}]}`)
	b.append(t, id, call("3"), manyParts("3", prose(4, 3_000), prose(5, 50_000)), acted(prose(6, 4_000)))
	erased := result("4", prose(7, 100_000))
	erased.Parts[0].Result.Expiration = &conversation.Expiration{Turns: ptr(int32(1)), Mode: conversation.ExpirationRemove, PreserveOriginal: ptr(false)}
	recalled := result("5", "some of it")
	recalled.Parts[0].Result.Recalled = &conversation.Recalled{ContentID: b.listed(t, id)[0].ContentID}
	b.append(t, id, call("4"), erased, call("5"), recalled, answer("done"), user("and?"))
	b.ends(t, id, "third", 0)
	b.now = b.now.Add(time.Second)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	b.ends(t, id, "second", time.Hour)
	for range 4 {
		b.asked(t, id, 100_000, func(r *engine.BuildRequest) { r.Model = "m" })
		b.append(t, id, answer("more"), user("and"))
	}
}

// manyParts is a result of texts and a picture.
func manyParts(call string, texts ...string) conversation.Message {
	m := result(call, "")
	r := m.Parts[0].Result
	r.Output = conversation.OutputParts
	for _, s := range texts {
		r.Parts = append(r.Parts, conversation.ResultPart{Text: conversation.Content{Inline: s}})
	}
	r.Parts = append(r.Parts, conversation.ResultPart{Media: &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: "png"}}})
	return m
}

func acted(s string) conversation.Message {
	m := user(s)
	m.Type = conversation.TypeActionResult
	return m
}

func (b *bench) ends(t testing.TB, id, run string, grace time.Duration) {
	t.Helper()
	if _, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf(id), RunID: run, Grace: &grace}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) listed(t testing.TB, id string) []engine.Source {
	t.Helper()
	r, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf(id), Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return r.Sources
}

// whole is all of a content; what keeps it from being had otherwise.
func (b *bench) whole(id, handle string) (string, conversation.Kind) {
	var out strings.Builder
	err := b.StreamContent(ctx, keyOf(id), handle, 0, func(_ *engine.Source, _ int64, chunk []byte) error {
		out.Write(chunk)
		return nil
	})
	if err != nil {
		return "", conversation.KindOf(err)
	}
	return out.String(), ""
}

func sourcesOf(records []engine.Record) (out []engine.SourceRecord) {
	for _, r := range records {
		if r.Source != nil {
			out = append(out, *r.Source)
		}
	}
	return out
}

// TestEngine_Import_OfSources: the copy exports what the original did, has the same contents under the same handles, and loses
// them when the original would.
func TestEngine_Import_OfSources(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		sourced(t, b, "c")
		first := b.export(t, "c")
		if n := len(sourcesOf(first)); n != 11 {
			t.Fatalf("%d sources", n)
		}
		if _, err := b.imports("copy", first); err != nil {
			t.Fatal(err, causeOf(err))
		}
		again, want := likened(b.export(t, "copy")), likened(first)
		for i := range want {
			if i >= len(again) || !reflect.DeepEqual(again[i], want[i]) {
				t.Fatalf("record %d of %d and %d: %s", i, len(want), len(again), cmp.Diff(want[i], again[min(i, len(again)-1)]))
			}
		}
		b.sameContents(t, 11)
		one, other := b.asked(t, "c", 100_000, nil), b.asked(t, "copy", 100_000, nil)
		if one.SHA256 != other.SHA256 || one.Tokens != other.Tokens {
			t.Error("the copy builds otherwise")
		}
		if one, other := b.kept(t, "c", "", "next"), b.kept(t, "copy", "", "next"); one[:4] != other[:4] {
			t.Errorf("the next handles are %s and %s", one, other)
		}
		// Run second ends, run first is ended because nobody uses it, then both are forgotten.
		for _, later := range []time.Duration{time.Hour, 26 * time.Hour, 26 * time.Hour} {
			b.now = b.now.Add(later)
			if err := b.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			b.sameContents(t, 12)
		}
		left := slices.DeleteFunc(b.listed(t, "copy"), func(s engine.Source) bool { return s.Expired })
		if len(left) != 6 {
			t.Errorf("%d contents are left", len(left))
		}
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

func (b *bench) sameContents(t testing.TB, n int) {
	t.Helper()
	one, other := b.listed(t, "c"), b.listed(t, "copy")
	if len(one) != n || len(other) != n {
		t.Fatalf("%d and %d sources", len(one), len(other))
	}
	for i := range one {
		text, kind := b.whole("c", one[i].ContentID)
		copied, copiedKind := b.whole("copy", other[i].ContentID)
		if text != copied || kind != copiedKind {
			t.Errorf("source %d: %d and %d bytes, %q and %q", i+1, len(text), len(copied), kind, copiedKind)
		}
		if i < 11 && !reflect.DeepEqual(one[i], other[i]) {
			t.Errorf("source %+v is copied to %+v", one[i], other[i])
		}
	}
}

// TestEngine_Import_OfAppendingWhileExporting: what comes, and what goes, while an export is read is no part of it.
func TestEngine_Export_WhileContentsComeAndGo(t *testing.T) {
	b := newBench(0)
	sourced(t, b, "c")
	before := b.export(t, "c")
	var records []engine.Record
	err := b.Export(ctx, keyOf("c"), func(r engine.Record) error {
		if len(records) == 1 {
			recalled := result("9", "again")
			recalled.Parts[0].Result.Recalled = &conversation.Recalled{ContentID: b.listed(t, "c")[0].ContentID}
			b.append(t, "c", call("9"), recalled)
			b.kept(t, "c", "", "late")
			b.now = b.now.Add(2 * time.Hour)
			if err := b.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		records = append(records, clone(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	was, is := sourcesOf(before), sourcesOf(records)
	if len(was) != len(is) {
		t.Fatalf("%d sources, and %d before", len(is), len(was))
	}
	gone := 0
	for i := range is {
		if is[i].Source.Expired != was[i].Source.Expired {
			gone++
			continue
		}
		if !reflect.DeepEqual(is[i], was[i]) {
			t.Errorf("source %+v was %+v", is[i], was[i])
		}
	}
	if gone != 2 {
		t.Errorf("%d contents went", gone)
	}
	if _, err := b.imports("copy", records); err != nil {
		t.Error(err, causeOf(err))
	}
}

// TestEngine_Export_ContentGoesUnderIt: of a content that goes in the middle of it nobody gets half.
func TestEngine_Export_ContentGoesUnderIt(t *testing.T) {
	b := newBench(0)
	b.kept(t, "c", "run", prose(1, 700_000))
	b.ends(t, "c", "run", 0)
	for _, at := range []string{"source", "chunk"} {
		var chunks int
		err := b.Export(ctx, keyOf("c"), func(r engine.Record) error {
			if r.Source != nil && at == "source" || r.Chunk != nil && at == "chunk" {
				b.now = b.now.Add(time.Second)
				if err := b.Sweep(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if r.Chunk != nil {
				chunks++
			}
			return nil
		})
		if at == "source" {
			expect(t, err, conversation.Contention)
			b.kept(t, "c", "run2", prose(1, 700_000))
			b.ends(t, "c", "run2", 0)
			continue
		}
		expect(t, err, conversation.Contention)
		if chunks != 1 {
			t.Errorf("%d chunks of a content that went", chunks)
		}
	}
}

// TestEngine_Import_HostileSources: what no conversation could have written of contents is refused and leaves nothing behind.
func TestEngine_Import_HostileSources(t *testing.T) {
	origin := newBench(0)
	sourced(t, origin, "c")
	good := origin.export(t, "c")
	at := func(found func(engine.Record) bool) int { return slices.IndexFunc(good, found) }
	number := func(n int) int {
		handle := sourcesOf(good)[n-1].Source.ContentID
		return at(func(r engine.Record) bool { return r.Source != nil && r.Source.Source.ContentID == handle })
	}
	chunk := number(4) + 1 // 600 KB in three
	citing := at(func(r engine.Record) bool {
		return r.Edit != nil && len(r.Edit.Parts) > 0 && r.Edit.Parts[0].Shown.Citation != nil
	})
	storing := at(func(r engine.Record) bool { return r.Edit != nil && r.Edit.Kind == conversation.EditStoreContent })
	source := func(n int, change func(*engine.SourceRecord)) func([]engine.Record) []engine.Record {
		return func(r []engine.Record) []engine.Record { change(r[number(n)].Source); return r }
	}
	edit := func(i int, change func(*conversation.Edit)) func([]engine.Record) []engine.Record {
		return func(r []engine.Record) []engine.Record { change(r[i].Edit); return r }
	}
	cites := func(change func(*conversation.Citation)) func([]engine.Record) []engine.Record {
		return edit(citing, func(e *conversation.Edit) {
			c := *e.Parts[0].Shown.Citation
			change(&c)
			e.Parts[0].Shown.Citation = &c
		})
	}
	runs := func(change func([]engine.Run) []engine.Run) func([]engine.Record) []engine.Record {
		return func(r []engine.Record) []engine.Record {
			r[1].State.Runs = change(slices.Clone(r[1].State.Runs))
			return r
		}
	}
	for name, spoil := range map[string]func([]engine.Record) []engine.Record{
		"no handle":                 source(1, func(s *engine.SourceRecord) { s.Source.ContentID = "" }),
		"a handle that says more":   source(1, func(s *engine.SourceRecord) { s.Source.ContentID = "c1-aaaa\naaa" }),
		"a handle in capitals":      source(1, func(s *engine.SourceRecord) { s.Source.ContentID = "c1-AAAAAAAA" }),
		"a handle with a sign":      source(1, func(s *engine.SourceRecord) { s.Source.ContentID = "c+1-aaaaaaaa" }),
		"a later number":            source(6, func(s *engine.SourceRecord) { s.Source.ContentID = "c7-aaaaaaaa" }),
		"an earlier number":         source(6, func(s *engine.SourceRecord) { s.Source.ContentID = "c1-aaaaaaaa" }),
		"another handle":            source(2, func(s *engine.SourceRecord) { s.Source.ContentID = "c2-bbbbbbbb" }),
		"a source missing":          func(r []engine.Record) []engine.Record { return slices.Delete(r, number(6), number(6)+1) },
		"the last source missing":   func(r []engine.Record) []engine.Record { return r[:len(r)-1] },
		"a source twice":            func(r []engine.Record) []engine.Record { return slices.Insert(r, number(2), r[number(2)]) },
		"a manifest after a source": func(r []engine.Record) []engine.Record { return slices.Insert(r, number(2), r[number(1)-2]) },
		"a state after a source":    func(r []engine.Record) []engine.Record { return slices.Insert(r, number(2), r[1]) },
		"a state after a message":   func(r []engine.Record) []engine.Record { r[1], r[2] = r[2], r[1]; return r },
		"two states":                func(r []engine.Record) []engine.Record { return slices.Insert(r, 2, r[1]) },
		"a chunk missing":           func(r []engine.Record) []engine.Record { return slices.Delete(r, chunk, chunk+1) },
		"the last chunk missing":    func(r []engine.Record) []engine.Record { return slices.Delete(r, chunk+2, chunk+3) },
		"a chunk twice":             func(r []engine.Record) []engine.Record { return slices.Insert(r, chunk, r[chunk]) },
		"chunks in another order":   func(r []engine.Record) []engine.Record { r[chunk], r[chunk+1] = r[chunk+1], r[chunk]; return r },
		"a chunk of another":        func(r []engine.Record) []engine.Record { r[chunk].Chunk.ContentID = "c5-aaaaaaaa"; return r },
		"an empty chunk":            func(r []engine.Record) []engine.Record { r[chunk].Chunk.Data = nil; return r },
		"a chunk changed": func(r []engine.Record) []engine.Record {
			r[chunk].Chunk.Data = make([]byte, len(r[chunk].Chunk.Data))
			return r
		},
		"a chunk too long":            source(4, func(s *engine.SourceRecord) { s.Source.Bytes-- }),
		"bytes that do not come":      source(4, func(s *engine.SourceRecord) { s.Source.Bytes++ }),
		"fewer characters":            source(4, func(s *engine.SourceRecord) { s.Source.Chars-- }),
		"characters of bytes":         source(6, func(s *engine.SourceRecord) { s.Source.Chars = 9 }),
		"another hash":                source(4, func(s *engine.SourceRecord) { s.Source.SHA256 = &[32]byte{1} }),
		"no hash":                     source(4, func(s *engine.SourceRecord) { s.Source.SHA256 = nil }),
		"no hash of a message's":      source(2, func(s *engine.SourceRecord) { s.Source.SHA256 = nil }),
		"another hash of a message's": source(3, func(s *engine.SourceRecord) { s.Source.SHA256 = &[32]byte{1} }),
		"another length":              source(2, func(s *engine.SourceRecord) { s.Source.Bytes++ }),
		"another length in chunks":    source(3, func(s *engine.SourceRecord) { s.Source.Bytes, s.Source.Chars = 1<<20, 1<<20 }),
		"other characters":            source(2, func(s *engine.SourceRecord) { s.Source.Chars-- }),
		"a message that is not there": source(2, func(s *engine.SourceRecord) { s.Message = 1000 }),
		"a message before the first":  source(2, func(s *engine.SourceRecord) { s.Message = -1 }),
		"a part that is not there":    source(2, func(s *engine.SourceRecord) { s.Part = 1 }),
		"a part before the first":     source(2, func(s *engine.SourceRecord) { s.Part = -1 }),
		"a call": source(2, func(s *engine.SourceRecord) {
			s.Message, s.Part, s.Source.RunID, s.Source.Expires = 1, 0, "", time.Time{}
		}),
		"another text of the run":     source(3, func(s *engine.SourceRecord) { s.Message = 2 }),
		"another run than its text":   source(2, func(s *engine.SourceRecord) { s.Source.RunID = "second" }),
		"a run that there is not":     source(5, func(s *engine.SourceRecord) { s.Source.RunID = "none" }),
		"another end than its run":    source(5, func(s *engine.SourceRecord) { s.Source.Expires = s.Source.Expires.Add(time.Second) }),
		"an end without a run":        source(1, func(s *engine.SourceRecord) { s.Source.Expires = origin.now }),
		"part of a millisecond":       source(1, func(s *engine.SourceRecord) { s.Source.Accessed = s.Source.Accessed.Add(1) }),
		"cited by a later message":    source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = []int32{1000} }),
		"cited by an earlier one":     source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = []int32{-1} }),
		"cited by too many":           source(1, func(s *engine.SourceRecord) { s.Source.CitedBy = make([]int32, 101) }),
		"a citation without a source": cites(func(c *conversation.Citation) { c.ContentID = "c99-aaaaaaaa" }),
		"a citation of no handle":     cites(func(c *conversation.Citation) { c.ContentID = "2" }),
		"a citation of another":       cites(func(c *conversation.Citation) { c.ContentID = "c2-bbbbbbbb" }),
		"an excerpt past the text":    cites(func(c *conversation.Citation) { c.ExcerptEnd = 1 << 20 }),
		"an excerpt before the text":  cites(func(c *conversation.Citation) { c.ExcerptFrom = -1 }),
		"an excerpt backwards":        cites(func(c *conversation.Citation) { c.ExcerptFrom = c.ExcerptEnd + 1 }),
		"no way to get more":          cites(func(c *conversation.Citation) { c.HowFrom = 1 << 20 }),
		"half a character": edit(citing, func(e *conversation.Edit) {
			e.Parts[0].Shown = conversation.Part{
				Kind: conversation.PartText, Text: conversation.Content{Inline: "ü"},
				Citation: &conversation.Citation{ContentID: e.Parts[0].Shown.Citation.ContentID, HowFrom: 1},
			}
		}),
		"cited at another level":    edit(citing, func(e *conversation.Edit) { e.Parts[0].Level = conversation.Shortened }),
		"a call that cites":         edit(citing, func(e *conversation.Edit) { e.Parts[0].Shown.Kind = conversation.PartReasoning }),
		"a content of no name":      edit(storing, func(e *conversation.Edit) { e.Content = "" }),
		"a content of any name":     edit(storing, func(e *conversation.Edit) { e.Content = "x" }),
		"a content of no source":    edit(storing, func(e *conversation.Edit) { e.Content = "c77-aaaaaaaa" }),
		"a content past the record": edit(storing, func(e *conversation.Edit) { e.Range = conversation.Range{First: 999, End: 999} }),
		"a content of a range":      edit(storing, func(e *conversation.Edit) { e.Range = conversation.Range{First: 0, End: 2} }),
		"a content in an edit":      edit(citing, func(e *conversation.Edit) { e.Content = "c1-aaaaaaaa" }),
		"a content and a mask":      edit(storing, func(e *conversation.Edit) { e.Mask = []int32{0} }),
		"a message that cites": func(r []engine.Record) []engine.Record {
			r[2].Message.Parts[0].Citation = &conversation.Citation{}
			return r
		},
		"a run twice":              runs(func(r []engine.Run) []engine.Run { return append(r, r[0]) }),
		"a run without a name":     runs(func(r []engine.Run) []engine.Run { r[0].ID = ""; return r }),
		"a run that is only gone":  runs(func(r []engine.Run) []engine.Run { r[0].Gone, r[0].End = true, time.Time{}; return r }),
		"a run of no exact time":   runs(func(r []engine.Run) []engine.Run { r[0].Used = r[0].Used.Add(1); return r }),
		"no runs":                  runs(func([]engine.Run) []engine.Run { return nil }),
		"too many runs":            runs(func([]engine.Run) []engine.Run { return make([]engine.Run, store.MaxSlots) }),
		"contents of what is gone": runs(func(r []engine.Run) []engine.Run { return allGone(r) }),
		"a slot of contents": func(r []engine.Record) []engine.Record {
			r[1].State.Slots = map[string][]byte{"content/last": []byte("9")}
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(0)
			records := make([]engine.Record, len(good))
			for i := range good {
				records[i] = clone(good[i])
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

func allGone(runs []engine.Run) []engine.Run {
	for i := range runs {
		if runs[i].Gone = true; runs[i].End.IsZero() {
			runs[i].End = runs[i].Used
		}
	}
	return runs
}

// TestEngine_Import_SourcesBrokenOff: in the middle of a content too, nothing is left behind.
func TestEngine_Import_SourcesBrokenOff(t *testing.T) {
	b := newBench(0)
	sourced(t, b, "c")
	good := b.export(t, "c")
	gone := errors.New("the caller is gone")
	for n := range good {
		if good[n].Chunk == nil && good[n].Source == nil {
			continue
		}
		left := good[:n]
		_, err := b.Import(ctx, keyOf("copy"), func() (*engine.Record, error) {
			if len(left) == 0 {
				return nil, gone
			}
			r := clone(left[0])
			left = left[1:]
			return &r, nil
		})
		if !errors.Is(err, gone) && !errors.Is(causeOf(err), gone) {
			t.Fatalf("broken off before record %d: %v", n, err)
		}
	}
	b.now = b.now.Add(store.UploadGrace + time.Minute)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if due, err := b.store.Due(ctx, b.now, 100); err != nil || slices.ContainsFunc(due, func(d store.Task) bool { return d.Staged }) {
		t.Errorf("left behind: %+v, %v", due, err)
	}
	if _, err := b.whole("copy", "c1-aaaaaaaa"); err != conversation.ConversationNotFound {
		t.Error(err)
	}
}

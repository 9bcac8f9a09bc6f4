package engine_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// sourced makes a conversation with contents of every kind: from messages and from StoreContent; of runs that are open, ended and over;
// shared, empty, binary, recalled and erased.
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

// whole returns all of a content, or the kind of the error that prevents reading it.
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

// TestEngine_Import_OfSources: the copy exports the same as the original, has the same contents with the same handles, and loses them at
// the same time as the original.
func TestEngine_Import_OfSources(t *testing.T) {
	testlane.OneCaller(t)
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

// TestEngine_Export_WhileContentsComeAndGo: contents that are added or deleted while an export is being read are not part of it.
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

// TestEngine_Export_ContentGoesUnderIt: a content that is deleted before its turn is exported as expired. If it is deleted in the
// middle, the export fails.
func TestEngine_Export_ContentGoesUnderIt(t *testing.T) {
	for at, want := range map[int]conversation.Kind{1: "", 2: conversation.Contention} {
		b := newBench(0)
		b.kept(t, "c", "", "first")
		b.kept(t, "c", "run", prose(1, 700_000))
		b.ends(t, "c", "run", time.Second)
		var given []engine.Record
		sources := 0
		err := b.Export(ctx, keyOf("c"), func(r engine.Record) error {
			given = append(given, clone(r))
			if r.Source == nil {
				return nil
			}
			if sources++; sources == at {
				b.now = b.now.Add(time.Second)
				return b.Sweep(ctx)
			}
			return nil
		})
		if want != "" {
			expect(t, err, want)
			continue
		}
		if err != nil || len(given) < 3 || !given[len(given)-1].Source.Source.Expired {
			t.Fatalf("%v, and %d records", err, len(given))
		}
		if _, err := b.imports("copy", given); err != nil {
			t.Error(err, causeOf(err))
		}
	}
}

// TestEngine_Export_ManyRuns: if the export lacked some of them, contents in the copy would never be deleted.
func TestEngine_Export_ManyRuns(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"))
	for i := range store.MaxSlots {
		b.ends(t, "c", fmt.Sprint(i), time.Hour)
	}
	err := b.Export(ctx, keyOf("c"), func(engine.Record) error { return nil })
	expect(t, err, conversation.LimitExceeded)
}

// TestEngine_Import_SourcesBrokenOff: nothing is left behind, even if the import breaks off in the middle of a content.
func TestEngine_Import_SourcesBrokenOff(t *testing.T) {
	testlane.OneCaller(t)
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

// TestEngine_Import_SameBytes_AreStoredOnceAgain: bytes that the original stored once are stored once in the copy, and contents stored
// later share them until the last content that uses them is deleted.
func TestEngine_Import_SameBytes_AreStoredOnceAgain(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	cited, stored := prose(1, 90_000), prose(2, 600_000)
	b.append(t, "c", user("go"), call("1"), result("1", cited))
	for _, run := range []string{"a", "b"} {
		b.kept(t, "c", run, stored)
		b.kept(t, "c", run, cited)
	}
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err, causeOf(err))
	}
	if original, copied := b.chunks(t, "c"), b.chunks(t, "copy"); original != 2 || copied != 2 {
		t.Errorf("the original has %d contents in the store, the copy %d", original, copied)
	}
	for _, text := range []string{stored, cited} {
		if r, err := b.keep("copy", "c", text, nil); err != nil || !r.Shared {
			t.Errorf("bytes that the copy has are stored again (%v)", err)
		}
	}
	for i, run := range []string{"a", "b", "c"} {
		b.ends(t, "copy", run, 0)
		b.now = b.now.Add(time.Second)
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		want := 2
		if i == 2 {
			want = 1 // the message keeps its own
		}
		if n := b.chunks(t, "copy"); n != want {
			t.Errorf("after the end of run %s, %d contents are in the store, not %d", run, n, want)
		}
	}
	if got, kind := b.whole("copy", b.listed(t, "copy")[0].ContentID); got != cited {
		t.Errorf("the cited text comes back with %d bytes (%s)", len(got), kind)
	}
}

// TestEngine_Import_StoreFails_IsSaid: if any read or write fails, the import fails, and does not continue without the data.
func TestEngine_Import_StoreFails_IsSaid(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	sourced(t, b, "c")
	good := b.export(t, "c")
	n, fail := 0, 0
	fault := func() error {
		if n++; n == fail {
			return store.ErrUnavailable
		}
		return nil
	}
	for name, set := range map[string]func(){
		"read":   func() { f.read = func(store.Query) error { return fault() } },
		"stage":  func() { f.stage = func(*store.Upload) error { return fault() } },
		"commit": func() { f.commit = func(store.Key, *store.Change) error { return fault() } },
	} {
		for n, fail = 0, 1; n >= fail-1; fail++ {
			n = 0
			set()
			_, err := b.imports(fmt.Sprint(name, fail), good)
			f.read, f.stage, f.commit = nil, nil, nil
			if want := n >= fail; want != (conversation.KindOf(err) == conversation.StoreUnavailable) || !want && err != nil {
				t.Fatalf("%s %d of %d: %v", name, fail, n, err)
			}
		}
		if fail < 3 {
			t.Errorf("no %s is made to fail", name)
		}
	}
}

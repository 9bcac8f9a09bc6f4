package engine_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func (b *bench) export(t testing.TB, id string) []engine.Record {
	t.Helper()
	var out []engine.Record
	err := b.Export(ctx, keyOf(id), func(r engine.Record) error {
		if m := r.Message; m != nil {
			c := *m
			r.Message = &c
		}
		if m := r.Manifest; m != nil {
			c := *m
			r.Manifest = &c
		}
		if k := r.Chunk; k != nil {
			c := *k
			c.Data = slices.Clone(k.Data)
			r.Chunk = &c
		}
		out = append(out, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *bench) imports(id string, records []engine.Record) (*engine.Conversation, error) {
	return b.Import(ctx, keyOf(id), func() (*engine.Record, error) {
		if len(records) == 0 {
			return nil, io.EOF
		}
		r := clone(records[0])
		records = records[1:]
		return &r, nil
	})
}

// clone copies a record, because an import may keep and change what it is given.
func clone(r engine.Record) engine.Record {
	if r.Conversation != nil {
		c := *r.Conversation
		r.Conversation = &c
	}
	if r.State != nil {
		s := *r.State
		r.State = &s
	}
	if r.Message != nil {
		m := *r.Message
		m.Parts = conversation.CloneParts(m.Parts)
		r.Message = &m
	}
	if r.Edit != nil {
		e := *r.Edit
		e.Parts = append([]conversation.PartEdit(nil), e.Parts...)
		r.Edit = &e
	}
	if r.Manifest != nil {
		m := *r.Manifest
		r.Manifest = &m
	}
	if r.Source != nil {
		s := *r.Source
		s.Source.CitedBy = slices.Clone(s.Source.CitedBy)
		r.Source = &s
	}
	if r.Chunk != nil {
		c := *r.Chunk
		r.Chunk = &c
	}
	return r
}

// lived makes a conversation that has used most features.
func lived(t testing.TB, b *bench, id string) {
	b.append(t, id, text(conversation.RoleSystem, "s"), pinned(user("p")), user("go"), call("gone", "f"), result("gone", "r"))
	b.rewind(t, id, 3)
	b.steps(t, id, 140, 20)
	b.append(t, id, call("open", "big"), result("big", words(20_000)), user("never mind"), result("open", "late"))
	var last *engine.BuildResult
	for i := range 6 {
		b.now = b.now.Add(time.Minute)
		b.append(t, id, user("more"))
		last = b.asked(t, id, 1000+int32(i%2)*3000, func(r *engine.BuildRequest) {
			r.Key, r.Model, r.Format = keyOf(id), "m", allFormats[i%len(allFormats)]
			if last != nil {
				r.LastUsage = &engine.Usage{Input: int32(900 + 300*i)}
			}
		})
	}
}

// likened returns an export without what an import makes anew.
func likened(records []engine.Record) []engine.Record {
	out := make([]engine.Record, len(records))
	for i, r := range records {
		if r = clone(r); r.Conversation != nil {
			c := r.Conversation
			c.ID, c.Head.Incarnation, c.Head.NextDue = "", conversation.ID{}, time.Time{}
		}
		out[i] = r
	}
	return out
}

// TestEngine_Import_OfAnExport: the copy exports what the original did, builds what the original would, and rebuilds every
// manifest.
func TestEngine_Import_OfAnExport(t *testing.T) {
	stores(t, func(t *testing.T, s store.Store) {
		b := newBenchOn(s, 1<<20)
		lived(t, b, "c")
		first := b.export(t, "c")
		c, err := b.imports("copy", first)
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != "copy" || c.Head.Messages != b.head(t, "c").Messages || c.Head.Incarnation == b.head(t, "c").Incarnation {
			t.Errorf("%+v", c)
		}
		again, want := likened(b.export(t, "copy")), likened(first)
		if len(again) != len(want) {
			t.Fatalf("%d records, want %d", len(again), len(want))
		}
		for i := range want {
			if !reflect.DeepEqual(again[i], want[i]) {
				t.Fatalf("record %d: got %+v, want %+v", i, again[i], want[i])
			}
		}
		b.rebuildsAll(t, "copy", 6)
		for i, f := range allFormats {
			ask := func(r *engine.BuildRequest) { r.Format, r.Model = f, "m" }
			one, two := b.asked(t, "c", 1000, ask), b.asked(t, "copy", 1000, ask)
			if one.SHA256 != two.SHA256 || one.Tokens != two.Tokens || one.Prefix != two.Prefix || one.Manifest.Seq != two.Manifest.Seq {
				t.Errorf("build %d: %+v and %+v", i, one.Prefix, two.Prefix)
			}
		}
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEngine_Import_TakenID(t *testing.T) {
	b := newBench(0)
	lived(t, b, "c")
	records := b.export(t, "c")
	_, err := b.imports("c", records)
	expect(t, err, conversation.ConversationExists)
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	_, err = b.imports("c", records)
	expect(t, err, conversation.ConversationDeleted)
}

// TestEngine_Import_CreatedMeanwhile: nothing is left half done if another call takes the id while records are being
// staged.
func TestEngine_Import_CreatedMeanwhile(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	lived(t, b, "c")
	records := b.export(t, "c")
	other := newBenchOn(f.Store, 0)
	other.ids.Store(1 << 32)
	f.commit = func(store.Key, *store.Change) error {
		f.commit = nil
		other.append(t, "copy", user("first"))
		return nil
	}
	_, err := b.imports("copy", records)
	expect(t, err, conversation.ConversationExists)
	if got := b.records(t, "copy"); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
	b.now = b.now.Add(store.UploadGrace + time.Hour)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestEngine_Import_Hostile: an export that no conversation could have made is refused and leaves nothing behind.
func TestEngine_Import_Hostile(t *testing.T) {
	source := newBench(0)
	lived(t, source, "c")
	good := source.export(t, "c")
	messages := int(source.head(t, "c").Messages)
	at := func(index int) int { return 2 + index } // of a message
	edit := 2 + messages
	lastEdit := edit + int(source.head(t, "c").EditSeq) - 1
	manifest := lastEdit + 1
	head := func(change func(*store.Head)) func([]engine.Record) []engine.Record {
		return func(r []engine.Record) []engine.Record { change(&r[0].Conversation.Head); return r }
	}
	for name, spoil := range map[string]func([]engine.Record) []engine.Record{
		"nothing":                    func([]engine.Record) []engine.Record { return nil },
		"no conversation":            func(r []engine.Record) []engine.Record { return r[1:] },
		"two conversations":          func(r []engine.Record) []engine.Record { return append(r, r[0]) },
		"an empty record":            func(r []engine.Record) []engine.Record { return append(r, engine.Record{}) },
		"a message missing":          func(r []engine.Record) []engine.Record { return append(r[:at(3)], r[at(4):]...) },
		"a message twice":            func(r []engine.Record) []engine.Record { return append(r[:at(4)], r[at(3):]...) },
		"the last message missing":   func(r []engine.Record) []engine.Record { return append(r[:edit-1], r[edit:]...) },
		"an edit missing":            func(r []engine.Record) []engine.Record { return append(r[:edit], r[edit+1:]...) },
		"cut off before the edits":   func(r []engine.Record) []engine.Record { return r[:edit] },
		"an unknown counter":         func(r []engine.Record) []engine.Record { r[0].Conversation.Info.Counter = "mine"; return r },
		"another ordinal":            func(r []engine.Record) []engine.Record { r[at(3)].Message.Parts[0].Call.Ordinal = 99; return r },
		"a result without its call":  func(r []engine.Record) []engine.Record { r[at(4)].Message.Parts[0].Result.CallID = "zzz"; return r },
		"negative tokens":            func(r []engine.Record) []engine.Record { r[at(3)].Message.Tokens = -1; return r },
		"a message of the future":    func(r []engine.Record) []engine.Record { r[at(3)].Message.Commit = 1 << 40; return r },
		"an edit past the record":    func(r []engine.Record) []engine.Record { r[edit].Edit.Range.End = 1 << 20; return r },
		"an edit of nothing":         func(r []engine.Record) []engine.Record { r[edit].Edit.Range.End = r[edit].Edit.Range.First; return r },
		"an edit of many messages":   func(r []engine.Record) []engine.Record { r[edit].Edit.Range.First -= 3; return r },
		"a summary of nothing":       func(r []engine.Record) []engine.Record { r[lastEdit].Edit.Kind = conversation.EditSummarize; return r },
		"an edit of no kind":         func(r []engine.Record) []engine.Record { r[lastEdit].Edit.Kind = 77; return r },
		"a manifest past the record": func(r []engine.Record) []engine.Record { r[manifest].Manifest.MessageCount = 1 << 20; return r },
		"a window of nowhere":        func(r []engine.Record) []engine.Record { r[manifest].Manifest.Window.Start = -1; return r },
		"manifests out of order":     func(r []engine.Record) []engine.Record { r[manifest+1].Manifest.Seq = 1; return r },
		"an unknown slot": func(r []engine.Record) []engine.Record {
			r[1].State.Slots = map[string][]byte{"lease/x": nil}
			return r
		},
		"other tokens":              head(func(h *store.Head) { h.Tokens++ }),
		"more messages":             head(func(h *store.Head) { h.Messages++ }),
		"no version":                head(func(h *store.Head) { h.Version = 0 }),
		"a negative turn":           head(func(h *store.Head) { h.Turn = -1 }),
		"the last of all turns":     head(func(h *store.Head) { h.Turn = math.MaxInt32 }),
		"the last of all versions":  head(func(h *store.Head) { h.Version = math.MaxUint64 }),
		"a negative manifest":       head(func(h *store.Head) { h.ManifestSeq = -5 }),
		"the last of all manifests": head(func(h *store.Head) { h.ManifestSeq = math.MaxInt64 }),
		"a negative revision":       head(func(h *store.Head) { h.Revision = -5 }),
		"the last of all revisions": head(func(h *store.Head) { h.Revision = math.MaxInt64 }),
		"seen more than there is":   head(func(h *store.Head) { h.Seen = h.Messages + 1 }),
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
		})
	}
}

// TestEngine_Import_HostileState: the values in a state may be wrong: builds work, or report that the record is damaged.
func TestEngine_Import_HostileState(t *testing.T) {
	source := newBench(0)
	lived(t, source, "c")
	good := source.export(t, "c")
	for _, tt := range []struct {
		slot, value string
		refused     conversation.Kind
	}{
		{"build/fit", `[{"budget":1000,"start":-5,"anchor":-7}]`, ""},
		{"build/fit", `[{"budget":1000,"start":2000000000,"anchor":1999999999}]`, ""},
		{"build/fit", `[{"budget":1000,"start":4,"anchor":100000}]`, ""},
		{"build/fit", `{`, conversation.CorruptRecord},
		{"build/usage/m", `[]`, conversation.CorruptRecord},
		{"build/usage/m", `{"CountedSum":-500,"ReportedSum":1e300}`, ""},
	} {
		b := newBench(1 << 20)
		records := append([]engine.Record(nil), good...)
		records[1] = engine.Record{State: &engine.State{Slots: map[string][]byte{tt.slot: []byte(tt.value)}}}
		if _, err := b.imports("copy", records); err != nil {
			continue // refusing is as good
		}
		for range 2 {
			r, err := b.ask("copy", 1000, func(r *engine.BuildRequest) { r.Model = "m" })
			if tt.refused == "" && (err != nil || r.Tokens.Total > 1000) || tt.refused != "" && conversation.KindOf(err) != tt.refused {
				t.Errorf("%s %s: %v, want %q", tt.slot, tt.value, err, tt.refused)
			}
		}
	}
}

func TestEngine_Transfer_BrokenOff(t *testing.T) {
	b := newBench(0)
	lived(t, b, "c")
	gone := errors.New("the caller is gone")
	for _, after := range []int{0, 1, 5, 300} {
		n := 0
		err := b.Export(ctx, keyOf("c"), func(engine.Record) error {
			if n++; n > after {
				return gone
			}
			return nil
		})
		if !errors.Is(err, gone) {
			t.Errorf("export broken off after %d records: %v", after, err)
		}
		records := b.export(t, "c")
		_, err = b.Import(ctx, keyOf(fmt.Sprint("copy", after)), func() (*engine.Record, error) {
			if after == 0 {
				return nil, gone
			}
			after--
			r := records[0]
			records = records[1:]
			return &r, nil
		})
		if !errors.Is(err, gone) {
			t.Errorf("import broken off: %v", err)
		}
	}
	if list, err := b.List(ctx, engine.ListRequest{Namespace: "default", Limit: 10}); err != nil || len(list.Conversations) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	b.now = b.now.Add(store.UploadGrace + time.Minute)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if due, err := b.store.Due(ctx, b.now, 10); err != nil || len(due) != 0 {
		t.Errorf("left behind: %+v, %v", due, err)
	}
}

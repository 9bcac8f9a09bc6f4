package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// noise returns an incompressible text of the given length in bytes.
func noise(seed uint64, bytes int) string {
	random, b := rand.New(rand.NewPCG(seed, 1)), make([]byte, bytes)
	for i := range b {
		b[i] = byte('a' + random.IntN(26))
	}
	return string(b)
}

// wantNothingStaged fails if something staged waits for a commit that will not come.
func (b *bench) wantNothingStaged(t testing.TB, why string) {
	t.Helper()
	tasks, err := b.store.Due(ctx, b.now.Add(2*store.UploadGrace), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if task.Staged || !task.Upload.IsZero() {
			t.Fatalf("%s leaves %+v", why, task)
		}
	}
}

// pinsFull begins a conversation that takes no more pins: appending another pinned message is refused after its texts are staged.
func (b *bench) pinsFull(t testing.TB, id string) (more func(text string) error) {
	t.Helper()
	pinned := func(text string) conversation.Message {
		m := user(text)
		m.Pinned = true
		return m
	}
	var messages []conversation.Message
	for range 128 {
		messages = append(messages, pinned("x"))
	}
	b.append(t, id, messages...)
	return func(text string) error { return b.appends(id, pinned(text)) }
}

func (b *bench) appends(id string, messages ...conversation.Message) error {
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf(id), Messages: messages})
	return err
}

// TestEngine_Refused_LeavesNothingStaged: a call that is refused after it staged texts discards them, even if its caller gives up.
func TestEngine_Refused_LeavesNothingStaged(t *testing.T) {
	t.Parallel()
	large, small := noise(1, 100_000), noise(2, 31_000) // the one is staged, the other is not
	from := newEager()
	from.append(t, "c", user(large), user("tail"))
	records := from.export(t, "c")
	onEachStore(t, func(t *testing.T, s store.Store) {
		staged := 0
		f := &faulty{Store: s, stage: func(*store.Upload) error { staged++; return nil }}
		l := newLimited(f, engine.Quota{Bytes: 150_000}, nil)
		l.append(t, "c", user("x"))
		pin := l.pinsFull(t, "pins")
		for name, refused := range map[string]func() error{
			"an append past the pins":     func() error { return pin(large) },
			"an append over the quota":    func() error { return l.appends("c", user(large), user(small), user(small)) },
			"a new conversation's":        func() error { return l.appends("new", user(large), user(small), user(small)) },
			"a correction over the quota": func() error { _, err := l.Correct(ctx, correction("c", 0, 0, large+small+small)); return err },
			"an import without its end":   func() error { _, err := l.imports("copy", records[:len(records)-1]); return err },
			"an import that breaks off":   func() error { return l.breaksOff(records) },
			"a store that fails": func() error {
				f.commit = func(store.Key, *store.Change) error { return store.ErrUnavailable }
				defer func() { f.commit = nil }()
				_, kept := l.keep("c", "", large, nil)
				_, imported := l.imports("copy", records)
				return errors.Join(kept, imported, l.appends("c", user(large)))
			},
		} {
			before := staged
			if err := refused(); err == nil || staged == before {
				t.Fatalf("%s stages %d pieces and fails with %v", name, staged-before, err)
			}
			l.wantNothingStaged(t, name)
		}
		before := staged
		if err := l.appends("c", user(large), result("none", "x")); conversation.KindOf(err) != conversation.ResultWithoutCall || staged > before {
			t.Errorf("a result without its call stages %d pieces (%v)", staged-before, err)
		}
	})
}

// breaksOff imports records until its caller gives up, before the last.
func (b *bench) breaksOff(records []engine.Record) error {
	gone, leave := context.WithCancel(ctx)
	defer leave()
	_, err := b.Import(gone, keyOf("copy"), func() (*engine.Record, error) {
		if len(records) == 1 {
			leave()
			return nil, gone.Err()
		}
		r := clone(records[0])
		records = records[1:]
		return &r, nil
	})
	return err
}

// TestEngine_Refused_KeepsWhatMayStand: if it is not known whether the commit stands, what it refers to is kept. A commit that stands loses
// nothing, even if earlier tries staged elsewhere.
func TestEngine_Refused_KeepsWhatMayStand(t *testing.T) {
	t.Parallel()
	large := noise(1, 100_000)
	f := newFaulty()
	l := newLimited(f, engine.Quota{}, nil)
	f.commit = func(key store.Key, c *store.Change) error {
		return errors.Join(f.Store.Commit(ctx, key, c), store.ErrOutcomeUnknown)
	}
	expect(t, l.appends("unknown", user(large)), conversation.OutcomeUnknown)
	f.commit = func(store.Key, *store.Change) error { return store.ErrOutcomeUnknown }
	expect(t, l.appends("lost", user(large)), conversation.OutcomeUnknown)
	_, err := l.keep("unknown", "", large+"x", nil)
	expect(t, err, conversation.OutcomeUnknown)
	other := lifeBench(f, nil)
	other.ids.Store(1 << 32)
	f.commit = func(key store.Key, _ *store.Change) error {
		f.commit = nil
		_, err := other.Create(ctx, engine.CreateRequest{Key: key})
		return errors.Join(err, store.ErrConflict)
	}
	l.must(t, l.appends("moved", user(large)))
	again := engine.AppendRequest{Key: keyOf("again"), Messages: []conversation.Message{user(large)}, Request: request("AppendMessage", "r", large)}
	f.commit = func(store.Key, *store.Change) error {
		f.commit = nil
		_, err := other.Append(ctx, again)
		return errors.Join(err, store.ErrConflict)
	}
	if r, err := l.Append(ctx, again); err != nil || !r.Duplicate {
		t.Errorf("a retry that came second answers %+v (%v)", r, err)
	}
	for _, id := range []string{"unknown", "moved", "again"} {
		if m := l.export(t, id)[2].Message; m == nil || m.Parts[0].Text.Inline != large {
			t.Errorf("%s: the text is not what was appended", id)
		}
	}
	tasks := slices.DeleteFunc(l.due(t, 2*store.UploadGrace), func(task store.Task) bool { return !task.Staged && task.Upload.IsZero() })
	if len(tasks) != 2 || tasks[0].Key == tasks[1].Key {
		t.Errorf("what waits is %+v, want the new conversation and the content that may stand", tasks)
	}
}

// TestEngine_Refused_DoesNotGrowTheFile: later calls use the space of what refused calls had staged.
func TestEngine_Refused_DoesNotGrowTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	s, err := bolt.Open(path, bolt.Options{MapBytes: 1 << 26})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l, from, large := newLimited(s, engine.Quota{Bytes: 2 << 20}, nil), newEager(), noise(1, 1<<20)
	pin := l.pinsFull(t, "pins")
	from.append(t, "c", user(large), user("tail"))
	records := from.export(t, "c")
	before, err := os.Stat(path)
	l.must(t, err)
	for range 20 {
		expect(t, pin(large), conversation.LimitExceeded)
		_, err := l.imports("copy", records[:len(records)-1])
		expect(t, err, conversation.InvalidField)
	}
	l.wantNothingStaged(t, "40 refused calls")
	after, err := os.Stat(path)
	l.must(t, err)
	if grown := after.Size() - before.Size(); grown > 16<<20 { // bbolt's step
		t.Errorf("40 refused calls of 1 MiB make the file %d bytes larger", grown)
	}
}

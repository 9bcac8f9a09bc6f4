package engine_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// stores are the back ends that these tests run on.
func stores(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("memory", func(t *testing.T) {
		s := memory.New(memory.Options{})
		defer func() { _ = s.Close() }()
		test(t, s)
	})
	t.Run("bolt", func(t *testing.T) {
		s, err := bolt.Open(filepath.Join(t.TempDir(), "db"), bolt.Options{MapBytes: 1 << 26})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		test(t, s)
	})
}

// second is another process on the same store, whose ids differ from the first's.
func second(b *bench) *bench {
	other := newBenchOn(b.store, 1<<20)
	other.ids.Store(1 << 32)
	return other
}

// TestEngine_Append_AfterConflict: after a conflict, an append decides everything again: index, id, ordinals, turn.
func TestEngine_Append_AfterConflict(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	other := newBenchOn(f.Store, 0)
	b.append(t, "c", user("zero"))
	f.commit = func(store.Key, *store.Change) error {
		f.commit = nil
		other.append(t, "c", call("k"), result("k", "between"))
		other.build(t, "c", conversation.FormatOpenAIChat, 1000)
		return nil
	}
	named := user("named")
	named.ID = "mine"
	r := b.append(t, "c", user("three"), call("k"), result("k", "mine"), named)
	for i, id := range []string{"m3", "m4", "m5", "mine"} {
		if m := r.Messages[i]; m.Index != int32(3+i) || m.ID != id || m.TurnAdded != 1 {
			t.Errorf("message %d: index %d, id %s, turn %d; want %d, %s, 1", i, m.Index, m.ID, m.TurnAdded, 3+i, id)
		}
	}
	if got := fmt.Sprint(ordinals(b.records(t, "c"))); got != "[[] [1] [1] [] [2] [2] []]" {
		t.Errorf("ordinals %s", got)
	}
}

// TestEngine_Append_ReplacedMeanwhile: large contents are staged again for the incarnation in which the append ends up.
func TestEngine_Append_ReplacedMeanwhile(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 0)
	other := second(b)
	other.Engine = second(newBenchOn(f.Store, 0)).Engine
	b.append(t, "c", user("old"))
	f.commit = func(store.Key, *store.Change) error {
		f.commit = nil
		if _, err := other.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
			t.Fatal(err)
		}
		_, err := other.Create(ctx, engine.CreateRequest{Key: keyOf("c")})
		return err
	}
	large := words(20_000)
	b.append(t, "c", user(large))
	if got := b.records(t, "c"); len(got) != 1 || got[0].Parts[0].Text.Inline != large {
		t.Errorf("%d messages", len(got))
	}
}

// TestEngine_Commit_EightConflicts: the engine decides again, and after 8 conflicts gives up (behaviour §3.4).
func TestEngine_Commit_EightConflicts(t *testing.T) {
	f := newFaulty()
	b := newBenchOn(f, 1<<20)
	b.append(t, "c", user("u"))
	for _, tt := range []struct {
		conflicts int
		ok        bool
	}{{7, true}, {8, false}} {
		calls := map[string]func() error{
			"append": func() error {
				_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("u")}})
				return err
			},
			"build": func() error { _, err := b.ask("c", 100_000, nil); return err },
			"update": func() error {
				_, err := b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) { return i, nil }})
				return err
			},
		}
		for name, run := range calls {
			left := tt.conflicts
			f.commits = 0
			f.commit = func(store.Key, *store.Change) error {
				if left--; left >= 0 {
					return store.ErrConflict
				}
				return nil
			}
			err := run()
			if tt.ok && (err != nil || f.commits != 8) {
				t.Errorf("%s after %d conflicts: %v, %d commits", name, tt.conflicts, err, f.commits)
			}
			if !tt.ok {
				expect(t, err, conversation.Contention)
			}
		}
	}
}

// TestEngine_TwoProcesses_NothingLostOrTwice: the calls of several processes have a serial order (behaviour §3.4).
func TestEngine_TwoProcesses_NothingLostOrTwice(t *testing.T) {
	const writers, each = 3, 30
	stores(t, func(t *testing.T, s store.Store) {
		one := newBenchOn(s, 1<<20)
		engines := []*bench{one, second(one)}
		one.append(t, "c", user("start"))
		var wait sync.WaitGroup
		var mu sync.Mutex
		given := map[int32]string{}
		turns := map[int32]bool{}
		for w := range writers {
			b := engines[w%2]
			wait.Go(func() {
				for i := range each {
					content := fmt.Sprintf("w%d-%d", w, i)
					r := retry(t, func() (*engine.AppendResult, error) {
						return b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user(content)}})
					})
					mu.Lock()
					given[r.Messages[0].Index] = content
					mu.Unlock()
				}
			})
		}
		for _, b := range engines {
			wait.Go(func() {
				for range 10 {
					r := retry(t, func() (*engine.BuildResult, error) { return b.ask("c", 300, nil) })
					mu.Lock()
					if turns[r.Turn] {
						t.Errorf("turn %d was begun twice", r.Turn)
					}
					turns[r.Turn] = true
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		got := one.records(t, "c")
		if len(got) != 1+writers*each || len(given) != writers*each || len(turns) != 20 {
			t.Fatalf("%d messages on record, %d acknowledged, %d turns", len(got), len(given), len(turns))
		}
		for i := range got {
			if m := got[i]; m.Index != int32(i) || m.ID != fmt.Sprint("m", i) || i > 0 && m.Parts[0].Text.Inline != given[m.Index] {
				t.Errorf("message %d: %+v, acknowledged %s", i, m, given[int32(i)])
			}
		}
		one.rebuildsAll(t, "c", 20)
		cold := newBenchOn(s, 0).asked(t, "c", 300, func(r *engine.BuildRequest) { r.DryRun = true })
		for _, b := range engines {
			if warm := b.asked(t, "c", 300, func(r *engine.BuildRequest) { r.DryRun = true }); !bytes.Equal(warm.MessagesJSON, cold.MessagesJSON) {
				t.Errorf("a warm window shows\n%s\na cold one\n%s", warm.MessagesJSON, cold.MessagesJSON)
			}
		}
	})
}

// retry repeats a call that lost to others, as CONTENTION asks for.
func retry[T any](t *testing.T, call func() (T, error)) T {
	for {
		r, err := call()
		if conversation.KindOf(err) == conversation.Contention {
			continue
		}
		if err != nil {
			t.Error(err)
		}
		return r
	}
}

// rebuildsAll rebuilds every manifest and compares the bytes' hash.
func (b *bench) rebuildsAll(t *testing.T, id string, want int) {
	t.Helper()
	list, more, err := b.Manifests(ctx, keyOf(id), 0, want+1)
	if err != nil || more || len(list) != want {
		t.Fatalf("%d manifests, more %v, %v; want %d", len(list), more, err, want)
	}
	for _, m := range list {
		r, err := b.Manifest(ctx, keyOf(id), m.Seq, conversation.FormatUnspecified)
		if err != nil || r.SHA256 != m.SHA256 {
			t.Errorf("manifest %d: %v", m.Seq, err)
		}
	}
}

package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestStore_Processes_OneOfManyCommitsWins: the database compares the version, not a process.
func TestStore_Processes_OneOfManyCommitsWins(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 8}
	stores := []*Store{opened(t, o), opened(t, o), opened(t, o)}
	for round := range 20 {
		k := newTalk(round)
		for _, next := range []func() *store.Change{k.appending, k.appending, k.change} { // to begin, to follow, and without a record that gives it away
			var won, lost atomic.Int32
			var wg sync.WaitGroup
			for i := range 12 {
				c := next()
				c.Slots = map[string][]byte{"winner": {byte(i)}}
				wg.Go(func() {
					switch err := stores[i%3].Commit(t.Context(), k.key, c); {
					case err == nil:
						won.Add(1)
					case errors.Is(err, store.ErrConflict):
						lost.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || lost.Load() != 11 {
				t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
			}
			k.head = next().Head
		}
	}
}

// TestStore_Processes_OneTakesTheLease: a slot that must not be there is taken by one.
func TestStore_Processes_OneTakesTheLease(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 8}
	stores := []*Store{opened(t, o), opened(t, o)}
	for round := range 20 {
		k := newTalk(round)
		must(t, k.append(t.Context(), stores[0]))
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			lease := &store.Change{
				Aside: true, Head: store.Head{Incarnation: k.head.Incarnation}, Slots: map[string][]byte{"lease": {byte(i)}},
				ExpectSlots: map[string][]byte{"lease": nil},
			}
			wg.Go(func() {
				switch err := stores[i%2].Commit(t.Context(), k.key, lease); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, store.ErrConflict):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d have the lease", won.Load())
		}
	}
}

func TestStore_Processes_WaitEndsWithAnothersCommit(t *testing.T) {
	t.Parallel()
	for name, notify := range map[string]bool{"polled": false, "told": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{DSN: dbtest.SharedPostgres(t).DSN, Notify: notify, Schema: schemaOf(t.Name())}
			if notify {
				o.PollInterval = time.Hour
			}
			one, other := opened(t, o), opened(t, o)
			if notify {
				await(t, func() bool { return one.poller.every() > 2*time.Hour })
			}
			k := newTalk(0)
			must(t, k.append(t.Context(), other))
			done := make(chan error)
			go func() { done <- one.Wait(t.Context(), k.key, k.head.Version) }()
			time.Sleep(20 * time.Millisecond)
			must(t, k.append(t.Context(), other))
			select {
			case err := <-done:
				must(t, err)
			case <-time.After(20 * time.Second):
				t.Fatal("it waits for ever")
			}
		})
	}
}

func await(t *testing.T, yes func() bool) {
	t.Helper()
	for range 2000 {
		if yes() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it never comes")
}

// TestStore_Processes_SealHoldsForAll: the seal of one process ends the writing of another.
func TestStore_Processes_SealHoldsForAll(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 8}
	one, other := opened(t, o), opened(t, o)
	talks := make([]*talk, 8)
	var wg sync.WaitGroup
	for i := range talks {
		talks[i] = newTalk(i)
		must(t, talks[i].append(t.Context(), other))
		wg.Go(func() {
			err := error(nil)
			for err == nil {
				err = talks[i].append(context.Background(), other)
			}
			if !errors.Is(err, store.ErrSealed) {
				t.Error(err)
			}
		})
	}
	time.Sleep(30 * time.Millisecond)
	must(t, one.Seal(t.Context(), true))
	seen := make([]uint64, len(talks))
	for i, k := range talks {
		snap, err := one.Read(t.Context(), k.key, store.Query{})
		must(t, err)
		seen[i] = snap.Head.Version
	}
	wg.Wait()
	for i, k := range talks {
		if k.head.Version != seen[i] {
			t.Errorf("version %d was acknowledged, and %d seen behind the seal", k.head.Version, seen[i])
		}
	}
}

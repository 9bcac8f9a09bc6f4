package summaries

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// alone is a model that notes whether it is asked for two things at a time.
type alone struct {
	wait            time.Duration
	calls           atomic.Int64
	busy, atOnce    atomic.Int64
	ignoresContexts bool
}

// Complete implements summarize.Model.
func (a *alone) Complete(ctx context.Context, _ summarize.Call) (summarize.Answer, error) {
	a.calls.Add(1)
	if a.busy.Add(1) > 1 {
		a.atOnce.Add(1)
	}
	defer a.busy.Add(-1)
	if a.ignoresContexts {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(a.wait):
		return summarize.Answer{Text: summed(drafted), InputTokens: 1, OutputTokens: 1}, nil
	case <-ctx.Done():
		return summarize.Answer{}, ctx.Err()
	}
}

// mortalStore is a store as one process sees it, until that dies: nothing that it does comes through from then on.
type mortalStore struct {
	store.Store
	dead atomic.Bool
}

func (m *mortalStore) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if m.dead.Load() {
		return errors.New("dead")
	}
	return m.Store.Commit(ctx, key, c)
}

// crew are processes over one store that share nothing else.
type crew struct {
	s         store.Store
	model     *alone
	processes []*world
	stores    []*mortalStore
	key       engine.Key
	steps     int
	together  bool // all processes build at each step, at the same time
}

func newCrew(t *testing.T, s store.Store, n int, m *alone) *crew {
	t.Helper()
	return newCrewOver(t, slices.Repeat([]store.Store{s}, n), m)
}

// newCrewOver makes processes that each have a store of their own over what they share.
func newCrewOver(t *testing.T, stores []store.Store, m *alone) *crew {
	t.Helper()
	c := &crew{s: stores[0], model: m, key: engine.Key{Namespace: "default", Conversation: "c"}}
	for _, s := range stores {
		mortal := &mortalStore{Store: s}
		c.stores = append(c.stores, mortal)
		c.processes = append(c.processes, worldOf(mortal, m, nil))
	}
	t.Cleanup(func() {
		for _, w := range c.processes {
			w.close()
		}
		for _, s := range stores {
			_ = s.Close()
		}
	})
	c.processes[0].summarizing(t, c.key, maxWait)
	return c
}

// step appends and builds in one of the processes.
func (c *crew) step(t *testing.T, process int) *engine.BuildResult {
	t.Helper()
	c.steps++
	w := c.processes[process]
	w.say(t, c.key, grows(c.steps)...)
	if c.together {
		var building sync.WaitGroup
		defer building.Wait()
		for _, other := range slices.Delete(slices.Clone(c.processes), process, process+1) {
			building.Go(func() {
				if _, err := other.Build(t.Context(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	got, err := w.Build(t.Context(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic})
	if err != nil {
		t.Fatal(err)
	}
	withinBounds(t, c.steps, got)
	return got
}

// prepared lets a process build until it prepares a summary.
func (c *crew) prepared(t *testing.T, process int) {
	t.Helper()
	for range 60 {
		if c.step(t, process).Compaction.State == engine.CompactionPreparing {
			return
		}
	}
	t.Fatal("nothing is prepared")
}

// lease is what the draft's slot says.
func (c *crew) lease(t *testing.T) record.Draft {
	t.Helper()
	snap, err := c.s.Read(t.Context(), c.key, store.Query{SlotsOf: "build/draft"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.DecodeDraft(snap.Slots["build/draft"])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEngines_OneStore_PrepareOnceAndPublishOnce: two and three processes take turns on a conversation; each summary is written by
// one call, and is on record once.
func TestEngines_OneStore_PrepareOnceAndPublishOnce(t *testing.T) {
	for name, n := range map[string]int{"two": 2, "three": 3} {
		t.Run(name+" on memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				takeTurns(t, newCrew(t, memory.New(memory.Options{}), n, &alone{wait: 10 * time.Second}), 120, 4*time.Second)
			})
		})
		t.Run(name+" on bolt", func(t *testing.T) {
			t.Parallel()
			s, err := bolt.Open(filepath.Join(t.TempDir(), "c.db"), bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			takeTurns(t, newCrew(t, s, n, &alone{wait: 50 * time.Millisecond}), 120, 20*time.Millisecond)
		})
	}
}

// TestEngines_OneServer_PrepareOnceAndPublishOnce: the same, over servers, which each process reaches by connections
// of its own, and all build at the same time.
func TestEngines_OneServer_PrepareOnceAndPublishOnce(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) func() (store.Store, error){
		"postgres": func(t *testing.T) func() (store.Store, error) {
			server := dbtest.StartPostgres(t)
			return func() (store.Store, error) {
				return postgres.Open(t.Context(), postgres.Options{DSN: server.DSN, PoolSize: 4})
			}
		},
		"redis": func(t *testing.T) func() (store.Store, error) {
			server := dbtest.StartRedis(t)
			return func() (store.Store, error) {
				return redis.Open(t.Context(), redis.Options{URL: "redis://" + server.Address})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := open(t)
			var stores []store.Store
			for range 3 {
				s, err := open()
				if err != nil {
					t.Fatal(err)
				}
				stores = append(stores, s)
			}
			c := newCrewOver(t, stores, &alone{wait: 50 * time.Millisecond})
			c.together = true
			takeTurns(t, c, 80, 20*time.Millisecond)
		})
	}
}

func takeTurns(t *testing.T, c *crew, steps int, pause time.Duration) {
	t.Helper()
	for i := range steps {
		c.step(t, i%len(c.processes))
		time.Sleep(pause)
	}
	ranges, models := map[conversation.Range]int{}, 0
	err := c.processes[0].Export(t.Context(), c.key, func(r engine.Record) error {
		if r.Edit != nil && r.Edit.Summary != nil {
			ranges[r.Edit.Range]++
			if r.Edit.Summary.Model != "" {
				models++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for r, n := range ranges {
		if n > 1 {
			t.Errorf("%d summaries of %v", n, r)
		}
	}
	if c.model.atOnce.Load() > 0 {
		t.Errorf("%d calls at a time with others", c.model.atOnce.Load())
	}
	calls := int(c.model.calls.Load())
	if models < 3 || calls < models || calls > models+1 { // the last may wait to be published
		t.Errorf("%d calls, %d summaries by a model of %d", calls, models, len(ranges))
	}
}

// TestEngine_LeaseOfADeadProcess_IsSucceeded: who dies with the lease keeps the others waiting until its end, and no longer; meanwhile
// an overflow takes the extract.
func TestEngine_LeaseOfADeadProcess_IsSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(memory.Options{}), 2, &alone{wait: 10 * time.Second})
		c.prepared(t, 0)
		synctest.Wait()
		c.stores[0].dead.Store(true)
		time.Sleep(20 * time.Second) // its model has answered by now, to nobody
		lease := c.lease(t)
		if lease.State != "preparing" || !time.Now().Before(lease.Until) {
			t.Fatalf("the lease is %+v", lease)
		}
		if got := c.step(t, 1); got.Compaction.State != engine.CompactionPreparing || c.model.calls.Load() != 1 {
			t.Errorf("%+v, %d calls", got.Compaction, c.model.calls.Load())
		}
		time.Sleep(time.Until(lease.Until) + time.Second)
		c.step(t, 1)
		time.Sleep(11 * time.Second)
		if n, state := c.model.calls.Load(), c.lease(t).State; n != 2 || state != "ready" {
			t.Errorf("%d calls, the draft is %s", n, state)
		}
		for range 20 {
			if got := c.step(t, 1); events(got, conversation.EventSummarized) > 0 {
				if !bytes.Contains(got.MessagesJSON, []byte(drafted)) {
					t.Error("the draft was not published")
				}
				return
			}
		}
		t.Error("nothing was published")
	})
}

// TestEngine_OverflowUnderADeadLease_WaitsOnceAndGoesOn.
func TestEngine_OverflowUnderADeadLease_WaitsOnceAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(memory.Options{}), 2, &alone{wait: 10 * time.Second})
		c.prepared(t, 0)
		synctest.Wait()
		c.stores[0].dead.Store(true)
		waited := time.Duration(0)
		for range 40 {
			began := time.Now()
			c.step(t, 1)
			waited += time.Since(began)
		}
		if waited != maxWait {
			t.Errorf("the builds waited for %s in all", waited)
		}
	})
}

// TestEngine_Close_DoesNotWaitForTheModel, even for one that never listens, and gives the lease back: the next process begins at once.
func TestEngine_Close_DoesNotWaitForTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(memory.Options{}), 2, &alone{wait: 20 * time.Second, ignoresContexts: true})
		c.prepared(t, 0)
		synctest.Wait()
		began := time.Now()
		c.processes[0].Engine.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("closing took %s", took)
		}
		if lease := c.lease(t); lease.State != "" {
			t.Errorf("the lease is %+v", lease)
		}
		c.step(t, 1)
		synctest.Wait()
		if n := c.model.calls.Load(); n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestCompact_HangingModel_WaitsForTheDeadlineAndHoldsNobody.
func TestCompact_HangingModel_WaitsForTheDeadlineAndHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(memory.Options{}), 1, &alone{wait: time.Hour})
		w := c.processes[0]
		for range 12 {
			c.step(t, 0)
		}
		done := make(chan error, 1)
		began := time.Now()
		var got *engine.CompactResult
		go func() {
			var err error
			got, err = w.Compact(context.Background(), engine.CompactRequest{Key: c.key, KeepRecent: new(int32(4))})
			done <- err
		}()
		synctest.Wait()
		for range 5 {
			before := time.Now()
			c.step(t, 0)
			if took := time.Since(before); took > 0 {
				t.Errorf("a call beside it took %s", took)
			}
			time.Sleep(time.Second)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > summarize.DefaultDeadline || took < summarize.DefaultDeadline-time.Second {
			t.Errorf("it took %s", took)
		}
		if len(got.Summaries) != 1 || got.Summaries[0].Model != "" || len(got.Degradations) == 0 {
			t.Errorf("%+v", got)
		}
	})
}

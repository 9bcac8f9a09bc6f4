package redis_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// crash is a crash of the server's machine under load: what was acknowledged and is gone, and how old the oldest of that was.
func crash(t *testing.T, fsync string, busy time.Duration) (acknowledged, lost int, window time.Duration) {
	t.Helper()
	f, folder := startForgetful(t)
	r := dbtest.StartRedis(t, "--appendfsync", fsync, "--dir", folder)
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
	const writers = 4
	times, talks := make([][]time.Time, writers), make([]*talk, writers)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range writers {
		talks[i] = newTalk(i)
		running.Go(func() {
			for ctx.Err() == nil && talks[i].append(ctx, s) == nil {
				times[i] = append(times[i], time.Now())
			}
		})
	}
	time.Sleep(busy)
	before, err := s.Read(t.Context(), talks[0].key, store.Query{})
	must(t, err)
	killed := time.Now()
	r.Kill()
	cancel()
	running.Wait()
	f.forget(t)
	must(t, r.Start())
	for i, k := range talks {
		snap := &store.Snapshot{}
		eventually(t, func() (err error) {
			if snap, err = s.Read(t.Context(), k.key, store.Query{}); err != nil {
				snap = &store.Snapshot{}
			}
			return ignoring(err, store.ErrNotFound)
		})
		acknowledged += len(times[i])
		if snap.Head.Epoch == before.Head.Epoch {
			t.Error("nobody can see that something may be gone")
		}
		if n := int(snap.Head.Messages); n < len(times[i]) {
			lost += len(times[i]) - n
			window = max(window, killed.Sub(times[i][n]))
		}
	}
	return acknowledged, lost, window
}

func TestStore_Fault_MachineCrash_LosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(proptest.Seed(t), 0))
	for range rounds(t, 1, 10) {
		acknowledged, lost, window := crash(t, "everysec", 1500*time.Millisecond+time.Duration(random.Int64N(int64(time.Second))))
		t.Logf("everysec: %d of %d acknowledged appends are gone, the oldest of them %v before the crash", lost, acknowledged, window.Round(time.Millisecond))
		// The server puts a sync off for up to two seconds while another runs.
		if lost == 0 || window > 3*time.Second {
			t.Error("the window is not what the documents say")
		}
		acknowledged, lost, _ = crash(t, "always", 500*time.Millisecond)
		t.Logf("always: %d of %d acknowledged appends are gone", lost, acknowledged)
		if lost > 0 || acknowledged == 0 {
			t.Error("always has a window")
		}
	}
}

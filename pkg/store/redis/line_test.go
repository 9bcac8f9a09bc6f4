package redis_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// TestStore_Commit_ManyCallers_GoTogether: fewer trips than commits, and each has its own answer.
func TestStore_Commit_ManyCallers_GoTogether(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	s := closing(t, open(t, redis.Options{
		URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: prefixOf(t.Name()), OnTrip: func() { trips.Add(1) },
	}))
	const callers, each = 128, 10
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			k := newTalk(i)
			for range each {
				if err := k.append(context.Background(), s); err != nil {
					t.Error(err)
					return
				}
				stale := *k
				stale.head.Version--
				if err := stale.append(context.Background(), s); !errors.Is(err, store.ErrConflict) && k.head.Version > 1 {
					t.Errorf("a second commit of version %d: %v", k.head.Version, err)
				}
			}
			if snap, err := s.Read(context.Background(), k.key, store.Query{}); err != nil || snap.Head.Version != each {
				t.Errorf("%v: %v", snap, err)
			}
		})
	}
	running.Wait()
	if n := trips.Load(); n >= callers*each*2 {
		t.Errorf("%d trips", n)
	}
}

// TestStore_Commit_CallersGo_WhatTheyAreToldIsSo: some callers give up while commits wait for a server that stops again and
// again.
func TestStore_Commit_CallersGo_WhatTheyAreToldIsSo(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address, PoolSize: 20, PoolTimeout: 5 * time.Second}))
	const callers, each = 100, 10
	c := operator(t, r.Address)
	pause := func() { must(t, c.Do(t.Context(), "client", "pause", 40, "all").Err()) }
	var talks [callers]*talk
	for i := range talks {
		talks[i] = newTalk(i)
		must(t, talks[i].append(t.Context(), s))
	}
	pause()
	var running sync.WaitGroup
	var stood, left atomic.Int64
	for i, k := range talks {
		running.Go(func() {
			for n := range each {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(2+(13*i+7*n)%40)*time.Millisecond)
				switch err := k.append(ctx, s); { // one that was told wrongly leaves the next at a version that has gone
				case err == nil:
					stood.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					left.Add(1)
				default:
					t.Errorf("version %d: %v", k.head.Version, err)
				}
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	for {
		select {
		case <-done:
			if stood.Load() == 0 || left.Load() == 0 {
				t.Errorf("%d stood, %d left", stood.Load(), left.Load())
			}
			return
		case <-time.After(42 * time.Millisecond):
			pause()
		}
	}
}

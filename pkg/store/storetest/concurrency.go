package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func concurrencyCases() []check {
	return []check{
		{"OneOfManyCommitsWins", of(oneOfManyWins)},
		{"NoCommitIsLost", of(noCommitIsLost)},
		{"ConflictsHarmNobodyElse", conflictsHarmNobody},
		{"SnapshotsAreConsistent", of(snapshotsAreConsistent)},
		{"WaitEndsWithACommit", of(waitEnds)},
		{"WaitEndsWithItsContext", of(waitContext)},
		{"CloseEndsWaiting", of(closeEndsWaiting)},
		{"CloseWaitsForCommits", closeWaits},
	}
}

const committers = 32

// together runs n goroutines and waits for them.
func together(n int, run func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { run(i) })
	}
	wg.Wait()
}

// during has some look again and again while something runs.
func during(run func(), lookers int, look func()) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range lookers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					look()
				}
			}
		})
	}
	run()
	close(stop)
	wg.Wait()
}

func oneOfManyWins(k *talk) {
	for range 10 {
		var won, lost atomic.Int32
		var winner atomic.Pointer[store.Change]
		together(committers, func(i int) {
			c := say(k.change(), int32(i)+1)
			switch err := k.s.Commit(k.ctx, k.key, c); {
			case err == nil:
				won.Add(1)
				winner.Store(c)
			case errors.Is(err, store.ErrConflict):
				lost.Add(1)
			default:
				k.Error(err)
			}
		})
		if won.Load() != 1 || lost.Load() != committers-1 {
			k.Fatalf("%d won and %d lost", won.Load(), lost.Load())
		}
		k.head = winner.Load().Head
		snap := k.read(k.key, allMessages())
		k.equal(snap.Head, k.head)
		k.equal(snap.Messages[len(snap.Messages)-1], winner.Load().Messages[0])
	}
}

// noCommitIsLost: everybody appends until it worked, and all that was acknowledged is there once.
func noCommitIsLost(k *talk) {
	const each = 8
	together(committers, func(i int) {
		for n := range each {
			appendOnce(k.box, k.key, fmt.Sprintf("%d/%d", i, n))
		}
	})
	snap := k.read(k.key, allMessages())
	k.equal(len(snap.Messages), committers*each)
	seen := make(map[string]bool)
	for i := range snap.Messages {
		seen[snap.Messages[i].ID] = true
	}
	k.equal(len(seen), committers*each)
	k.equal(snap.Head.Version, uint64(committers*each+1))
}

func appendOnce(b *box, key store.Key, id string) {
	for {
		snap, err := b.s.Read(b.ctx, key, store.Query{})
		if err != nil {
			b.Error(err)
			return
		}
		k := &talk{box: b, key: key, head: snap.Head}
		c := say(k.change(), 1)
		c.Messages[0].ID = id
		if err := b.s.Commit(b.ctx, key, c); !errors.Is(err, store.ErrConflict) {
			if err != nil {
				b.Error(err)
			}
			return
		}
	}
}

// conflictsHarmNobody: commits that fail share a transaction with commits that do not.
func conflictsHarmNobody(b *box) {
	talks := make([]*talk, committers)
	for i := range talks {
		talks[i] = b.begin(name(fmt.Sprint(i)))
	}
	together(committers, func(i int) {
		k := talks[i]
		for range 10 {
			stale := say(k.change(), 1)
			if i%2 == 1 {
				stale.Expect, stale.Head.Version = stale.Expect+5, stale.Head.Version+5
				if err := b.s.Commit(b.ctx, k.key, stale); !errors.Is(err, store.ErrConflict) {
					b.Error("stale commit:", err)
				}
				continue
			}
			if err := b.s.Commit(b.ctx, k.key, stale); err != nil {
				b.Error(err)
			}
			k.head = stale.Head
		}
	})
	for i, k := range talks {
		b.equal(len(b.read(k.key, allMessages()).Messages), 10*((i+1)%2))
	}
}

// snapshotsAreConsistent: head, messages, edits and slot of an answer are of one version.
func snapshotsAreConsistent(k *talk) {
	during(func() {
		for range 100 {
			c := edit(say(k.change(), 1, 1), 2, 0, 1)
			c.Slots = map[string][]byte{"s": fmt.Append(nil, c.Head.Version)}
			k.commit(c)
		}
	}, 4, func() { checkSnapshot(k.box, k.key) })
}

func checkSnapshot(b *box, key store.Key) {
	snap, err := b.s.Read(b.ctx, key, everything())
	if err != nil {
		b.Error(err)
		return
	}
	if len(snap.Messages) != int(snap.Head.Messages) || len(snap.Edits) != int(snap.Head.EditSeq) ||
		snap.Head.Version > 1 && string(snap.Slots["s"]) != fmt.Sprint(snap.Head.Version) {
		b.Errorf("version %d with %d messages of %d, %d edits of %d, slot %s", snap.Head.Version, len(snap.Messages),
			snap.Head.Messages, len(snap.Edits), snap.Head.EditSeq, snap.Slots["s"])
	}
}

func waitEnds(k *talk) {
	k.must(k.s.Wait(k.ctx, k.key, 0)) // it is past that already
	ctx, cancel := context.WithTimeout(k.ctx, 10*time.Second)
	defer cancel()
	done := make(chan error, 2)
	go func() { done <- k.s.Wait(ctx, k.key, k.head.Version) }()
	go func() { done <- k.s.Wait(ctx, name("later"), 0) }()
	time.Sleep(10 * time.Millisecond)
	k.begin(name("other"))
	k.begin(name("later"))
	c := say(k.change(), 1)
	k.must(k.s.Commit(ctx, k.key, c))
	k.must(<-done)
	k.must(<-done)
}

func waitContext(k *talk) {
	ctx, cancel := context.WithTimeout(k.ctx, 20*time.Millisecond)
	defer cancel()
	k.wants(k.s.Wait(ctx, k.key, k.head.Version), context.DeadlineExceeded)
	k.wants(k.s.Wait(ctx, name("nowhere"), 0), context.DeadlineExceeded)
}

func closeEndsWaiting(k *talk) {
	done := make(chan error)
	go func() { done <- k.s.Wait(context.Background(), k.key, k.head.Version) }()
	time.Sleep(10 * time.Millisecond)
	k.must(k.s.Close())
	k.wants(<-done, store.ErrClosed)
}

// closeWaits: a commit that runs while the store closes is made, or refused; nothing between.
func closeWaits(b *box) {
	talks := make([]*talk, committers)
	for i := range talks {
		talks[i] = b.begin(name(fmt.Sprint(i)))
	}
	var made [committers]bool
	var wg sync.WaitGroup
	for i, k := range talks {
		wg.Go(func() {
			err := b.s.Commit(context.Background(), k.key, say(k.change(), 1))
			made[i] = err == nil
			if err != nil && !errors.Is(err, store.ErrClosed) {
				b.Error(err)
			}
		})
	}
	b.must(b.s.Close())
	wg.Wait()
	if b.s.Durability() == store.DurabilityNone {
		return
	}
	b.reopen()
	for i, k := range talks {
		if n := len(b.read(k.key, allMessages()).Messages); (n == 1) != made[i] {
			b.Fatalf("commit %d was made: %v; messages: %d", i, made[i], n)
		}
	}
}

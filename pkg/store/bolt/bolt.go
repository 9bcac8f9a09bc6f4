// Package bolt keeps conversations in one file, with go.etcd.io/bbolt. It serves one process and needs no installation.
//
// Callers encode what they write. One goroutine commits everything that has gathered while the previous commit became durable. Nothing
// calls back while a transaction is open. Keys are laid out so that an append changes one page (keys.go).
//
// # Erasure
//
// What a commit erases (ReplaceMessages, ReplaceEdits, Release), and what Delete removes, does not stay in the file. Once the commit is
// acknowledged, the writer goes through the file and writes zeros over every page that is in no tree (internal/wipe). Nothing waits for
// that, and commits that erase nothing are not affected by it:
//   - It begins at once and takes at most a fifth of the writer's time. A commit that comes meanwhile waits for one piece of it:
//     three syncs and about two milliseconds.
//   - In a file of a few MiB it ends after some milliseconds. In a larger one, each GiB of small records to be looked at takes up
//     to a second, each GiB of contents a tenth of that, and each GiB that was freed about six seconds. If the file is not in
//     memory or the disk is slow, it takes longer: five times as long as the disk needs.
//   - Pages that a read in progress can still see are left until that read ends, and the whole process is put off for it. After a
//     second, the writer waits for such a read.
//   - Close continues it for at most a second. Open begins it again, so a crash only delays it.
//   - If the disk refuses, the store goes on and tries again after a second, then two, four, and up to a minute. If a commit failed
//     (each round makes one or two that change nothing), the file is rewritten, as after any other failed commit (recover.go).
//   - A full store or disk does not prevent it: deletions and erasures have a reserve (reserve.go).
//
// # Damage
//
// bbolt trusts its file. So Open first reads all pages in use without bbolt (internal/pages), and compares the newest meta page with a
// mark in a file next to it (mark.go). Check reports what is damaged in a file, and Salvage copies what can be read of it. If a page
// goes bad later, the call that reads it returns ErrCorrupt (guard.go).
//
// All this does not cover earlier contents of the file that the file system, a disk that moves its sectors, a snapshot or a backup
// keeps, nor the old file after a rewrite. Pages in use may keep names of conversations and request ids that are gone, but no text:
// bbolt keeps keys as separators.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/wipe"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Options are the settings of a store. The zero value is suitable for production.
type Options struct {
	// MaxSize bounds the file, in bytes; 0 means no bound. bbolt grows the file in steps of 16 MiB and stays one step below the bound.
	MaxSize int64
	// LockTimeout is how long Open waits for another process to release the file; 0 means five seconds.
	LockTimeout time.Duration
	// MapBytes is how much address space is mapped at first, so that growing up to that size does not wait for readers. It uses no
	// memory and no disk. 0 means 4 GiB, or 1 GiB with 32-bit pointers.
	MapBytes int64
	// OnState, if set, is called with the reason when the store can no longer write, and with nil when it can again. It must not call
	// the store.
	OnState func(reason error)
	// OnCommit, if set, is called after each group of changes that was committed together, with the number of changes and the time it
	// took. It is called on the writer's goroutine and must not block.
	OnCommit func(changes int, took time.Duration)
	// Statistics makes bbolt count pages, for the free bytes of [Stats]. Each transaction then takes some 100 ns longer.
	Statistics bool
	// Commit, if set, is called with the function that makes a batch durable, and its error is used: tests make a disk fail with it.
	Commit func(commit func() error) error
	// Wipe, if set, is called with each step of writing over erased pages (internal/wipe), and its error is used: also for tests.
	Wipe func(step func() error) error
}

// Store is a store in one file.
type Store struct {
	path    string
	options Options
	codec   *record.Codec
	wakes   store.Wakes

	queue   chan *request
	stopped chan struct{} // closed when the writer has ended
	began   atomic.Int64  // when the writer's current commit began, in Unix nanoseconds; 0 between commits

	// gate is held while sending to the queue, so that Close can close the queue.
	gate   sync.RWMutex
	closed bool

	// open is held while using db. Only the writer replaces db, after a disk failure.
	open sync.RWMutex
	db   *bbolt.DB

	// Used by the writer only.
	file   *os.File // the file of db
	mark   *mark
	wiper  *wipe.Wiper // its Readers are used by all
	outage outage
	sealed bool
	// reserve is the size of the reserve (reserve.go); 0 after it was spent. largest is the size of the largest value known. tight is
	// set if a deletion has no room.
	reserve, largest int
	tight            bool
}

var _ store.Store = (*Store)(nil)

// Open opens the file, or creates it. Only one process at a time can have it open.
func Open(path string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := create(path, o); err != nil {
		return nil, err
	}
	largest, err := checkStructure(path, o)
	if err != nil {
		return nil, err
	}
	db, file, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	reserve, err := reserveOf(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	last, err := openMark(path, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	_ = os.Remove(path + rewriting) // left by a process that crashed: it may hold what has been erased since
	s := &Store{
		path: path, options: o, codec: record.New(), db: db, file: file, mark: last, reserve: reserve, largest: largest,
		queue: make(chan *request, maxBatch), stopped: make(chan struct{}),
	}
	if s.sealed, err = isSealed(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.wiper = wipe.New(db, file, o.Wipe, s.spoiled)
	go s.write()
	return s, nil
}

func (o Options) withDefaults() Options {
	o.LockTimeout = cmp.Or(o.LockTimeout, 5*time.Second)
	o.MapBytes = cmp.Or(o.MapBytes, defaultMap)
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	if o.OnCommit == nil {
		o.OnCommit = func(int, time.Duration) {}
	}
	if o.Commit == nil {
		o.Commit = func(commit func() error) error { return commit() }
	}
	if o.Wipe == nil {
		o.Wipe = func(step func() error) error { return step() }
	}
	return o
}

// Durability implements store.Store: an acknowledged commit is synced.
func (s *Store) Durability() store.Durability { return store.DurabilityFsync }

// Close implements store.Store.
func (s *Store) Close() error {
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.gate.Unlock()
	s.wakes.Close()
	<-s.stopped
	s.open.Lock()
	defer s.open.Unlock()
	s.mark.close()
	return s.db.Close()
}

func (s *Store) isClosed() bool {
	s.gate.RLock()
	defer s.gate.RUnlock()
	return s.closed
}

// view runs a read transaction.
func (s *Store) view(ctx context.Context, run func(*tx) error) error {
	if s.isClosed() {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open.RLock()
	defer s.open.RUnlock()
	turn := s.wiper.Readers.Begin()
	defer s.wiper.Readers.End(turn)
	return guarded(func() error {
		t, err := s.db.Begin(false)
		if err != nil {
			return closedOr(err)
		}
		defer t.Rollback()
		return run(&tx{tx: t, codec: s.codec})
	})
}

// Wait implements store.Store.
func (s *Store) Wait(ctx context.Context, key store.Key, version uint64) error {
	if err := key.Check(); err != nil {
		return err
	}
	return s.wakes.Wait(ctx, key, func() (past bool, err error) {
		err = s.view(ctx, func(t *tx) error {
			head, err := t.current(key)
			past = head != nil && head.Version > version
			return err
		})
		return past, err
	})
}

// Package bolt keeps conversations in one file, with go.etcd.io/bbolt: for one process, without anything to install.
//
// Callers encode what they write; one goroutine commits what has gathered while the last commit was made durable. Nothing
// calls back while a transaction is open. Keys are laid out so that an append changes one page (keys.go).
//
// # Erasure
//
// What a commit erases (ReplaceMessages, ReplaceEdits, Release) or Delete removes does not stay in the file: once the commit is
// acknowledged, the writer goes round the file and writes zeros over every page that is in no tree (internal/wipe). Nothing waits for
// that, and commits that erase nothing have no part in it:
//   - It begins at once and takes at most a fifth of the writer's time. A commit that comes meanwhile waits for one piece of it:
//     three syncs and about two milliseconds.
//   - It is over after some milliseconds in a file of a few MiB. In a larger one, each GiB of small records that has to be looked at
//     takes up to a second, of contents a tenth of that, and each GiB that was freed about six; more, where the file is not in
//     memory or the disk is slow: five times as long as the disk needs.
//   - Pages that a read which has begun can still see are left until it ends, and the whole is put off for it; after a second the
//     writer waits for such a read.
//   - Close goes on with it for at most a second. Open begins again, so that a crash delays it and no more.
//   - If the disk refuses, the store goes on, and it is tried again after a second, two, four, up to a minute. If it was a commit
//     that failed (each round makes one or two that change nothing), the file is rewritten, as after any other (recover.go).
//   - A full store or disk is no reason to keep anything: deletions and erasures have a reserve (reserve.go).
//
// # Damage
//
// bbolt believes its file. Open reads all pages in use without it first (internal/pages), and holds the newest meta page against a mark
// that lies beside the file (mark.go). Check says what is damaged in a file, Salvage copies what can be read of it. A page that goes
// bad later is ErrCorrupt for the call that meets it (guard.go).
//
// What the file system, a disk that moves its sectors, a snapshot, or a backup keeps of earlier contents of the file is beyond
// that; so is the old file after a rewrite. Pages in use may keep names of conversations and request ids that are gone, never
// text: bbolt keeps keys as signposts.
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

// Options are the settings of a store. The zero value is good for production.
type Options struct {
	// MaxSize bounds the file, in bytes; 0 does not. bbolt grows the file in steps of 16 MiB and stays one step below it.
	MaxSize int64
	// LockTimeout is how long Open waits for another process to let go of the file. 0: five seconds.
	LockTimeout time.Duration
	// MapBytes is how much address space is mapped at first, so that growing up to it does not wait for readers. It takes no
	// memory and no disk. 0: 4 GiB, or 1 GiB where pointers have 32 bits.
	MapBytes int64
	// OnState, if set, is called with the reason when the store cannot write any more, and with nil when it can again. It must
	// not call the store.
	OnState func(reason error)
	// OnCommit, if set, is called after each group of changes that was committed together, with how many they were and how long it took,
	// on the writer's goroutine: it must not wait.
	OnCommit func(changes int, took time.Duration)
	// Statistics has bbolt count, for the free bytes of [Stats]. Each transaction costs some 100 ns more.
	Statistics bool
	// Commit, if set, is called with what makes a batch durable, and its error counts: how tests make a disk fail.
	Commit func(commit func() error) error
	// Wipe, if set, is called with each step of writing over what was erased (internal/wipe), and its error counts: for tests, too.
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
	began   atomic.Int64  // when the writer's commit began, in Unix nanoseconds; 0 between commits

	// gate is held to send to the queue, so that Close can close it.
	gate   sync.RWMutex
	closed bool

	// open is held to use db. The writer alone replaces it, after a disk failed.
	open sync.RWMutex
	db   *bbolt.DB

	// The writer's own.
	file   *os.File // of db
	mark   *mark
	wiper  *wipe.Wiper // its Readers are for all
	outage outage
	sealed bool
	// reserve is the size of the reserve (reserve.go), 0 after it was spent; largest that of the largest value, so far as known; tight
	// says that a deletion has no room.
	reserve, largest int
	tight            bool
}

var _ store.Store = (*Store)(nil)

// Open opens the file, or makes it. One process at a time can have it open.
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
	_ = os.Remove(path + rewriting) // of a process that crashed: it holds what may have been erased since
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

// Durability implements store.Store: what is acknowledged has been synced.
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

// view runs one read transaction.
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

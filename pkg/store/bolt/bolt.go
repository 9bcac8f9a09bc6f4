// Package bolt keeps conversations in one file, with go.etcd.io/bbolt: for one process, without anything to install.
//
// Callers encode what they write; one goroutine commits what has gathered while the last commit was made durable. Nothing
// calls back while a transaction is open. Keys are laid out so that an append changes one page (keys.go).
package bolt

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
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
	// Commit, if set, is called with what makes a batch durable, and its error counts: how tests make a disk fail.
	Commit func(commit func() error) error
}

// Store is a store in one file.
type Store struct {
	path    string
	options Options
	codec   *record.Codec
	wakes   store.Wakes

	queue   chan *request
	stopped chan struct{} // closed when the writer has ended

	// gate is held to send to the queue, so that Close can close it.
	gate   sync.RWMutex
	closed bool

	// open is held to use db. The writer alone replaces it, after a disk failed.
	open sync.RWMutex
	db   *bbolt.DB
}

var _ store.Store = (*Store)(nil)

// Open opens the file, or makes it. One process at a time can have it open.
func Open(path string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := create(path, o); err != nil {
		return nil, err
	}
	db, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, options: o, codec: record.New(), db: db,
		queue: make(chan *request, maxBatch), stopped: make(chan struct{}),
	}
	go s.write()
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.LockTimeout == 0 {
		o.LockTimeout = 5 * time.Second
	}
	if o.MapBytes == 0 {
		o.MapBytes = defaultMap
	}
	if o.Commit == nil {
		o.Commit = func(commit func() error) error { return commit() }
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
	t, err := s.db.Begin(false)
	if err != nil {
		return closedOr(err)
	}
	defer t.Rollback()
	return run(&tx{tx: t, codec: s.codec})
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

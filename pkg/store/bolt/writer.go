package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxBatch is how many requests share a transaction at most. It bounds how long the first of them waits, and the memory used.
const maxBatch = 512

// request is a change that waits for the writer.
type request struct {
	ctx   context.Context
	apply func(*tx) error // must refuse (see refusal) before it writes anything
	wake  store.Key
	frees bool  // may use the reserve
	seals *bool // seals the store, or removes the seal
	err   error
	done  chan struct{}
}

// submit queues a change, and returns when it is durable or has failed.
func (s *Store) submit(ctx context.Context, wake store.Key, apply func(*tx) error) error {
	return s.enter(&request{ctx: ctx, apply: apply, wake: wake})
}

func (s *Store) enter(r *request) error {
	r.done = make(chan struct{})
	if err := s.enqueue(r); err != nil {
		return err
	}
	<-r.done
	return r.err
}

// enqueue waits for room in the queue until ctx ends. It holds the gate meanwhile; the writer keeps making room.
func (s *Store) enqueue(r *request) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return store.ErrClosed
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	select {
	case s.queue <- r:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// write is the writer. The next batch gathers while one becomes durable. No timer is involved.
func (s *Store) write() {
	defer close(s.stopped)
	for {
		batch, open := s.gather(s.timer())
		if !open {
			break
		}
		if !s.recovered() {
			answer(batch, s.outage.reason)
			continue
		}
		sick := len(batch) > 0 && s.commitTimed(batch)
		if !sick && s.wiper.Ready() {
			sick = s.wiper.Piece()
		}
		if sick {
			s.recover()
		}
	}
	if s.outage.reason == nil { // after a failure, what is free in the file may be needed when it is opened again
		s.wiper.Finish()
	}
}

// timer fires when the writer has work that nobody requested.
func (s *Store) timer() <-chan time.Time {
	if s.outage.reason != nil {
		return time.After(time.Until(s.outage.again))
	}
	return s.wiper.Timer()
}

// gather waits for a request and then takes all that have come. If the timer fires first, it takes none. Callers that were just
// answered run first, because they bring the next requests.
func (s *Store) gather(timer <-chan time.Time) (batch []*request, open bool) {
	select {
	case r, ok := <-s.queue:
		if !ok {
			return nil, false
		}
		batch = append(batch, r)
	case <-timer:
		return nil, true
	}
	runtime.Gosched()
	for len(batch) < maxBatch {
		select {
		case r, ok := <-s.queue:
			if !ok {
				return batch, true
			}
			batch = append(batch, r)
		default:
			return batch, true
		}
	}
	return batch, true
}

// answer completes requests that have no error of their own yet.
func answer(batch []*request, err error) {
	for _, r := range batch {
		if r.err == nil {
			r.err = err
		}
		close(r.done)
	}
}

// commitTimed commits a batch, and reports how long it took.
func (s *Store) commitTimed(batch []*request) (sick bool) {
	changes, began := len(batch), time.Now()
	s.began.Store(began.UnixNano())
	sick = s.commit(batch)
	s.began.Store(0)
	s.options.OnCommit(changes, time.Since(began))
	return sick
}

// commit makes a batch durable and answers all its requests. sick reports that the disk failed in a way that needs a new file.
func (s *Store) commit(batch []*request) (sick bool) {
	for len(batch) > 0 {
		t, err := s.db.Begin(true)
		if err != nil {
			answer(batch, fmt.Errorf("%w: begin a transaction: %w", store.ErrUnavailable, err))
			return false
		}
		view := &tx{tx: t, codec: s.codec, largest: s.largest, tight: s.tight}
		spoiler, wrote := s.apply(view, batch)
		if spoiler != nil {
			// Its writes are undone, and with them those of the others, which start again without it.
			_ = t.Rollback()
			answer([]*request{spoiler}, nil)
			batch = slices.DeleteFunc(batch, func(r *request) bool { return r == spoiler })
			continue
		}
		if !wrote {
			_ = t.Rollback()
			answer(batch, nil)
			return false
		}
		return s.finish(view, batch)
	}
	return false
}

// apply runs the requests of a batch in one transaction. It returns the one that failed after it began to write, if any, and
// whether there is anything to commit.
func (s *Store) apply(view *tx, batch []*request) (spoiler *request, wrote bool) {
	for _, r := range batch {
		if r.err = r.ctx.Err(); r.err != nil {
			continue
		}
		if s.sealed && r.seals == nil {
			r.err = store.ErrSealed
			continue
		}
		r.err = guarded(func() error { return r.apply(view) })
		if r.err != nil && !refusal(r.err) {
			return r, false
		}
		wrote = wrote || r.err == nil
	}
	return nil, wrote
}

// refusal reports whether a change was refused as such, before any of it was written.
func refusal(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid)
}

func (s *Store) finish(view *tx, batch []*request) (sick bool) {
	t := view.tx
	id := t.ID()
	reserve := s.reserve
	err := guarded(func() (err error) {
		if slices.ContainsFunc(batch, func(r *request) bool { return r.err == nil && !r.frees }) {
			reserve, err = view.keepReserve(reserve)
		}
		if err == nil {
			err = s.options.Commit(t.Commit)
		}
		return err
	})
	if err == nil {
		s.reserve, s.largest = reserve, view.largest
		s.mark.write(uint64(id))
		s.wiper.Moved()
		if view.erased {
			s.wiper.Want()
		}
		for _, r := range batch {
			if r.err == nil {
				s.wakes.Wake(r.wake)
			}
			if r.err == nil && r.seals != nil {
				s.sealed = *r.seals
			}
		}
		answer(batch, nil)
		return false
	}
	_ = guarded(t.Rollback) // needed if Commit failed before it began
	s.wiper.Failed()
	var panicked *brokenPageError
	switch {
	case errors.As(err, &panicked):
		answer(batch, err)
		s.giveUp(err)
		return false
	case s.spoiled(err, id):
		answer(batch, fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err))
		return true
	case len(batch) == 1 && batch[0].frees && !s.tight:
		return s.commitTight(batch)
	case len(batch) == 1:
		answer(batch, fmt.Errorf("%w: %w", store.ErrFull, err))
		return false
	default:
		// A small change may still fit when all of them together do not.
		for i := range batch {
			sick = s.commit(batch[i:i+1]) || sick
		}
		return sick
	}
}

func full(err error) bool {
	return errors.Is(err, berrors.ErrMaxSizeReached) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// spoiled reports whether a failed commit means that the disk failed in a way that needs a new file.
func (s *Store) spoiled(err error, tx int) bool { return !full(err) || s.stands(tx) }

// stands reports whether a transaction can be seen although its commit failed.
func (s *Store) stands(id int) bool {
	t, err := s.db.Begin(false)
	if err != nil {
		return true
	}
	defer t.Rollback()
	return t.ID() >= id
}

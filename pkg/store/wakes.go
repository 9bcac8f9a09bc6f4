package store

import (
	"context"
	"sync"
)

// Wakes lets callers of Wait sleep until this process makes a commit. The zero value is ready for use.
type Wakes struct {
	mu      sync.Mutex
	waiting map[Key]*wake
	closed  bool
}

type wake struct {
	done    chan struct{}
	waiters int
}

// Wait returns when past returns true. It calls past before it sleeps and after every commit of the key. It also returns
// with the error of past or of ctx, or with ErrClosed.
func (w *Wakes) Wait(ctx context.Context, key Key, past func() (bool, error)) error {
	for {
		k, err := w.join(key)
		if err != nil {
			return err
		}
		if ok, err := past(); ok || err != nil {
			w.leave(key, k)
			return err
		}
		select {
		case <-ctx.Done():
			w.leave(key, k)
			return ctx.Err()
		case <-k.done:
		}
	}
}

func (w *Wakes) join(key Key) (*wake, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	k := w.waiting[key]
	if k == nil {
		k = &wake{done: make(chan struct{})}
		if w.waiting == nil {
			w.waiting = make(map[Key]*wake)
		}
		w.waiting[key] = k
	}
	k.waiters++
	return k, nil
}

func (w *Wakes) leave(key Key, k *wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.waiters--
	if k.waiters == 0 && w.waiting[key] == k {
		delete(w.waiting, key)
	}
}

// Wake wakes those who wait for the key.
func (w *Wakes) Wake(key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.waiting[key]; k != nil {
		close(k.done)
		delete(w.waiting, key)
	}
}

// Close ends all waiting for good.
func (w *Wakes) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, k := range w.waiting {
		close(k.done)
	}
	w.waiting = nil
}

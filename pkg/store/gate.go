package store

import (
	"context"
	"sync"
)

// Gate admits calls until it is closed, and knows when the last of them has ended. The zero value is ready for use.
type Gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// Enter admits a call about keys, which must end with Leave. If it returns an error, the call is not admitted.
func (g *Gate) Enter(ctx context.Context, keys ...Key) error {
	for _, key := range keys {
		if err := key.Check(); err != nil {
			return err
		}
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g.calls.Add(1)
	return nil
}

// Leave ends a call.
func (g *Gate) Leave() { g.calls.Done() }

// Close makes the gate admit no more calls. It returns false if the gate was closed already.
func (g *Gate) Close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	closes := !g.closed
	g.closed = true
	return closes
}

// Wait waits for the admitted calls to end. It is called after Close.
func (g *Gate) Wait() { g.calls.Wait() }

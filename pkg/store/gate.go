package store

import (
	"context"
	"sync"
)

// Gate lets calls in until it is closed, and knows when the last of them has ended. The zero value is ready.
type Gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// Enter lets in a call about keys, which ends with Leave; with an error it is not let in.
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

// Close lets nobody in from now on. It is false if that was so before.
func (g *Gate) Close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	closes := !g.closed
	g.closed = true
	return closes
}

// Wait waits for the calls that are in. It comes after Close.
func (g *Gate) Wait() { g.calls.Wait() }

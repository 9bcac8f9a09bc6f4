package engine

import (
	"container/list"
	"sync"
	"time"
)

// windowIdle is how long a window stays warm without a build: a provider's prompt cache does not last longer, and the memory
// serves others better.
const windowIdle = 5 * time.Minute

// windowCache keeps windows warm, the least recently used ones leaving first once they take more than their bound.
type windowCache struct {
	mu    sync.Mutex
	bound int64
	bytes int64
	clock func() time.Time
	byKey map[Key]*list.Element
	order *list.List // of *warmWindow, most recent first
}

type warmWindow struct {
	window *window
	bytes  int64
	used   time.Time
}

func newWindowCache(bound int64, clock func() time.Time) *windowCache {
	return &windowCache{bound: bound, clock: clock, byKey: make(map[Key]*list.Element), order: list.New()}
}

// take gets a window out of the cache, so that nobody else uses it; nil if there is none.
func (c *windowCache) take(key Key) *window {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.byKey[key]
	if el == nil {
		return nil
	}
	return c.remove(el).window
}

// put keeps a window warm.
func (c *windowCache) put(w *window) {
	entry := &warmWindow{window: w, bytes: w.size(), used: c.clock()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.bytes > c.bound {
		return
	}
	if el := c.byKey[w.key]; el != nil {
		c.remove(el)
	}
	c.byKey[w.key] = c.order.PushFront(entry)
	c.bytes += entry.bytes
	for c.bytes > c.bound {
		c.remove(c.order.Back())
	}
}

// dropIdle forgets windows that were not used for a while.
func (c *windowCache) dropIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := c.order.Back(); el != nil; el = c.order.Back() {
		if c.clock().Sub(el.Value.(*warmWindow).used) < windowIdle {
			return
		}
		c.remove(el)
	}
}

func (c *windowCache) remove(el *list.Element) *warmWindow {
	entry := c.order.Remove(el).(*warmWindow)
	delete(c.byKey, entry.window.key)
	c.bytes -= entry.bytes
	return entry
}

package engine

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// windowIdle is how long a window stays warm without a build. A cold build costs some milliseconds more; an agent that has been
// silent for so long does not notice, and the memory serves others better.
const windowIdle = 30 * time.Second

// windowCache keeps windows warm, the least recently used ones leaving first once they take more than their bound.
type windowCache struct {
	mu    sync.Mutex
	bound int64
	bytes int64
	clock func() time.Time
	warm  *simplelru.LRU[Key, warmWindow]
}

type warmWindow struct {
	window *window
	bytes  int64
	used   time.Time
}

func newWindowCache(bound int64, clock func() time.Time) *windowCache {
	c := &windowCache{bound: bound, clock: clock}
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	c.warm, _ = simplelru.NewLRU(math.MaxInt, func(_ Key, w warmWindow) { c.bytes -= w.bytes })
	return c
}

// take gets a window out of the cache, so that nobody else uses it; nil if there is none.
func (c *windowCache) take(key Key) *window {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, _ := c.warm.Peek(key)
	c.warm.Remove(key)
	return entry.window
}

// put keeps a window warm.
func (c *windowCache) put(w *window) {
	w.dropBeside()
	entry := warmWindow{window: w, bytes: w.size(), used: c.clock()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.bytes > c.bound {
		return
	}
	c.warm.Remove(w.key)
	c.warm.Add(w.key, entry)
	c.bytes += entry.bytes
	for c.bytes > c.bound {
		c.warm.RemoveOldest()
	}
}

// dropIdle forgets windows that were not used for a while, and says how many bytes they took.
func (c *windowCache) dropIdle() (freed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.bytes
	for {
		_, entry, ok := c.warm.GetOldest()
		if !ok || c.clock().Sub(entry.used) < windowIdle {
			return before - c.bytes
		}
		c.warm.RemoveOldest()
	}
}

package view

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// idleAfter is how long a window stays warm without a build. A cold build costs some milliseconds more; an agent that has been
// silent for so long does not notice, and the memory serves others better.
const idleAfter = 30 * time.Second

// Cache keeps windows warm, the least recently used ones leaving first once they take more than their bound.
type Cache struct {
	mu      sync.Mutex
	bound   int64
	bytes   int64
	clock   func() time.Time
	entries *simplelru.LRU[store.Key, cacheEntry]
	hits    int64
	misses  int64
}

// CacheStats says what a cache holds, and what it was asked since it was made.
type CacheStats struct{ Bytes, MaxBytes, Hits, Misses int64 }

// Stats says how the cache is used.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Bytes: c.bytes, MaxBytes: c.bound, Hits: c.hits, Misses: c.misses}
}

type cacheEntry struct {
	loaded *Loaded
	bytes  int64
	used   time.Time
}

// NewCache returns a cache of at most so many bytes.
func NewCache(bound int64, clock func() time.Time) *Cache {
	c := &Cache{bound: bound, clock: clock}
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	c.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ store.Key, w cacheEntry) { c.bytes -= w.bytes })
	return c
}

// Take gets a window out of the cache, so that nobody else uses it; nil if there is none. The window of an actor for whom the call does
// not speak stays: what is refused costs nobody their window.
func (c *Cache) Take(ctx context.Context, key store.Key) *Loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, found := c.entries.Peek(key)
	if !found || !actors.Speaks(ctx, entry.loaded.actor()) {
		c.misses++
		return nil
	}
	c.hits++
	c.entries.Remove(key)
	return entry.loaded
}

// Drop forgets a window.
func (c *Cache) Drop(key store.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
}

// Put keeps a window warm.
func (c *Cache) Put(w *Loaded) {
	w.dropExtras()
	entry := cacheEntry{loaded: w, bytes: w.size(), used: c.clock()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.bytes > c.bound {
		return
	}
	c.entries.Remove(w.Key)
	c.entries.Add(w.Key, entry)
	c.bytes += entry.bytes
	for c.bytes > c.bound {
		c.entries.RemoveOldest()
	}
}

// DropIdle forgets windows that were not used for a while, and says how many bytes they took.
func (c *Cache) DropIdle() (freed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.bytes
	for {
		_, entry, ok := c.entries.GetOldest()
		if !ok || c.clock().Sub(entry.used) < idleAfter {
			return before - c.bytes
		}
		c.entries.RemoveOldest()
	}
}

// Package bytecache keeps values up to a number of bytes, the least recently used leaving first.
package bytecache

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps values by key. It is safe for concurrent use. A nil cache keeps nothing.
type Cache[K comparable, V any] struct {
	bound, factor int64
	clock         func() time.Time

	mu           sync.Mutex
	bytes        int64
	entries      *simplelru.LRU[K, entry[V]]
	hits, misses int64
}

type entry[V any] struct {
	value V
	bytes int64
	used  time.Time
}

// Stats says what a cache holds, and what it was asked since it was made.
type Stats struct{ Bytes, MaxBytes, Hits, Misses int64 }

// New returns a cache of at most bound bytes, in which each byte counts factor times. One value alone may take the whole bound.
func New[K comparable, V any](bound, factor int64, clock func() time.Time) *Cache[K, V] {
	c := &Cache[K, V]{bound: bound, factor: factor, clock: clock}
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	c.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ K, e entry[V]) { c.bytes -= e.bytes })
	return c
}

// Get returns what is kept under a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	if c == nil {
		return value, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(key)
	if c.count(ok); ok {
		e.used = c.clock()
		c.entries.Add(key, e)
	}
	return e.value, ok
}

// Take gets a value out of the cache, so that nobody else uses it, if the caller may have it.
func (c *Cache[K, V]) Take(key K, may func(V) bool) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Peek(key)
	ok = ok && may(e.value)
	if c.count(ok); !ok {
		return value, false
	}
	c.entries.Remove(key)
	return e.value, true
}

func (c *Cache[K, V]) count(hit bool) {
	if hit {
		c.hits++
	} else {
		c.misses++
	}
}

// Put keeps a value that takes so many bytes, unless it is larger than the bound. The one before it goes in any case.
func (c *Cache[K, V]) Put(key K, value V, bytes int64) {
	e := entry[V]{value: value, bytes: bytes, used: c.clock()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	if bytes > c.bound {
		return
	}
	c.entries.Add(key, e)
	c.bytes += bytes
	for c.factor*c.bytes > c.bound && c.entries.Len() > 1 {
		c.entries.RemoveOldest()
	}
}

// Drop forgets a value.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
}

// DropIf forgets the values of the keys that are gone. It asks for all of them.
func (c *Cache[K, V]) DropIf(gone func(K) bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range c.entries.Keys() {
		if gone(key) {
			c.entries.Remove(key)
		}
	}
}

// DropIdle forgets what was not used for so long, and says how many bytes it took.
func (c *Cache[K, V]) DropIdle(after time.Duration) (freed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.bytes
	for {
		_, e, ok := c.entries.GetOldest()
		if !ok || c.clock().Sub(e.used) < after {
			return before - c.bytes
		}
		c.entries.RemoveOldest()
	}
}

// Clear forgets everything.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Purge()
}

// Stats says how the cache is used.
func (c *Cache[K, V]) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Bytes: c.factor * c.bytes, MaxBytes: c.bound, Hits: c.hits, Misses: c.misses}
}

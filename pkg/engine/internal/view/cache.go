package view

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// idleAfter is how long a window stays warm without a build. A cold build costs some milliseconds more; an agent that has been
// silent for so long does not notice, and the memory serves others better.
const idleAfter = 30 * time.Second

// Cache keeps windows warm, the least recently used ones leaving first once they take more than their bound.
type Cache struct {
	windows *bytecache.Cache[store.Key, *Loaded]
}

// NewCache returns a cache of at most so many bytes.
func NewCache(bound int64, clock func() time.Time) *Cache {
	return &Cache{windows: bytecache.New[store.Key, *Loaded](bound, 1, clock)}
}

// Stats says how the cache is used.
func (c *Cache) Stats() bytecache.Stats { return c.windows.Stats() }

// Take gets a window out of the cache, so that nobody else uses it; nil if there is none. The window of an actor for whom the call does
// not speak stays: what is refused costs nobody their window.
func (c *Cache) Take(ctx context.Context, key store.Key) *Loaded {
	w, _ := c.windows.Take(key, func(w *Loaded) bool { return actors.Speaks(ctx, w.actor()) })
	return w
}

// Drop forgets a window.
func (c *Cache) Drop(key store.Key) { c.windows.Drop(key) }

// Put keeps a window warm.
func (c *Cache) Put(w *Loaded) {
	w.dropExtras()
	c.windows.Put(w.Key, w, w.size())
}

// DropIdle forgets windows that were not used for a while, and says how many bytes they took.
func (c *Cache) DropIdle() (freed int64) { return c.windows.DropIdle(idleAfter) }

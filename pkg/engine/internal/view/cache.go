package view

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// idleAfter is how long an unused window is kept in memory. A build without it takes some milliseconds longer, which does not matter to
// an agent that was silent for so long, while others can use the memory.
const idleAfter = 30 * time.Second

// Cache keeps windows in memory between builds. Beyond its bound, it drops the least recently used first.
type Cache struct {
	windows *bytecache.Cache[store.Key, *Loaded]
}

// NewCache returns a cache that takes at most bound bytes.
func NewCache(bound int64, clock func() time.Time) *Cache {
	return &Cache{windows: bytecache.New[store.Key, *Loaded](bound, 1, clock)}
}

// Stats returns figures about the use of the cache.
func (c *Cache) Stats() bytecache.Stats { return c.windows.Stats() }

// Take removes a window from the cache, so that nobody else uses it; nil if there is none. If the call does not speak for the window's
// actor, the window stays: a refused call must not cost others their window.
func (c *Cache) Take(ctx context.Context, key store.Key) *Loaded {
	w, _ := c.windows.Take(key, func(w *Loaded) bool { return actors.Speaks(ctx, w.actor()) })
	return w
}

// Drop drops a window.
func (c *Cache) Drop(key store.Key) { c.windows.Drop(key) }

// Put keeps a window in memory.
func (c *Cache) Put(w *Loaded) {
	w.Extras.drop()
	c.windows.Put(w.Key, w, w.size())
}

// DropIdle drops windows that were not used for idleAfter, and returns how many bytes they took.
func (c *Cache) DropIdle() (freed int64) { return c.windows.DropIdle(idleAfter) }

package contents

import (
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Indexes is the part of the content cache in which a memory over the store keeps its indexes. They count toward the same
// bound.
type Indexes struct{ cache *Cache }

// Indexes returns the cache's part for memories.
func (l *Cache) Indexes() *Indexes { return &Indexes{l} }

// Get returns what was put under a key; nil if nothing is kept.
func (x *Indexes) Get(key store.Key) any {
	kept, _ := x.cache.ready.Get(cacheKey{kind: indexKind, partition: key})
	return kept
}

// Put keeps a value that takes the given bytes, if there is room. The value before it is dropped in any case.
func (x *Indexes) Put(key store.Key, value any, bytes int64) {
	x.cache.ready.Put(cacheKey{kind: indexKind, partition: key}, value, bytes)
}

// Drop forgets what is under a key.
func (x *Indexes) Drop(key store.Key) { x.cache.ready.Drop(cacheKey{kind: indexKind, partition: key}) }

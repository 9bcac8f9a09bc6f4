package contents

import (
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Indexes keeps what a memory of the store has made ready, beside contents and under their bound.
type Indexes struct{ cache *Cache }

// Indexes is the cache's part for memories.
func (l *Cache) Indexes() *Indexes { return &Indexes{l} }

// Get returns what was put under a key; nil for nothing.
func (x *Indexes) Get(key store.Key) any {
	kept, _ := x.cache.ready.Get(cacheKey{kind: indexKind, partition: key})
	return kept
}

// Put keeps a value that takes so many bytes, if there is room for it. The one before it goes in any case.
func (x *Indexes) Put(key store.Key, value any, bytes int64) {
	x.cache.ready.Put(cacheKey{kind: indexKind, partition: key}, value, bytes)
}

// Drop forgets what is under a key.
func (x *Indexes) Drop(key store.Key) { x.cache.ready.Drop(cacheKey{kind: indexKind, partition: key}) }

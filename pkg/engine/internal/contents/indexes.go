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
	s, _ := x.cache.get(cacheKey{kind: indexKind, partition: key})
	return s.value
}

// Put keeps a value that takes so many bytes, if there is room for it. The one before it goes in any case.
func (x *Indexes) Put(key store.Key, value any, bytes int64) {
	x.Drop(key)
	x.cache.put(cacheKey{kind: indexKind, partition: key}, cacheEntry{value: value, bytes: bytes})
}

// Drop forgets what is under a key.
func (x *Indexes) Drop(key store.Key) {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	x.cache.entries.Remove(cacheKey{kind: indexKind, partition: key})
}

package contents

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Cache keeps what searches and ranges of contents need ready, the least recently used leaving first once all takes more than
// its bound. Go's collector lets as much garbage be as there is in use, so that what is kept takes twice its size: it counts twice.
// One thing alone may take the whole bound.
type Cache struct {
	mu      sync.Mutex
	bound   int64
	bytes   int64
	clock   func() time.Time
	entries *simplelru.LRU[cacheKey, cacheEntry]
	hits    int64
	misses  int64
	readers chan struct{} // who makes something ready: so many at once, as each holds a whole content beside the shelf
}

// cacheKey names something on the shelf.
type cacheKey struct {
	incarnation conversation.ID
	kind        cacheKind
	number      int64     // of the content, or of the block of messages
	partition   store.Key // of an index
}

type cacheKind int8

const (
	documentKind cacheKind = iota
	outlineKind
	messagesKind
	indexKind
)

// cacheEntry is something that is ready: a document, an outline, or a block of messages, as its key says.
type cacheEntry struct {
	value any
	bytes int64
	used  time.Time
}

// readersAtOnce is how many contents are made ready at a time.
const readersAtOnce = 2

func newCache(bound int64, clock func() time.Time) *Cache {
	l := &Cache{bound: bound, clock: clock, readers: make(chan struct{}, readersAtOnce)}
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	l.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ cacheKey, s cacheEntry) { l.bytes -= s.bytes })
	return l
}

func (l *Cache) get(key cacheKey) (cacheEntry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.entries.Get(key)
	if !ok {
		l.misses++
		return s, false
	}
	l.hits++
	s.used = l.clock()
	l.entries.Add(key, s)
	return s, true
}

// Stats says how the cache is used, with what is kept counted twice.
func (l *Cache) Stats() view.CacheStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return view.CacheStats{Bytes: 2 * l.bytes, MaxBytes: l.bound, Hits: l.hits, Misses: l.misses}
}

// cached is what is kept under a key, of the type that the key says.
func cached[T any](l *Cache, key cacheKey) (T, bool) {
	entry, _ := l.get(key)
	value, ok := entry.value.(T)
	return value, ok
}

func (l *Cache) put(key cacheKey, s cacheEntry) {
	s.used = l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.bytes > l.bound {
		return
	}
	l.entries.Remove(key)
	l.entries.Add(key, s)
	l.bytes += s.bytes
	for 2*l.bytes > l.bound && l.entries.Len() > 1 {
		l.entries.RemoveOldest()
	}
}

// Messages is what was kept for a block of messages; nil for nothing.
func (l *Cache) Messages(incarnation conversation.ID, block int32) any {
	s, _ := l.get(cacheKey{incarnation: incarnation, kind: messagesKind, number: int64(block)})
	return s.value
}

// PutMessages keeps a block of messages ready, which takes so many bytes.
func (l *Cache) PutMessages(incarnation conversation.ID, block int32, value any, bytes int64) {
	l.put(cacheKey{incarnation: incarnation, kind: messagesKind, number: int64(block)}, cacheEntry{value: value, bytes: bytes})
}

// Clear forgets everything.
func (l *Cache) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries.Purge()
}

// Drop forgets a content.
func (l *Cache) Drop(incarnation conversation.ID, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries.Remove(cacheKey{incarnation: incarnation, kind: documentKind, number: number})
	l.entries.Remove(cacheKey{incarnation: incarnation, kind: outlineKind, number: number})
}

// DropMessage forgets the block of messages that a message is in.
func (l *Cache) DropMessage(incarnation conversation.ID, index int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries.Remove(cacheKey{incarnation: incarnation, kind: messagesKind, number: int64(index / BlockMessages)})
}

// idleAfter is how long something stays ready without being used. Making it ready again takes some tens of milliseconds.
const idleAfter = 10 * time.Minute

// DropIdle forgets what was not used for a while, and says how many bytes it took.
func (l *Cache) DropIdle() (freed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.bytes
	for {
		_, s, ok := l.entries.GetOldest()
		if !ok || l.clock().Sub(s.used) < idleAfter {
			return before - l.bytes
		}
		l.entries.RemoveOldest()
	}
}

// BlockMessages is how many messages are made ready to be searched together. The last block grows with every append, and is made
// ready anew: that must be quick.
const BlockMessages = 256

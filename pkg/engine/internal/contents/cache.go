package contents

import (
	"time"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Cache keeps what searches and ranges of contents need ready, the least recently used leaving first once all takes more than
// its bound. Go's collector lets as much garbage be as there is in use, so that what is kept takes twice its size: it counts twice.
// One thing alone may take the whole bound.
type Cache struct {
	ready   *bytecache.Cache[cacheKey, any] // documents, outlines, and blocks of messages, as their keys say
	readers chan struct{}                   // who makes something ready: so many at once, as each holds a whole content beside the cache
}

// cacheKey names something in the cache.
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

// readersAtOnce is how many contents are made ready at a time.
const readersAtOnce = 2

func newCache(bound int64, clock func() time.Time) *Cache {
	return &Cache{ready: bytecache.New[cacheKey, any](bound, 2, clock), readers: make(chan struct{}, readersAtOnce)}
}

// Stats says how the cache is used, with what is kept counted twice.
func (l *Cache) Stats() bytecache.Stats { return l.ready.Stats() }

// cached is what is kept under a key, of the type that the key says.
func cached[T any](l *Cache, key cacheKey) (T, bool) {
	kept, _ := l.ready.Get(key)
	value, ok := kept.(T)
	return value, ok
}

// messagesKey is that of a block of messages.
func messagesKey(incarnation conversation.ID, block int32) cacheKey {
	return cacheKey{incarnation: incarnation, kind: messagesKind, number: int64(block)}
}

// Messages is what was kept for a block of messages; nil for nothing.
func (l *Cache) Messages(incarnation conversation.ID, block int32) any {
	kept, _ := l.ready.Get(messagesKey(incarnation, block))
	return kept
}

// PutMessages keeps a block of messages ready, which takes so many bytes.
func (l *Cache) PutMessages(incarnation conversation.ID, block int32, value any, bytes int64) {
	l.ready.Put(messagesKey(incarnation, block), value, bytes)
}

// Clear forgets everything.
func (l *Cache) Clear() { l.ready.Clear() }

// Drop forgets a content.
func (l *Cache) Drop(incarnation conversation.ID, number int64) {
	l.ready.Drop(cacheKey{incarnation: incarnation, kind: documentKind, number: number})
	l.ready.Drop(cacheKey{incarnation: incarnation, kind: outlineKind, number: number})
}

// DropMessage forgets the block of messages that a message is in.
func (l *Cache) DropMessage(incarnation conversation.ID, index int32) {
	l.ready.Drop(messagesKey(incarnation, index/BlockMessages))
}

// idleAfter is how long something stays ready without being used. Making it ready again takes some tens of milliseconds.
const idleAfter = 10 * time.Minute

// DropIdle forgets what was not used for a while, and says how many bytes it took.
func (l *Cache) DropIdle() (freed int64) { return l.ready.DropIdle(idleAfter) }

// BlockMessages is how many messages are made ready to be searched together. The last block grows with every append, and is made
// ready anew: that must be quick.
const BlockMessages = 256

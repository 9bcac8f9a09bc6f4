package contents

import (
	"time"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Cache keeps prepared what searches and ranges of contents need. Beyond its bound, it drops the least recently used first. Go's
// collector lets garbage grow to the size of the live heap, so each entry counts twice. A single entry may take the whole bound.
type Cache struct {
	ready   *bytecache.Cache[cacheKey, any] // documents, outlines and blocks of messages, as the kind in the key says
	readers chan struct{}                   // limits how many contents are prepared at once: each is held whole in memory meanwhile
}

// cacheKey names an entry of the cache.
type cacheKey struct {
	incarnation conversation.ID
	kind        cacheKind
	number      int64     // of the content, or of the block of messages
	partition   store.Key // of an index; empty for other kinds
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

// Stats returns figures about the use of the cache. Sizes count twice, as in the bound.
func (l *Cache) Stats() bytecache.Stats { return l.ready.Stats() }

// cached returns what is kept under a key. The kind in the key decides its type T.
func cached[T any](l *Cache, key cacheKey) (T, bool) {
	kept, _ := l.ready.Get(key)
	value, ok := kept.(T)
	return value, ok
}

// messagesKey is the key of a block of messages.
func messagesKey(incarnation conversation.ID, block int32) cacheKey {
	return cacheKey{incarnation: incarnation, kind: messagesKind, number: int64(block)}
}

// Messages returns what is kept for a block of messages; nil if nothing is.
func (l *Cache) Messages(incarnation conversation.ID, block int32) any {
	kept, _ := l.ready.Get(messagesKey(incarnation, block))
	return kept
}

// PutMessages keeps a prepared block of messages. bytes is the memory that it takes.
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

// idleAfter is how long an unused entry is kept. Preparing it again takes some tens of milliseconds.
const idleAfter = 10 * time.Minute

// DropIdle drops entries that were not used for idleAfter, and returns how many bytes they took.
func (l *Cache) DropIdle() (freed int64) { return l.ready.DropIdle(idleAfter) }

// BlockMessages is the number of messages in a block that is prepared for searching. The last block is prepared again after every
// append, so that must be quick.
const BlockMessages = 256

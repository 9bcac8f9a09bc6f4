package engine

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

// library keeps what searches and ranges of contents need ready, the least recently used leaving first once all takes more than
// its bound. Go's collector lets as much garbage be as there is in use, so that what is kept takes twice its size: it counts twice.
// One thing alone may take the whole bound.
type library struct {
	mu      sync.Mutex
	bound   int64
	bytes   int64
	clock   func() time.Time
	shelf   *simplelru.LRU[shelfKey, shelved]
	readers chan struct{} // who makes something ready: so many at once, as each holds a whole content beside the shelf
}

// shelfKey names something on the shelf.
type shelfKey struct {
	incarnation conversation.ID
	kind        shelfKind
	number      int64 // of the content, or of the block of messages
}

type shelfKind int8

const (
	shelfDocument shelfKind = iota
	shelfOutline
	shelfMessages
)

// shelved is something that is ready. One of document, outline and block is set.
type shelved struct {
	document *search.Document
	outline  *content.Outline
	block    *messageBlock
	bytes    int64
	used     time.Time
}

// readersAtOnce is how many contents are made ready at a time.
const readersAtOnce = 2

func newLibrary(bound int64, clock func() time.Time) *library {
	l := &library{bound: bound, clock: clock, readers: make(chan struct{}, readersAtOnce)}
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	l.shelf, _ = simplelru.NewLRU(math.MaxInt, func(_ shelfKey, s shelved) { l.bytes -= s.bytes })
	return l
}

func (l *library) get(key shelfKey) (shelved, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.shelf.Get(key)
	if ok {
		s.used = l.clock()
		l.shelf.Add(key, s)
	}
	return s, ok
}

func (l *library) put(key shelfKey, s shelved) {
	s.used = l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.bytes > l.bound {
		return
	}
	l.shelf.Remove(key)
	l.shelf.Add(key, s)
	l.bytes += s.bytes
	for 2*l.bytes > l.bound && l.shelf.Len() > 1 {
		l.shelf.RemoveOldest()
	}
}

// drop forgets a content.
func (l *library) drop(incarnation conversation.ID, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shelf.Remove(shelfKey{incarnation, shelfDocument, number})
	l.shelf.Remove(shelfKey{incarnation, shelfOutline, number})
}

// dropMessage forgets the block of messages that a message is in.
func (l *library) dropMessage(incarnation conversation.ID, index int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shelf.Remove(shelfKey{incarnation, shelfMessages, int64(index / blockMessages)})
}

// libraryIdle is how long something stays ready without being used. Making it ready again takes some tens of milliseconds.
const libraryIdle = 10 * time.Minute

// dropIdle forgets what was not used for a while, and says how many bytes it took.
func (l *library) dropIdle() (freed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.bytes
	for {
		_, s, ok := l.shelf.GetOldest()
		if !ok || l.clock().Sub(s.used) < libraryIdle {
			return before - l.bytes
		}
		l.shelf.RemoveOldest()
	}
}

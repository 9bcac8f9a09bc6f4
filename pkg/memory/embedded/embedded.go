// Package embedded is the target of long-term memory that needs no service: an index in the store over what an actor's conversations said,
// with the facts drawn from it and what was put in as it is.
//
// Each scope has a partition of its own, which no listing of conversations shows. Every change is one commit of it, and every search reads
// its head first: what one process adds or deletes, all others know at once. The texts of messages stay in the record of their
// conversation; the index holds codes of their words. What a memory that goes away left in the partition goes in the same commit.
package embedded

import (
	"cmp"
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Name is the target's kind.
const Name = "embedded"

// The bounds of what is kept of a scope. What leaves is counted in Stats.
const (
	DefaultMaxMessages = 50_000   // the newest
	DefaultMaxBytes    = 48 << 20 // of all segments; the oldest messages leave
	MaxFacts           = 10_000   // the newest
	MaxNotes           = 10_000   // more are refused, and more than half of the bytes
)

// The bounds of what comes in.
const (
	maxBatch    = 100
	maxChars    = 16_000 // of a message, in code points
	maxNote     = 4_000  // code points
	maxMetadata = 8 << 10
	maxCodes    = 40 << 10 // bytes of one text's codes: an entry fits in a segment
	maxKey      = 256      // bytes of a note's key
)

// Texts returns those of a conversation's messages that may be shown, in any order. Hidden, erased and deleted ones are left out.
type Texts func(ctx context.Context, namespace, conversation string, incarnation conversation.ID, indices []int32) ([]memory.Message, error)

// Extracted is a fact that was drawn from messages.
type Extracted struct {
	Text    string
	SaidBy  string
	Indices []int32 // of the messages that say it; at least one
}

// Extract draws facts from what users said. An error leaves the whole batch for later.
type Extract func(ctx context.Context, messages []memory.Message) ([]Extracted, error)

// Options configure a target.
type Options struct {
	Store store.Store
	Texts Texts
	IDs   func() conversation.ID
	Clock func() time.Time
	// Cache keeps indexes ready; nil keeps none, and every call reads all of its scope.
	Cache Cache
	// Extract draws facts from batches that ask for it; nil draws none.
	Extract Extract
	// Model has a model draw facts, for batches that ask for it, and returns its answer for CheckedFacts. Where it is nil or fails, Extract
	// serves.
	Model func(ctx context.Context, b *memory.Batch, said []memory.Message) (answer []byte, err error)
	// MaxMessages and MaxBytes bound a scope; 0 for the defaults.
	MaxMessages int
	MaxBytes    int64
}

// Cache keeps indexes ready, of at most so many bytes as it likes. It is safe for concurrent use.
type Cache interface {
	// Get returns what was put under a key; nil for nothing.
	Get(key store.Key) any
	// Put keeps a value that takes so many bytes, in place of the one before it. It need not.
	Put(key store.Key, value any, bytes int64)
	// Drop forgets what is under a key.
	Drop(key store.Key)
}

// Target is the embedded index. It is safe for concurrent use.
type Target struct {
	Options
	turns store.Turns // of changes
	loads store.Turns // of reading all of a scope
}

// New returns a target.
func New(o Options) *Target {
	o.MaxMessages = cmp.Or(o.MaxMessages, DefaultMaxMessages)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	if o.Cache == nil {
		o.Cache = noCache{}
	}
	return &Target{Options: o}
}

var (
	_ memory.Target  = (*Target)(nil)
	_ memory.Indexed = (*Target)(nil)
)

// Name implements memory.Target.
func (t *Target) Name() string { return Name }

// Limits implements memory.Target.
func (t *Target) Limits() memory.Limits {
	return memory.Limits{
		MaxMessages: maxBatch, MaxChars: maxChars, MaxNote: maxNote, Concurrency: 8, Idempotent: true, ReturnsIDs: true, RetractsOne: true, ForgetsOne: true,
	}
}

// PartitionPrefix begins the namespace of every partition. No credential leads to such a namespace.
const PartitionPrefix = "memory:"

// Partition is where a scope's index is. The scope's name is not in it, only its hash: what is left of a scope that was forgotten does not
// say whose it was.
func Partition(s memory.Scope) store.Key {
	key := store.Key{Namespace: PartitionPrefix + s.Namespace, Conversation: s.Kind.Name() + ":" + memory.Digest(s.ID)}
	if len(key.Namespace) > store.MaxName {
		key.Namespace = "memory#" + memory.Digest(s.Namespace)
	}
	return key
}

type noCache struct{}

func (noCache) Get(store.Key) any         { return nil }
func (noCache) Put(store.Key, any, int64) {}
func (noCache) Drop(store.Key)            {}

package embedded_test

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	memstore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// world is a store, the record of what was said, and a clock.
type world struct {
	store  store.Store
	record *record
	now    atomic.Int64
	ids    atomic.Uint64
}

func newWorld(s store.Store) *world {
	w := &world{store: s, record: &record{said: map[place]memory.Message{}}}
	w.now.Store(day(0).UnixMilli())
	return w
}

func memoryWorld(t testing.TB) *world {
	s := memstore.New(memstore.Options{})
	t.Cleanup(func() { _ = s.Close() })
	return newWorld(s)
}

// day is noon of a day.
func day(n int) time.Time { return time.Date(2026, 3, 1+n, 12, 0, 0, 0, time.UTC) }

func (w *world) options() embedded.Options {
	return embedded.Options{
		Store: w.store, Texts: w.record.texts, Cache: newShelf(), Extract: embedded.Extractive,
		Clock: func() time.Time { return time.UnixMilli(w.now.Load()).UTC() },
		IDs: func() (id conversation.ID) {
			binary.BigEndian.PutUint64(id[:], w.ids.Add(1))
			return id
		},
	}
}

// process is a target of its own over the store.
func (w *world) process() *recording { return w.with(w.options()) }

func (w *world) with(o embedded.Options) *recording {
	return &recording{Target: embedded.New(o), record: w.record}
}

// place is a message's place in the record.
type place struct {
	namespace, conversation string
	incarnation             conversation.ID
	index                   int32
}

// record is what was said, as conversations have it.
type record struct {
	mu    sync.Mutex
	said  map[place]memory.Message
	reads int
}

func (r *record) texts(ctx context.Context, namespace, name string, incarnation conversation.ID, indices []int32) (out []memory.Message, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	for _, index := range indices {
		if m, ok := r.said[place{namespace, name, incarnation, index}]; ok {
			out = append(out, m)
		}
	}
	return out, ctx.Err()
}

func (r *record) hide(namespace, name string, incarnation conversation.ID, index int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.said, place{namespace, name, incarnation, index})
}

// recording is a target whose batches are on record before they come, as the outbox has it.
type recording struct {
	*embedded.Target
	record *record
}

func (r *recording) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	r.record.mu.Lock()
	for _, m := range b.Messages {
		r.record.said[place{b.Scope.Namespace, b.Conversation, b.Incarnation, m.Index}] = m
	}
	r.record.mu.Unlock()
	return r.Target.Add(ctx, b)
}

// shelf is a cache without a bound.
type shelf struct {
	mu     sync.Mutex
	values map[store.Key]any
	bytes  map[store.Key]int64
}

func newShelf() *shelf { return &shelf{values: map[store.Key]any{}, bytes: map[store.Key]int64{}} }

func (s *shelf) Get(key store.Key) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

func (s *shelf) Put(key store.Key, value any, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key], s.bytes[key] = value, bytes
}

func (s *shelf) Drop(key store.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	delete(s.bytes, key)
}

func user(id string) memory.Scope {
	return memory.Scope{Namespace: "space", Kind: memory.ScopeUser, ID: id}
}

// talk is a batch of what a user says from an index on, a minute apart.
func talk(s memory.Scope, name string, first int32, at time.Time, texts ...string) *memory.Batch {
	b := &memory.Batch{Scope: s, Conversation: name, Incarnation: incarnationOf(name), Key: "k", Session: "1", Infer: true}
	for i, text := range texts {
		b.Messages = append(b.Messages, memory.Message{
			Index: first + int32(i), Role: conversation.RoleUser, Text: text, Time: at.Add(time.Duration(i) * time.Minute),
		})
	}
	return b
}

func incarnationOf(name string) (id conversation.ID) {
	copy(id[:], name)
	id[15] = 1
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, target memory.Target, b *memory.Batch) memory.Receipt {
	t.Helper()
	receipt, err := target.Add(t.Context(), b)
	must(t, err)
	return receipt
}

func find(t testing.TB, target memory.Target, s memory.Scope, text string) []memory.Memory {
	t.Helper()
	found, err := target.Search(t.Context(), s, &memory.Query{Text: text, Limit: 10, Now: day(30)})
	must(t, err)
	return found
}

func list(t testing.TB, target memory.Target, s memory.Scope, kinds ...memory.Kind) (out []memory.Memory) {
	t.Helper()
	page := &memory.Page{Limit: 50, Kinds: kinds, Now: day(30)}
	for {
		listing, err := target.List(t.Context(), s, page)
		must(t, err)
		out = append(out, listing.Memories...)
		if page.Token = listing.Next; page.Token == "" {
			return out
		}
	}
}

func textsOf(memories []memory.Memory) (out []string) {
	for i := range memories {
		out = append(out, memories[i].Text)
	}
	return out
}

package shared

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	memories "github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// The embedded index of memories keeps its contract on the stores that processes share, with two processes that take turns.
func TestMemories_OverServers_KeepTheContract(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t testing.TB) store.Store{
		"postgres": func(t testing.TB) store.Store {
			s, err := postgres.Open(t.Context(), postgres.Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: "memories"})
			return opened(t, s, err)
		},
		"redis": func(t testing.TB) store.Store {
			s, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: "memories:"})
			return opened(t, s, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &spokenWords{messages: map[string]memories.Message{}}
			turns := &takingTurns{said: said}
			for i := range turns.targets {
				turns.targets[i] = embedded.New(embedded.Options{
					Store: open(t), Texts: said.texts, IDs: said.newID, Extract: embedded.Extractive, Cache: &indexes{},
					Clock: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) },
				})
			}
			turns.Target = turns.targets[0]
			memorytest.Run(t, func(testing.TB) memories.Target { return turns }, memorytest.Options{})
		})
	}
}

func opened(t testing.TB, s store.Store, err error) store.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// takingTurns has one process add and the other one search.
type takingTurns struct {
	memories.Target
	targets [2]*embedded.Target
	said    *spokenWords
}

// Add implements memories.Target.
func (r *takingTurns) Add(ctx context.Context, b *memories.Batch) (memories.Receipt, error) {
	r.said.record(b)
	return r.targets[0].Add(ctx, b)
}

// Search implements memories.Target.
func (r *takingTurns) Search(ctx context.Context, s memories.Scope, q *memories.Query) ([]memories.Memory, error) {
	return r.targets[1].Search(ctx, s, q)
}

// List implements memories.Target.
func (r *takingTurns) List(ctx context.Context, s memories.Scope, p *memories.Page) (memories.Listing, error) {
	return r.targets[1].List(ctx, s, p)
}

// spokenWords is the record of what was said.
type spokenWords struct {
	mu       sync.Mutex
	messages map[string]memories.Message
	ids      atomic.Uint64
}

func (r *spokenWords) record(b *memories.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range b.Messages {
		r.messages[fmt.Sprint(b.Scope.Namespace, b.Conversation, b.Incarnation, m.Index)] = m
	}
}

func (r *spokenWords) texts(_ context.Context, namespace, name string, incarnation conversation.ID, indices []int32) (out []memories.Message, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, index := range indices {
		if m, ok := r.messages[fmt.Sprint(namespace, name, incarnation, index)]; ok {
			out = append(out, m)
		}
	}
	return out, nil
}

func (r *spokenWords) newID() (id conversation.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(time.Now().UnixNano()))
	binary.BigEndian.PutUint64(id[8:], r.ids.Add(1))
	return id
}

// indexes keeps all indexes ready.
type indexes struct{ values sync.Map }

// Get implements embedded.Cache.
func (c *indexes) Get(key store.Key) any {
	value, _ := c.values.Load(key)
	return value
}

// Put implements embedded.Cache.
func (c *indexes) Put(key store.Key, value any, _ int64) { c.values.Store(key, value) }

// Drop implements embedded.Cache.
func (c *indexes) Drop(key store.Key) { c.values.Delete(key) }

package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	storemem "github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// mem0Like are the limits of a target without promises, and embeddedLike of one with all of them.
var (
	mem0Like     = memory.Limits{MaxMessages: 100, MaxChars: 1000, MaxNote: 1000, Concurrency: 2, ForgetsOne: true, ReturnsIDs: true}
	embeddedLike = memory.Limits{MaxMessages: 100, MaxChars: 1000, MaxNote: 1000, Concurrency: 2, ForgetsOne: true, Idempotent: true}
)

// listener is a target that writes down what it is asked.
type listener struct {
	*memorytest.Reference
	mu      sync.Mutex
	batches []memory.Batch
	calls   []string
}

func newListener(limits memory.Limits) *listener {
	return &listener{Reference: memorytest.NewReference(limits)}
}

func (r *listener) note(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *listener) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	r.mu.Lock()
	r.batches = append(r.batches, *b)
	r.mu.Unlock()
	r.note("Add")
	return r.Reference.Add(ctx, b)
}

func (r *listener) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	r.note("Settle")
	return r.Reference.Settle(ctx, b)
}

func (r *listener) Retract(ctx context.Context, s memory.Scope, q *memory.Retraction) (memory.Forgetting, error) {
	r.note("Retract")
	return r.Reference.Retract(ctx, s, q)
}

func (r *listener) Forget(ctx context.Context, s memory.Scope, until time.Time) (memory.Forgetting, error) {
	r.note("Forget")
	return r.Reference.Forget(ctx, s, until)
}

// texts are what the target remembers, in the order it came.
func (r *listener) texts() (out []string) {
	for _, m := range r.All() {
		out = append(out, m.Text)
	}
	return out
}

func (r *listener) said() string { return strings.Join(r.texts(), " ") }

func (r *listener) sent() []memory.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.batches)
}

func (r *listener) asked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.calls, " ")
}

// everyCall is a fault of every call of a method.
func everyCall(call string, f memorytest.Fault) func(string) memorytest.Fault {
	return func(of string) memorytest.Fault {
		if of == call {
			return f
		}
		return memorytest.Fault{}
	}
}

// firstCalls is a fault of the first calls of a method.
func firstCalls(n int, call string, f memorytest.Fault) func(string) memorytest.Fault {
	var mu sync.Mutex
	return func(of string) memorytest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if of != call || n == 0 {
			return memorytest.Fault{}
		}
		n--
		return f
	}
}

// remembering tests a conversation c of actor ann, on an engine with a memory, in a bubble where time passes at once.
func remembering(t *testing.T, limits memory.Limits, policy conversation.MemoryPolicy, test func(t *testing.T, b *bench, target *listener)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := newListener(limits)
		b := newRemembering(t, storemem.New(storemem.Options{}), target, policy, nil)
		b.create(t, "c", "ann", conversation.Policy{})
		test(t, b, target)
	})
}

var engines struct {
	sync.Mutex
	n uint64
}

// newRemembering is an engine with a memory and a sweeper, by the clock of the bubble.
func newRemembering(t *testing.T, s store.Store, target memory.Target, policy conversation.MemoryPolicy, change func(*engine.Options)) *bench {
	t.Helper()
	b, end := startRemembering(s, target, policy, change)
	t.Cleanup(end)
	return b
}

// startRemembering is newRemembering for one that ends before its test.
func startRemembering(s store.Store, target memory.Target, policy conversation.MemoryPolicy, change func(*engine.Options)) (b *bench, end func()) {
	b = &bench{store: s}
	engines.Lock()
	engines.n++
	number := engines.n
	engines.Unlock()
	policy.On = ptr(true)
	o := engine.Options{
		Store: s, Counters: []tokens.Counter{named{chars4.New(), "o200k"}}, Formats: []provider.Format{openaichat.New()},
		Clock: time.Now, Defaults: sliding(), Memory: engine.MemoryOf(target), OnError: func(error) {},
		IDs: func() conversation.ID {
			id := b.id()
			binary.BigEndian.PutUint64(id[:8], number)
			return id
		},
	}
	o.Defaults.Memory = policy
	if change != nil {
		change(&o)
	}
	b.Engine = engine.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.Run(ctx)
	}()
	return b, func() {
		cancel()
		<-done
		b.Close()
	}
}

func (b *bench) create(t *testing.T, id, actor string, p conversation.Policy) {
	t.Helper()
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf(id), Info: store.Info{ActorID: actor, Policy: p}}); err != nil {
		t.Fatal(err)
	}
}

// say appends words of the user's.
func (b *bench) say(t *testing.T, id string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		b.append(t, id, user(s))
	}
}

func (b *bench) syncOf(t *testing.T, id string) engine.MemorySync {
	t.Helper()
	list, err := b.MemorySync(ctx, keyOf(id))
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// pass lets time pass, and everything that is due then happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantSaid(t *testing.T, target *listener, want string) {
	t.Helper()
	if got := target.said(); got != want {
		t.Errorf("the target remembers %q, want %q", got, want)
	}
}

func counted(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("m%d", i))
	}
	return out
}

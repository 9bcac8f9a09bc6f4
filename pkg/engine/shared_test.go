package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// shared behaves like a server that several processes use: it has an epoch, and counts calls.
type shared struct {
	store.Store
	mu    sync.Mutex
	epoch string
	trips int
}

func (s *shared) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trips++
	snap, err := s.Store.Read(ctx, key, q)
	if err == nil {
		snap.Head.Epoch = s.epoch
	}
	return snap, err
}

func (s *shared) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trips++
	if c.Head.Epoch != "" && c.Head.Epoch != s.epoch {
		return store.ErrConflict
	}
	return s.Store.Commit(ctx, key, c)
}

// cost is how many trips a call takes.
func (s *shared) cost(call func()) int {
	s.mu.Lock()
	before := s.trips
	s.mu.Unlock()
	call()
	return s.trips - before
}

// TestEngine_Calls_Trips: what a call costs on a store that is a network away (docs/architecture.md).
func TestEngine_Calls_Trips(t *testing.T) {
	s := &shared{Store: memory.New(memory.Options{}), epoch: "1"}
	b := newBenchOn(s, 1<<20)
	b.append(t, "c", user("hello"))
	for range 30 {
		b.append(t, "c", text(conversation.RoleAssistant, words(50)), user("and?"))
	}
	b.build(t, "c", conversation.FormatNeutral, 500)
	for _, tt := range []struct {
		what string
		call func()
		want int
	}{
		{"append", func() { b.append(t, "c", user("x")) }, 1},
		{"append after a build", func() { b.build(t, "c", conversation.FormatNeutral, 500); b.append(t, "c", user("x")) }, 3},
		{"append with a request id", func() {
			r := engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("x")}, Request: engine.Request{RPC: "AppendMessage", ID: "1"}}
			if _, err := b.Append(ctx, r); err != nil {
				t.Fatal(err)
			}
		}, 2},
		{"warm build", func() { b.build(t, "c", conversation.FormatNeutral, 500) }, 2},
		{"cold build, its reads and its commit", func() {
			cold := newBenchOn(s, 0)
			cold.ids.Store(1 << 20)
			cold.build(t, "c", conversation.FormatNeutral, 500)
		}, 5}, // one of them for the namespace, once in a second
	} {
		if got := s.cost(tt.call); got != tt.want {
			t.Errorf("%s: %d trips, want %d", tt.what, got, tt.want)
		}
	}
}

// TestEngine_NewEpoch_AsACold: after a store has lost acknowledged commits, and made others with the same versions, a running sidecar sees
// the same as one that has just started.
func TestEngine_NewEpoch_AsACold(t *testing.T) {
	record := func(last string) (*memory.Store, *bench) {
		s := memory.New(memory.Options{})
		b := newBenchOn(s, 1<<20)
		b.append(t, "c", user("hello"), text(conversation.RoleAssistant, "yes?"))
		b.build(t, "c", conversation.FormatNeutral, 500)
		b.append(t, "c", user(last))
		b.build(t, "c", conversation.FormatNeutral, 500)
		return s, b
	}
	lost, _ := record("what is lost")
	kept, _ := record("what came instead")
	s := &shared{Store: lost, epoch: "1"}
	b := newBenchOn(s, 1<<20)
	b.ids.Store(1 << 20)
	before := b.build(t, "c", conversation.FormatNeutral, 500)
	if !shows(before, "what is lost") {
		t.Fatal("the window is not warm with it")
	}
	token := tokenOf(t, b)
	if _, err := (newBenchOn(kept, 0)).Build(ctx, engine.BuildRequest{Key: keyOf("c"), Budget: budgetOf(500)}); err != nil {
		t.Fatal(err)
	}
	s.Store, s.epoch = kept, "2"
	if got := b.append(t, "c", user("and now?")); got.Messages[0].Index != 3 {
		t.Errorf("index %d", got.Messages[0].Index)
	}
	warm := b.build(t, "c", conversation.FormatNeutral, 500)
	cold := newBenchOn(s, 0)
	cold.ids.Store(1 << 21)
	if again := cold.build(t, "c", conversation.FormatNeutral, 500); again.SHA256 != warm.SHA256 || shows(warm, "what is lost") || !shows(warm, "what came instead") {
		t.Errorf("warm: %+v, cold: %+v", warm.Messages, again.Messages)
	}
	err := b.Watch(ctx, keyOf("c"), token, func(engine.EventAt) error { return nil })
	if conversation.KindOf(err) != conversation.ResumeTokenExpired {
		t.Errorf("error is %v", err)
	}
}

// tokenOf is the resume token behind the last event that there is.
func tokenOf(t *testing.T, b *bench) (token string) {
	t.Helper()
	watching, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_ = b.Watch(watching, keyOf("c"), "", func(e engine.EventAt) error { token = e.Token; return nil })
	if token == "" {
		t.Fatal("no event")
	}
	return token
}

// TestEngine_Append_AfterAnotherProcess: what this process remembers of a conversation is only a guess.
func TestEngine_Append_AfterAnotherProcess(t *testing.T) {
	s := memory.New(memory.Options{})
	one, other := newBenchOn(s, 1<<20), newBenchOn(s, 1<<20)
	other.ids.Store(1 << 20)
	one.append(t, "c", user("1"))
	other.append(t, "c", user("2"))
	if r := one.append(t, "c", user("3")); r.Messages[0].Index != 2 {
		t.Errorf("index %d", r.Messages[0].Index)
	}
	if _, err := other.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	_, err := one.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("4")}})
	if conversation.KindOf(err) != conversation.ConversationDeleted {
		t.Errorf("error is %v", err)
	}
	want := int32(7)
	_, err = one.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("4")}, ExpectedIndex: &want})
	if conversation.KindOf(err) != conversation.ConversationDeleted {
		t.Errorf("error is %v", err)
	}
}

// TestEngine_Append_GuessOfACreated_HasNoEpoch: this process began the conversation without a read, so it does not know the epoch, and must
// read before it continues.
func TestEngine_Append_GuessOfACreated_HasNoEpoch(t *testing.T) {
	s := &shared{Store: memory.New(memory.Options{}), epoch: "1"}
	one := newBenchOn(s, 1<<20)
	one.append(t, "c", user("0"))
	one.append(t, "c", user("what is lost"))
	kept := memory.New(memory.Options{})
	other := newBenchOn(kept, 1<<20)
	other.append(t, "c", user("0"))
	other.append(t, "c", call("x"))
	s.Store, s.epoch = kept, "2"
	one.append(t, "c", user("2"))
	snap, err := kept.Read(ctx, keyOf("c"), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if snap.Head.Tokens == 0 || len(snap.Head.Unanswered) != 1 {
		t.Errorf("the open call on record is forgotten: %+v", snap.Head)
	}
}

// TestEngine_Append_WrongGuess_ResolvesAnew: the source and the lifetime of a result follow from what is on record and not from the guess.
func TestEngine_Append_WrongGuess_ResolvesAnew(t *testing.T) {
	s := memory.New(memory.Options{})
	withTools := func(ids uint64) *bench {
		b := newBenchOn(s, 1<<20)
		b.ids.Store(ids)
		b.Engine = engine.New(engine.Options{
			Store: s, Counters: []tokens.Counter{chars4.New(), named{chars4.New(), "o200k"}}, Clock: func() time.Time { return b.now }, IDs: b.id,
			Defaults: sliding(), OnError: func(err error) { panic(err) },
			Tools: map[string]conversation.ActionPolicy{
				"keep":   {Expiration: conversation.Expiration{Turns: ptr(int32(1000)), Mode: conversation.ExpirationCompact}},
				"forget": {Expiration: conversation.Expiration{Turns: ptr(int32(1)), Mode: conversation.ExpirationRemove}},
			},
		})
		return b
	}
	one, other := withTools(0), withTools(1<<20)
	of := func(tool string) conversation.Message {
		m := call("1")
		m.Parts[0].Call.Name = tool
		return m
	}
	one.append(t, "c", user("0"))
	one.append(t, "c", of("keep"))
	other.append(t, "c", result("1", "ok"))
	other.append(t, "c", of("forget"))
	r := one.append(t, "c", result("1", "secret"))
	if got := r.Messages[0].Parts[0].Result.Expiration; got == nil || got.Mode != conversation.ExpirationRemove {
		t.Errorf("a result of forget lives as %+v", got)
	}
}

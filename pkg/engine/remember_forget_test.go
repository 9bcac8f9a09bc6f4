package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	storemem "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// outboxKey is where what is to be forgotten lies.
var outboxKey = store.Key{Namespace: "memory:default", Conversation: "outbox"}

// errands are how many things wait to be forgotten.
func (b *bench) errands(t *testing.T) int {
	t.Helper()
	snap, err := b.store.Read(ctx, outboxKey, store.Query{SlotsOf: "errand/"})
	if err != nil {
		t.Fatal(err)
	}
	return len(snap.Slots)
}

func (b *bench) delete(t *testing.T, id string) {
	t.Helper()
	if _, err := b.Delete(ctx, keyOf(id), engine.Request{}); err != nil {
		t.Fatal(err)
	}
}

func TestMemories_Delete_ForgetsAndKeepsFacts(t *testing.T) {
	facts := immediate
	facts.Infer = ptr(true)
	saying := immediate
	saying.Infer = ptr(false)
	keep := facts
	keep.OnDelete = conversation.OnDeleteKeep
	keepSaid := saying
	keepSaid.OnDelete = conversation.OnDeleteKeep
	for name, c := range map[string]struct {
		policy conversation.MemoryPolicy
		left   string
	}{
		"facts":      {facts, ""},
		"said":       {saying, ""},
		"kept facts": {keep, "a"},
		"kept said":  {keepSaid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			remembering(t, mem0Like, c.policy, func(t *testing.T, b *bench, target *listener) {
				b.say(t, "c", "a")
				pass(3 * time.Second)
				wantSaid(t, target, "a")
				b.delete(t, "c")
				pass(10 * time.Minute)
				wantSaid(t, target, c.left)
				if n := b.errands(t); n != 0 {
					t.Errorf("%d errands are left", n)
				}
			})
		})
	}
}

// TestMemories_TTL_KeepsFacts: a conversation that expires leaves the facts that were learned, and nothing that was said.
func TestMemories_TTL_KeepsFacts(t *testing.T) {
	for infer, want := range map[bool]string{true: "a", false: ""} {
		policy := immediate
		policy.Infer = ptr(infer)
		remembering(t, embeddedLike, policy, func(t *testing.T, b *bench, target *listener) {
			b.create(t, "t", "ann", conversation.Policy{TTL: ptr(time.Hour)})
			b.say(t, "t", "a")
			pass(10 * time.Minute)
			wantSaid(t, target, "a")
			pass(time.Hour)
			wantSaid(t, target, want)
		})
	}
}

// TestMemories_Delete_DeadTargetHoldsNoRecords: its records are removed, and what the target must forget waits without them.
func TestMemories_Delete_DeadTargetHoldsNoRecords(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(3 * time.Second)
		target.Break(everyCall("Retract", memorytest.Fault{Before: &memory.UnavailableError{}}))
		incarnation := b.head(t, "c").Incarnation
		b.delete(t, "c")
		pass(time.Hour)
		snap, err := b.remains(incarnation)
		if err != nil || len(snap.Messages) != 0 {
			t.Fatalf("%d messages are left, %v", len(snap.Messages), err)
		}
		if n := strings.Count(target.asked(), "Retract"); n < 5 || n > 60 {
			t.Errorf("%d tries in an hour", n)
		}
		wantSaid(t, target, "a")
		b.create(t, "c", "ann", conversation.Policy{}) // another of the name
		b.say(t, "c", "new")
		target.Break(nil)
		pass(30 * time.Minute)
		wantSaid(t, target, "new")
		if n := b.errands(t); n != 0 {
			t.Errorf("%d errands are left", n)
		}
	})
}

// TestMemories_Delete_WhileSending: a batch that arrives after its conversation was deleted is taken back.
func TestMemories_Delete_WhileSending(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(30 * time.Second)
			}
			return memorytest.Fault{}
		})
		b.say(t, "c", "a")
		pass(3 * time.Second)
		b.delete(t, "c")
		pass(10 * time.Minute)
		wantSaid(t, target, "")
		if !strings.Contains(target.asked(), "Add Retract") {
			t.Error(target.asked())
		}
	})
}

// TestMemories_Delete_AnswerComesLate: the answer comes later than any call should take.
func TestMemories_Delete_AnswerComesLate(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(10 * time.Minute)
			}
			return memorytest.Fault{}
		})
		b.say(t, "c", "a")
		pass(3 * time.Second)
		b.delete(t, "c")
		pass(9 * time.Minute)
		if n := b.errands(t); n != 0 {
			t.Fatalf("%d errands", n)
		}
		pass(10 * time.Minute)
		wantSaid(t, target, "")
	})
}

// TestMemories_TTL_AnswerComesLate: a batch on its way while the conversation expires does not change what is kept.
func TestMemories_TTL_AnswerComesLate(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.create(t, "t", "ann", conversation.Policy{TTL: ptr(5 * time.Minute)})
		b.say(t, "t", "a")
		pass(time.Minute)
		wantSaid(t, target, "a")
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(7 * time.Minute)
			}
			return memorytest.Fault{}
		})
		b.say(t, "t", "b")
		pass(time.Hour)
		if got := target.said(); !strings.HasPrefix(got, "a") {
			t.Errorf("what was learned is gone: %q", got)
		}
	})
}

// TestMemories_Delete_SenderIsKilled: its batch arrives after another process deleted the conversation, and nobody receives the
// answer.
func TestMemories_Delete_SenderIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storemem.New(storemem.Options{})
		target := newListener(embeddedLike)
		mortal := &mortalStore{Store: s}
		first := newRemembering(t, mortal, target, immediate, nil)
		first.create(t, "c", "ann", conversation.Policy{})
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				mortal.dead.Store(true)
				time.Sleep(2 * time.Minute)
			}
			return memorytest.Fault{}
		})
		first.say(t, "c", "a")
		pass(3 * time.Second)
		newRemembering(t, s, target, immediate, nil).delete(t, "c")
		pass(90 * time.Second) // whoever looks before the deletion is committed looks again a minute later
		if !strings.Contains(target.asked(), "Retract") {
			t.Fatal("nothing was taken back yet")
		}
		pass(10 * time.Minute)
		wantSaid(t, target, "")
	})
}

func (b *bench) forget(t *testing.T, records bool) *engine.Forgetting {
	t.Helper()
	f, err := b.ForgetActor(ctx, "default", "ann", records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (b *bench) forgotten(t *testing.T, id string) *engine.Forgetting {
	t.Helper()
	f, err := b.Forget(ctx, "default", id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMemories_ForgetActor_Keep(t *testing.T) {
	remembering(t, mem0Like, immediate, func(t *testing.T, b *bench, target *listener) {
		b.create(t, "bob", "bob", conversation.Policy{})
		b.say(t, "bob", "bob's")
		b.say(t, "c", "old")
		pass(3 * time.Second)
		b.say(t, "c", "older") // waits
		pass(time.Second)
		f := b.forget(t, false)
		if f.State != 1 {
			t.Errorf("%+v", f)
		}
		pass(time.Second)
		b.say(t, "c", "new")
		pass(time.Minute)
		wantSaid(t, target, "bob's new")
		if got := b.forgotten(t, f.ID); got.State != 3 || got.Deleted != 1 || got.DoneTime.IsZero() {
			t.Errorf("%+v", got)
		}
		if _, err := b.Correct(ctx, engine.CorrectRequest{Key: keyOf("c"), Index: ptr(int32(0)), Parts: []engine.CorrectedPart{{Text: "OLD"}}}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		wantSaid(t, target, "bob's new")
		if h := b.head(t, "c"); h.State != store.Live {
			t.Error("the conversation is gone")
		}
		pass(31 * 24 * time.Hour)
		_, err := b.Forget(ctx, "default", f.ID)
		expect(t, err, conversation.ForgetNotFound)
	})
}

func TestMemories_ForgetActor_Delete(t *testing.T) {
	session := immediate
	session.SyncScope = conversation.MemoryScopeSession
	session.OnDelete = conversation.OnDeleteKeep
	for name, policy := range map[string]conversation.MemoryPolicy{"user": immediate, "session": session} {
		t.Run(name, func(t *testing.T) {
			remembering(t, embeddedLike, policy, func(t *testing.T, b *bench, target *listener) {
				b.create(t, "bob", "bob", conversation.Policy{})
				b.create(t, "d", "ann", conversation.Policy{})
				for _, id := range []string{"bob", "c", "d"} {
					b.say(t, id, "of "+id)
				}
				pass(3 * time.Second)
				f := b.forget(t, true)
				pass(5 * time.Minute)
				wantSaid(t, target, "of bob")
				if got := b.forgotten(t, f.ID); got.State != 3 || got.Conversations != 2 {
					t.Errorf("%+v", got)
				}
				for id, want := range map[string]store.State{"bob": store.Live, "c": store.Deleted, "d": store.Deleted} {
					if h := b.head(t, id); h.State != want {
						t.Errorf("%s: state %d", id, h.State)
					}
				}
			})
		})
	}
}

// TestMemories_ForgetActor_Again: a second call returns the errand in progress. If it asks for more, the errand does more.
func TestMemories_ForgetActor_Again(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(3 * time.Second)
		target.Break(everyCall("Forget", memorytest.Fault{Before: memory.ErrDenied}))
		f := b.forget(t, false)
		pass(time.Minute)
		if got := b.forgotten(t, f.ID); got.State != 4 {
			t.Errorf("%+v", got)
		}
		if again := b.forget(t, false); again.ID != f.ID {
			t.Errorf("%+v", again)
		}
		if more := b.forget(t, true); more.ID != f.ID {
			t.Errorf("%+v", more)
		}
		target.Break(nil)
		pass(10 * time.Minute)
		if got := b.forgotten(t, f.ID); got.State != 3 || got.Conversations != 1 {
			t.Errorf("%+v", got)
		}
		if next := b.forget(t, false); next.ID == f.ID {
			t.Error("what is done is under way")
		}
		pass(time.Minute)
	})
}

// TestMemories_ForgetActor_Verifies: a target that works in the background is checked again 10 minutes and an hour later.
func TestMemories_ForgetActor_Verifies(t *testing.T) {
	limits := embeddedLike
	limits.Async = true
	remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(time.Minute)
		f := b.forget(t, false)
		pass(9 * time.Minute)
		if got := b.forgotten(t, f.ID); got.State != 2 {
			t.Errorf("%+v", got)
		}
		// what was under way comes late
		if _, err := target.Reference.Add(ctx, &memory.Batch{
			Scope: memory.Scope{Namespace: "default", Kind: memory.ScopeUser, ID: "ann"}, Key: "late", Conversation: "c",
			Messages: []memory.Message{{Text: "late", Time: f.CreateTime.Add(-time.Hour)}},
		}); err != nil {
			t.Fatal(err)
		}
		_, _ = target.Settle(ctx, &memory.Batch{Scope: memory.Scope{Namespace: "default", Kind: memory.ScopeUser, ID: "ann"}, Key: "late"}) // time passes for it
		pass(5 * time.Minute)
		wantSaid(t, target, "")
		pass(50 * time.Minute)
		if got := b.forgotten(t, f.ID); got.State != 2 {
			t.Errorf("an hour has not passed since it was found again: %+v", got)
		}
		pass(20 * time.Minute)
		if got := b.forgotten(t, f.ID); got.State != 3 {
			t.Errorf("%+v", got)
		}
	})
}

// TestMemories_ForgetActor_WhileSending: what is under way is taken back after it.
func TestMemories_ForgetActor_WhileSending(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(30 * time.Second)
			}
			return memorytest.Fault{}
		})
		b.say(t, "c", "a")
		pass(3 * time.Second)
		f := b.forget(t, false)
		pass(5 * time.Minute)
		wantSaid(t, target, "")
		if got := b.forgotten(t, f.ID); got.State != 3 {
			t.Errorf("%+v", got)
		}
	})
}

// TestMemories_TwoEngines_OneSends: with two engines on one store, each batch is sent once and in order, whichever engine a
// message came to.
func TestMemories_TwoEngines_OneSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storemem.New(storemem.Options{})
		target := newListener(mem0Like)
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(700 * time.Millisecond)
			}
			return memorytest.Fault{}
		})
		quick := immediate
		quick.SyncDelay = ptr(100 * time.Millisecond)
		one, two := newRemembering(t, s, target, quick, nil), newRemembering(t, s, target, quick, nil)
		one.create(t, "c", "ann", conversation.Policy{})
		for i, text := range counted(60) {
			[]*bench{one, two}[i%2].say(t, "c", text)
			time.Sleep(130 * time.Millisecond)
		}
		pass(10 * time.Minute)
		wantSaid(t, target, strings.Join(counted(60), " "))
		if got := target.asked(); strings.Contains(got, "Settle") || strings.Contains(got, "Retract") {
			t.Error(got)
		}
	})
}

// TestMemories_LongCall_KeepsItsLease: the call takes longer than a lease, while another process watches.
func TestMemories_LongCall_KeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storemem.New(storemem.Options{})
		target := newListener(mem0Like)
		target.Break(func(call string) memorytest.Fault {
			if call == "Add" {
				time.Sleep(3 * time.Minute)
			}
			return memorytest.Fault{}
		})
		one, two := newRemembering(t, s, target, immediate, nil), newRemembering(t, s, target, immediate, nil)
		one.create(t, "c", "ann", conversation.Policy{})
		one.say(t, "c", "a")
		pass(time.Minute)
		two.say(t, "c", "b")
		pass(10 * time.Minute)
		wantSaid(t, target, "a b")
		if got := target.asked(); got != "Add Add" {
			t.Error(got)
		}
	})
}

// TestMemories_Restart_GoesOn: another process finds what a process leaves behind, waiting or under way.
func TestMemories_Restart_GoesOn(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"idempotent": embeddedLike, "not": mem0Like} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := storemem.New(storemem.Options{})
				target := newListener(limits)
				mortal := &mortalStore{Store: s}
				first := newRemembering(t, mortal, target, immediate, nil)
				first.create(t, "c", "ann", conversation.Policy{})
				first.create(t, "d", "ann", conversation.Policy{})
				target.Break(func(call string) memorytest.Fault {
					mortal.dead.Store(true) // killed right after the target took it
					return memorytest.Fault{}
				})
				first.say(t, "c", "a")
				pass(1900 * time.Millisecond)
				first.say(t, "d", "b")
				pass(time.Second)
				if !mortal.dead.Load() {
					t.Fatal("it lives")
				}
				target.Break(nil)
				newRemembering(t, s, target, immediate, nil)
				pass(5 * time.Minute)
				if got := target.said(); got != "a b" && got != "b a" {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

// mortalStore is the store of a process that may be killed: after that, nothing it does has an effect.
type mortalStore struct {
	store.Store
	dead  atomic.Bool
	calls atomic.Int64
	kill  atomic.Int64 // at this call
}

func (m *mortalStore) alive() error {
	n := m.calls.Add(1)
	if at := m.kill.Load(); at > 0 && n >= at {
		m.dead.Store(true)
	}
	if m.dead.Load() {
		return store.ErrClosed
	}
	return nil
}

func (m *mortalStore) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Store.Read(ctx, key, q)
}

func (m *mortalStore) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Commit(ctx, key, c)
}

func (m *mortalStore) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	if m.dead.Load() {
		return nil, store.ErrClosed
	}
	return m.Store.Due(ctx, until, limit)
}

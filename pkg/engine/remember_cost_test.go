package engine_test

import (
	"context"
	"fmt"
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
	"github.com/palimpsest-context/palimpsest/pkg/store/move"
)

// counting is a store that counts calls.
type counting struct {
	store.Store
	reads, commits, slots atomic.Int64
}

func (c *counting) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	c.reads.Add(1)
	return c.Store.Read(ctx, key, q)
}

func (c *counting) Commit(ctx context.Context, key store.Key, change *store.Change) error {
	c.commits.Add(1)
	c.slots.Add(int64(len(change.Slots)))
	return c.Store.Commit(ctx, key, change)
}

func (c *counting) counts() string {
	return fmt.Sprint(c.reads.Load(), " reads, ", c.commits.Load(), " commits, ", c.slots.Load(), " slots")
}

// TestMemories_Append_CostsNoCalls: with a memory, an append makes no more calls of the store, and writes no more, than without one.
func TestMemories_Append_CostsNoCalls(t *testing.T) {
	run := func(target memory.Target) (counts string) {
		synctest.Test(t, func(t *testing.T) {
			s := &counting{Store: storemem.New(storemem.Options{})}
			b := newRemembering(t, s, target, conversation.MemoryPolicy{Sync: conversation.SyncEndOfSession}, nil)
			b.create(t, "c", "ann", conversation.Policy{})
			b.say(t, "c", "the first one of a process finds out since when the store knows the target")
			synctest.Wait()
			s.reads.Store(0)
			s.commits.Store(0)
			s.slots.Store(0)
			for i := range 100 {
				if _, err := b.Append(ctx, engine.AppendRequest{
					Key: keyOf("c"), Messages: []conversation.Message{user("a")}, Request: request("AppendMessage", fmt.Sprint(i), "a"),
				}); err != nil {
					t.Fatal(err)
				}
				b.say(t, "c", "b")
			}
			counts = s.counts()
		})
		return counts
	}
	without := run(nil)
	dead := newListener(embeddedLike)
	dead.Break(everyCall("Add", memorytest.Fault{Before: &memory.UnavailableError{}}))
	if with := run(dead); with != without {
		t.Errorf("with a memory %s, without %s", with, without)
	}
}

// TestMemories_DeadTarget_CostsLittle: a target that is unavailable for hours is asked now and then on behalf of all conversations, the
// sweeper does little for each, and nothing is lost.
func TestMemories_DeadTarget_CostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counting{Store: storemem.New(storemem.Options{})}
		target := newListener(embeddedLike)
		target.Break(everyCall("Add", memorytest.Fault{Before: &memory.UnavailableError{}}))
		b := newRemembering(t, s, target, immediate, nil)
		const conversations, hours = 200, 5
		for i := range conversations {
			id := fmt.Sprint("c", i)
			b.create(t, id, "ann", conversation.Policy{})
			b.say(t, id, id)
		}
		before := s.commits.Load()
		pass(hours * time.Hour)
		if n := len(target.sent()); n > 200 {
			t.Errorf("the target was asked %d times in %d hours", n, hours)
		}
		if n := s.commits.Load() - before; n > conversations*hours*5 {
			t.Errorf("%d commits in %d hours", n, hours)
		}
		if got := b.MemoryWaiting(); got == 0 {
			t.Error("nothing waits")
		}
		target.Break(nil)
		pass(time.Hour)
		if n := len(target.texts()); n != conversations {
			t.Errorf("%d of %d messages arrived", n, conversations)
		}
		if got := b.MemoryWaiting(); got != 0 {
			t.Errorf("%d conversations wait", got)
		}
		pass(48 * time.Hour) // until nothing else is due
		before = s.commits.Load()
		pass(24 * time.Hour)
		if n := s.commits.Load() - before; n != 0 {
			t.Errorf("%d commits while nothing happens", n)
		}
	})
}

// TestMemories_NewTarget_BeginsNow: messages from before the store knew the target are only sent on request.
func TestMemories_NewTarget_BeginsNow(t *testing.T) {
	for _, backfill := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := storemem.New(storemem.Options{})
			b, end := startRemembering(s, nil, immediate, nil)
			b.create(t, "c", "ann", conversation.Policy{})
			b.say(t, "c", "old")
			pass(time.Hour)
			end()
			target := newListener(embeddedLike)
			change := func(o *engine.Options) { o.MemoryBackfill = backfill }
			b, end = startRemembering(s, target, immediate, change)
			b.say(t, "c", "new")
			pass(time.Second)
			end() // before anything was sent
			pass(time.Hour)
			b, end = startRemembering(s, target, immediate, change)
			defer end()
			b.say(t, "c", "newer")
			pass(time.Minute)
			want := "new newer"
			if backfill {
				want = "old new newer"
			}
			wantSaid(t, target, want)
		})
	}
}

// TestMemories_LongSession_GoesInBatches: all of an ended session is sent, in however many batches, and nothing of the next one.
func TestMemories_LongSession_GoesInBatches(t *testing.T) {
	limits := embeddedLike
	limits.MaxMessages = 4
	remembering(t, limits, conversation.MemoryPolicy{Sync: conversation.SyncEndOfSession}, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", counted(10)...)
		if _, _, err := b.EndSession(ctx, keyOf("c")); err != nil {
			t.Fatal(err)
		}
		b.say(t, "c", "x")
		pass(time.Minute)
		wantSaid(t, target, strings.Join(counted(10), " "))
		pass(31 * time.Minute)
		wantSaid(t, target, strings.Join(append(counted(10), "x"), " "))
		b.say(t, "c", counted(10)...)
		pass(31 * time.Minute)
		if n := len(target.texts()); n != 21 {
			t.Errorf("%d messages after an idle session", n)
		}
	})
}

// TestMemories_EndSession_OutlivesTheProcess: another process sends the rest.
func TestMemories_EndSession_OutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storemem.New(storemem.Options{})
		target := newListener(embeddedLike)
		policy := conversation.MemoryPolicy{Sync: conversation.SyncEndOfSession}
		mortal := &mortalStore{Store: s}
		first := newRemembering(t, mortal, target, policy, nil)
		first.create(t, "c", "ann", conversation.Policy{})
		first.say(t, "c", "a")
		target.Break(func(string) memorytest.Fault {
			mortal.dead.Store(true)
			return memorytest.Fault{Before: &memory.UnavailableError{}}
		})
		_, _, _ = first.EndSession(ctx, keyOf("c"))
		synctest.Wait()
		target.Break(nil)
		newRemembering(t, s, target, policy, nil)
		pass(3 * time.Minute)
		wantSaid(t, target, "a")
	})
}

// BenchmarkMemories_Append_DeadTarget compares appends with a target that is away with appends without one.
func BenchmarkMemories_Append_DeadTarget(b *testing.B) {
	dead := newListener(embeddedLike)
	dead.Break(everyCall("Add", memorytest.Fault{Before: &memory.UnavailableError{}}))
	for name, target := range map[string]memory.Target{"none": nil, "dead": dead} {
		b.Run(name, func(b *testing.B) {
			e, end := startRemembering(storemem.New(storemem.Options{}), target, conversation.MemoryPolicy{}, nil)
			defer end()
			info := store.Info{ActorID: "ann"}
			for i := range 100 {
				if _, err := e.Create(ctx, engine.CreateRequest{Key: keyOf(fmt.Sprint(i)), Info: info}); err != nil {
					b.Fatal(err)
				}
			}
			for i := 0; b.Loop(); i++ {
				e.append(b, fmt.Sprint(i%100), user("a message of a few words, as users write them"))
			}
		})
	}
}

// TestMemories_MovedStore_GoesOn: what waits to be sent and to be forgotten moves with everything else.
func TestMemories_MovedStore_GoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := storemem.New(storemem.Options{}), storemem.New(storemem.Options{})
		target := newListener(mem0Like)
		b, end := startRemembering(from, target, immediate, nil)
		for _, id := range []string{"c", "d"} {
			b.create(t, id, "ann", conversation.Policy{})
			b.say(t, id, "of "+id)
		}
		pass(time.Minute)
		target.Break(everyCall("Retract", memorytest.Fault{Before: &memory.UnavailableError{}}))
		b.delete(t, "d")
		b.say(t, "c", "waits")
		pass(time.Second)
		end()
		target.Break(nil)
		if _, err := move.Copy(ctx, from, to, move.Options{}); err != nil {
			t.Fatal(err)
		}
		newRemembering(t, to, target, immediate, nil)
		pass(30 * time.Minute)
		wantSaid(t, target, "of c waits")
		if strings.Contains(target.asked(), "Settle") {
			t.Error(target.asked())
		}
	})
}

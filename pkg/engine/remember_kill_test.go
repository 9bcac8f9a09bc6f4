package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// kills is how often processes are killed: a few by default, many by make faults.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("PALIMPSEST_FAULT_ROUNDS")); err == nil {
		return n
	}
	return 40
}

// TestMemories_Kills_LoseNothing: processes are killed at any of their store's calls, while the target loses answers and is unavailable at
// times. No message is lost, the order is kept, and none is there twice, even if the target recognizes a repeated batch only by its key.
func TestMemories_Kills_LoseNothing(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"idempotent": embeddedLike, "not": mem0Like} {
		for _, rewinds := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", rewinds ", rewinds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := &killing{
						T: t, random: rand.New(rand.NewPCG(16, uint64(len(name)))), store: storemem.New(storemem.Options{}), target: newListener(limits),
						rewinds: rewinds,
					}
					k.run()
				})
			})
		}
	}
}

// killing is processes that are killed one after the other.
type killing struct {
	*testing.T
	mu      sync.Mutex
	random  *rand.Rand
	store   store.Store
	target  *listener
	rewinds bool
	said    int
}

func (k *killing) chance(percent int) bool { return k.below(100) < percent }

func (k *killing) below(n int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.random.IntN(n)
}

const killedConversations = 3

func (k *killing) policy() conversation.MemoryPolicy {
	return conversation.MemoryPolicy{Sync: conversation.SyncImmediate, SyncDelay: ptr(200 * time.Millisecond), Infer: ptr(false)}
}

// fault is what befalls a call of the target.
func (k *killing) fault(string) memorytest.Fault {
	time.Sleep(time.Duration(k.below(300)) * time.Millisecond)
	switch {
	case k.chance(15):
		return memorytest.Fault{After: memory.ErrOutcomeUnknown}
	case k.chance(10):
		return memorytest.Fault{Before: &memory.UnavailableError{Cause: "429"}}
	default:
		return memorytest.Fault{}
	}
}

func (k *killing) run() {
	k.target.Break(k.fault)
	for range kills() {
		k.live()
		pass(time.Duration(k.below(120)) * time.Second)
	}
	k.target.Break(nil)
	b := newRemembering(k.T, k.store, k.target, k.policy(), nil)
	pass(2 * time.Hour)
	for c := range killedConversations {
		k.check(b, fmt.Sprint("c", c))
	}
}

// live is the life of one process.
func (k *killing) live() {
	mortal := &mortalStore{Store: k.store}
	b, kill := startRemembering(mortal, k.target, k.policy(), nil)
	defer kill()
	mortal.kill.Store(int64(10 + k.below(150)))
	for !mortal.dead.Load() {
		id := fmt.Sprint("c", k.below(killedConversations))
		_, _ = b.Create(ctx, engine.CreateRequest{Key: keyOf(id), Info: store.Info{ActorID: "ann"}})
		var messages []conversation.Message
		for range 1 + k.below(3) {
			k.said++
			messages = append(messages, user(fmt.Sprint("w", k.said)))
		}
		_, _ = b.Append(ctx, engine.AppendRequest{Key: keyOf(id), Messages: messages})
		if k.rewinds && k.chance(10) {
			if snap, err := k.store.Read(ctx, keyOf(id), store.Query{}); err == nil && snap.Head.Messages > 3 {
				_, _ = b.Rewind(ctx, engine.RewindRequest{Key: keyOf(id), From: snap.Head.Messages - int32(1+k.below(3))})
			}
			if k.chance(50) {
				pass(time.Duration(k.below(2000)) * time.Millisecond)
				_, _ = b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf(id)})
			}
		}
		pass(time.Duration(k.below(600)) * time.Millisecond)
	}
}

// check compares what the target has of a conversation with the record.
func (k *killing) check(b *bench, id string) {
	var want, got []string
	for _, m := range b.shown(k.T, id) {
		want = append(want, m.Parts[0].Text.Inline)
	}
	for _, m := range k.target.All() {
		if m.Sources[0].Conversation == id {
			got = append(got, m.Text)
		}
	}
	if k.rewinds { // what is brought back comes late
		got, want = sorted(got), sorted(want)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		k.Errorf("%s: the target lacks %s, and has beside it %s, of %d messages", id, less(want, got), less(got, want), len(want))
	}
	if len(want) < 10 {
		k.Errorf("%s: only %d messages", id, len(want))
	}
}

// shown are the messages that no rewind took back.
func (b *bench) shown(t *testing.T, id string) (out []conversation.Message) {
	t.Helper()
	snap, err := b.store.Read(ctx, keyOf(id), store.Query{Edits: &store.EditRange{}})
	if err != nil {
		t.Fatal(err)
	}
	view := (&conversation.View{}).Fold(snap.Edits)
	for _, m := range b.records(t, id) {
		if !view.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}) {
			out = append(out, m)
		}
	}
	return out
}

// less is a list without what another has, each as often as it is there.
func less(list, other []string) (out []string) {
	left := map[string]int{}
	for _, s := range other {
		left[s]++
	}
	for _, s := range list {
		if left[s]--; left[s] < 0 {
			out = append(out, s)
		}
	}
	return out
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

package redis_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// roundsVariable says how often servers are killed.
const roundsVariable = "PALIMPSEST_FAULT_ROUNDS"

func rounds(t *testing.T, fewest, most int) int {
	t.Helper()
	asked := os.Getenv(roundsVariable)
	if asked == "" {
		return fewest
	}
	n, err := strconv.Atoi(asked)
	must(t, err)
	return min(n, most)
}

// load is writers that append to conversations of their own until a context is done.
type load struct {
	talks []*talk
	// unknown counts commits whose outcome nobody knows.
	mu           sync.Mutex
	acknowledged int
	unknown      int
}

func newLoad(writers int) *load {
	l := &load{}
	for i := range writers {
		l.talks = append(l.talks, newTalk(i))
	}
	return l
}

// run appends, and reads again where something was amiss, as the engine does.
func (l *load) run(ctx context.Context, t *testing.T, s store.Store) {
	var writers sync.WaitGroup
	for _, k := range l.talks {
		writers.Go(func() {
			for ctx.Err() == nil {
				switch err := k.append(ctx, s); {
				case err == nil:
					l.count(&l.acknowledged)
				case errors.Is(err, store.ErrOutcomeUnknown):
					l.count(&l.unknown)
					k.read(ctx, t, s)
				case errors.Is(err, store.ErrUnavailable), ctx.Err() != nil:
					time.Sleep(time.Millisecond)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}

func (l *load) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// read takes over what is on record, which must have all that was acknowledged.
func (k *talk) read(ctx context.Context, t *testing.T, s store.Store) {
	for ctx.Err() == nil {
		snap, err := s.Read(ctx, k.key, store.Query{})
		if err == nil {
			if snap.Head.Version < k.head.Version {
				t.Errorf("%s is at version %d, and %d was acknowledged", k.key.Conversation, snap.Head.Version, k.head.Version)
			}
			k.head = snap.Head
			k.head.Epoch = ""
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// lost compares the record with what was acknowledged, and returns how many appends are gone. No append may be there twice,
// or in part.
func (l *load) lost(t *testing.T, s store.Store) (lost int) {
	t.Helper()
	for _, k := range l.talks {
		snap, err := s.Read(t.Context(), k.key, store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}})
		if errors.Is(err, store.ErrNotFound) {
			lost += int(k.head.Messages)
			k.head = newTalk(0).head
			continue
		}
		must(t, err)
		lost += max(int(k.head.Messages)-int(snap.Head.Messages), 0)
		if len(snap.Messages) != int(snap.Head.Messages) || snap.Head.Version != uint64(snap.Head.Messages) {
			t.Errorf("version %d, %d messages in the head, %d on record", snap.Head.Version, snap.Head.Messages, len(snap.Messages))
		}
		for i := range snap.Messages {
			if snap.Messages[i].ID != strconv.Itoa(i+1) {
				t.Errorf("message %d is %s", i, snap.Messages[i].ID)
			}
		}
		k.head = snap.Head
		k.head.Epoch = ""
	}
	return lost
}

func TestStore_Kill_AppendfsyncAlways_LosesNothing(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t, "--appendfsync", "always")
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
	random := rand.New(rand.NewPCG(proptest.Seed(t), 0))
	l := newLoad(8)
	n := rounds(t, 3, 20)
	for range n {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.run(ctx, t, s) })
		time.Sleep(time.Duration(50+random.IntN(200)) * time.Millisecond)
		r.Kill()
		must(t, r.Start())
		time.Sleep(50 * time.Millisecond)
		cancel()
		running.Wait()
		var lost int
		eventually(t, func() error { _, err := s.Read(t.Context(), l.talks[0].key, store.Query{}); return err })
		if lost = l.lost(t, s); lost > 0 {
			t.Fatalf("%d acknowledged appends are gone", lost)
		}
	}
	t.Logf("%d kills, %d appends acknowledged, %d unknown, 0 lost", n, l.acknowledged, l.unknown)
}

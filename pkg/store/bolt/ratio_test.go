package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The bars: appends, which read a name and a head and write a message and a head, compared with bare commits of one value
// by the same writer. Lone appends and lone bare commits have a bar too; the disk dominates both.
const (
	barMany = 0.6
	barLone = 0.6

	ratioConversations = 10_000
	ratioRounds        = 3
)

// load is one side of the comparison: n writes of 1 KiB, each to a conversation that is drawn at random.
type load struct {
	s      *Store
	write  func(conv int, text string) error
	locks  []sync.Mutex
	counts []int32
}

func newLoad(b *testing.B) *load {
	s, err := Open(filepath.Join(b.TempDir(), "ratio.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return &load{s: s, locks: make([]sync.Mutex, ratioConversations), counts: make([]int32, ratioConversations)}
}

func newAppends(b *testing.B) *load {
	l := newLoad(b)
	l.write = func(conv int, text string) error {
		n := l.counts[conv]
		change := appendChange(conv, n, text)
		l.counts[conv]++
		return l.s.Commit(context.Background(), ratioKey(conv), change)
	}
	l.run(b, 256, ratioConversations, func(i int) int { return i })
	return l
}

// newBare puts one value under conversation and index, in the buckets and with the writer of the store.
func newBare(b *testing.B) *load {
	l := newLoad(b)
	l.write = func(conv int, text string) error {
		id := ratioID(conv)
		key := binary.BigEndian.AppendUint32(id[:], uint32(l.counts[conv]))
		l.counts[conv]++
		return l.s.submit(context.Background(), store.Key{}, func(t *tx) error { return t.record().Put(key, []byte(text)) })
	}
	l.run(b, 256, ratioConversations, func(i int) int { return i })
	return l
}

func ratioKey(conv int) store.Key {
	return store.Key{Namespace: "default", Conversation: fmt.Sprintf("conversation-%06d", conv)}
}

func ratioID(conv int) conversation.ID {
	var id conversation.ID
	r := rand.New(rand.NewPCG(uint64(conv), 1))
	binary.BigEndian.PutUint64(id[:8], r.Uint64())
	binary.BigEndian.PutUint64(id[8:], r.Uint64())
	return id
}

func appendChange(conv int, n int32, text string) *store.Change {
	now := time.Unix(1_800_000_000, int64(n))
	return &store.Change{
		Expect: uint64(n),
		Head: store.Head{
			Incarnation: ratioID(conv), Version: uint64(n) + 1, Revision: int64(n) + 1, Messages: n + 1, Tokens: 250,
			Request: -1, UnitStart: n, CreateTime: now, UpdateTime: now,
		},
		Messages: []conversation.Message{{
			Index: n, Role: conversation.RoleUser, CreateTime: now, Tokens: 250, Commit: uint64(n) + 1,
			Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: text}, Tokens: 246}},
		}},
	}
}

// run makes n writes by some callers and returns how many it made per second.
func (l *load) run(b *testing.B, callers, n int, pick func(int) int) float64 {
	b.Helper()
	text, r := make([]byte, 1024), rand.New(rand.NewPCG(1, 3))
	for i := range text { // noise, so that no side gains by compression
		text[i] = byte(r.Uint32())
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				conv := pick(i)
				l.locks[conv].Lock()
				err := l.write(conv, string(text))
				l.locks[conv].Unlock()
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(start).Seconds()
}

func anywhere(i int) int { return rand.New(rand.NewPCG(uint64(i), 2)).IntN(ratioConversations) }

// compare measures both sides in turn, and takes the best round of each.
func compare(b *testing.B, callers, n int, bar float64) {
	appends, bare := newAppends(b), newBare(b)
	var ours, theirs float64
	for b.Loop() {
		for range ratioRounds {
			theirs = max(theirs, bare.run(b, callers, n, anywhere))
			ours = max(ours, appends.run(b, callers, n, anywhere))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours, "appends/s")
	b.ReportMetric(theirs, "bare/s")
	b.ReportMetric(ours/theirs, "ratio")
	if ours/theirs < bar {
		b.Errorf("ratio %.2f, and the bar is %.2f", ours/theirs, bar)
	}
}

func BenchmarkRatio_Append(b *testing.B) { compare(b, 256, 20_000, barMany) }

func BenchmarkRatio_LoneAppend(b *testing.B) { compare(b, 1, 2_000, barLone) }

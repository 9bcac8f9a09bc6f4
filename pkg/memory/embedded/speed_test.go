package embedded_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
)

// large is an actor with many messages, the recorded dialogues over and over, and requests about them.
func large(t testing.TB, w *world, messages int) (s memory.Scope, questions []string) {
	t.Helper()
	o := w.options()
	o.MaxMessages, o.Extract = messages, nil
	target, s := w.with(o), user("large")
	dialogues := recorded[dialogue](t, "locomo10", "conversations.jsonl")
	batch, n := &memory.Batch{}, 0
	for round := 0; n < messages; round++ {
		for _, d := range dialogues {
			for i, m := range d.Messages {
				if len(batch.Messages) == 100 || i == 0 || n == messages {
					if len(batch.Messages) > 0 {
						add(t, target, batch)
					}
					batch = talk(s, fmt.Sprint(d.ID, "-", round), 0, day(0))
				}
				if n == messages {
					return s, questions
				}
				batch.Messages = append(batch.Messages, memory.Message{
					Index: int32(i), Role: conversation.RoleUser, Name: m.Name, Text: m.Content, Time: day(0).Add(time.Duration(n) * time.Second),
				})
				n++
			}
			if round == 0 {
				for _, q := range d.QA {
					questions = append(questions, q.Question)
				}
			}
		}
	}
	return s, questions
}

// timed asks and returns how long each search took, shortest first.
func timed(t testing.TB, target memory.Target, s memory.Scope, questions []string) (took []time.Duration) {
	t.Helper()
	for _, q := range questions {
		began := time.Now()
		_, err := target.Search(t.Context(), s, &memory.Query{Text: q, Limit: 10, Floor: floor, Now: day(60)})
		must(t, err)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

func p99(took []time.Duration) time.Duration { return took[len(took)*99/100] }

func TestSearch_10000Messages_AreFast(t *testing.T) {
	testlane.Speed(t)
	w := memoryWorld(t)
	s, questions := large(t, w, 10_000)
	target := w.process()
	took := timed(t, target, s, questions[:500])
	t.Logf("p50 %v, p99 %v, longest %v; at most 50 ms", took[len(took)/2], p99(took), took[len(took)-1])
	if p99(took) > 50*time.Millisecond {
		t.Error("searches are slow")
	}
	var fresh []time.Duration
	for i := range 100 {
		fresh = append(fresh, timed(t, w.process(), s, questions[i:i+1])...)
	}
	slices.Sort(fresh)
	t.Logf("in a fresh process: p50 %v, p99 %v; at most 300 ms", fresh[50], p99(fresh))
	if p99(fresh) > 300*time.Millisecond {
		t.Error("first searches are slow")
	}
}

func TestSearch_100000Messages_AreFastAndSmall(t *testing.T) {
	testlane.Speed(t)
	w := memoryWorld(t)
	s, questions := large(t, w, 100_000)
	o, kept := w.options(), newShelf()
	o.Cache, o.MaxMessages = kept, 100_000
	target := w.with(o)
	before := heap()
	_ = timed(t, target, s, questions[:1])
	held := heap() - before
	took := timed(t, target, s, questions[:300])
	said := kept.bytes[embedded.Partition(s)]
	stats, err := target.Stats(t.Context(), s)
	must(t, err)
	t.Logf("p50 %v, p99 %v; at most 150 ms; %d bytes are held, %d said, %d stored in %d segments; at most 64 MiB",
		took[len(took)/2], p99(took), held, said, stats.Bytes, stats.Segments)
	if p99(took) > 150*time.Millisecond || held > 64<<20 || stats.Messages != 100_000 {
		t.Error("searches are slow, or the index is large")
	}
	if said < held*9/10 || said > held*13/10 {
		t.Error("the cache is told another size")
	}
	runtime.KeepAlive(target)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Bench measures a back end: appends of a lone caller and of many, and the reads that a build makes.
func Bench(b *testing.B, open Factory) {
	b.Helper()
	b.Run("Append_Lone", func(b *testing.B) { benchAppend(b, open, 1, 1) })
	b.Run("Append_256Callers_10000Conversations", func(b *testing.B) { benchAppend(b, open, 256, 10_000) })
	b.Run("Read_Head", func(b *testing.B) {
		benchRead(b, open, func(*store.Head) store.Query { return store.Query{} })
	})
	b.Run("Read_NotNewer", func(b *testing.B) {
		benchRead(b, open, func(h *store.Head) store.Query { return store.Query{IfNewer: h.Version} })
	})
	b.Run("Read_Window100", func(b *testing.B) {
		benchRead(b, open, func(h *store.Head) store.Query {
			window := conversation.Range{First: h.Messages - 100, End: h.Messages}
			return store.Query{
				Ranges: []store.MessageRange{{Range: window}}, Edits: &store.EditRange{Of: []conversation.Range{window}},
			}
		})
	})
	b.Run("Read_Since", func(b *testing.B) {
		benchRead(b, open, func(h *store.Head) store.Query {
			return store.Query{Since: &store.Since{Version: h.Version - 1, Limit: 100}}
		})
	})
}

// writer appends to one conversation.
type writer struct {
	mu   sync.Mutex
	key  store.Key
	head store.Head
}

func newWriters(n int) []*writer {
	out := make([]*writer, n)
	for i := range out {
		var id conversation.ID
		binary.BigEndian.PutUint64(id[:], uint64(i+1)*0x9e3779b97f4a7c15)
		out[i] = &writer{
			key:  store.Key{Namespace: "default", Conversation: fmt.Sprintf("conversation-%06d", i)},
			head: store.Head{Incarnation: id, Request: -1, CreateTime: start(), UpdateTime: start()},
		}
	}
	return out
}

func (w *writer) append(ctx context.Context, s store.Store, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := talk{head: w.head}
	c := say(k.change(), 250)
	c.Messages[0].Parts[0].Text.Inline = text
	err := s.Commit(ctx, w.key, c)
	if err == nil {
		w.head = c.Head
	}
	return err
}

func openBench(b *testing.B, open Factory) store.Store {
	s := open(b, b.TempDir())
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func benchAppend(b *testing.B, open Factory, callers, conversations int) {
	s, writers, text := openBench(b, open), newWriters(conversations), noise(1024)
	run := func(n int, pick func(int) int) {
		var next atomic.Int64
		together(callers, func(int) {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := writers[pick(i)].append(b.Context(), s, text); err != nil {
					b.Error(err)
				}
			}
		})
	}
	run(conversations, func(i int) int { return i }) // each begins once
	b.ResetTimer()
	run(b.N, func(i int) int { return rand.New(rand.NewPCG(uint64(i), 1)).IntN(conversations) })
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

func benchRead(b *testing.B, open Factory, query func(*store.Head) store.Query) {
	s, w, text := openBench(b, open), newWriters(1)[0], noise(1024)
	k := talk{head: w.head}
	for range 10 {
		c := k.change()
		for range 100 {
			say(c, 250).Messages[len(c.Messages)-1].Parts[0].Text.Inline = text
		}
		edit(c, conversation.EditMask, c.Head.Messages-1, c.Head.Messages)
		if err := s.Commit(b.Context(), w.key, c); err != nil {
			b.Fatal(err)
		}
		k.head = c.Head
	}
	q := query(&k.head)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(b.Context(), w.key, q); err != nil {
			b.Fatal(err)
		}
	}
}

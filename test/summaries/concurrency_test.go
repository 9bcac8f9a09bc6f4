package summaries

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// patient is a model that takes its time, and counts.
type patient struct{ calls atomic.Int64 }

// Complete implements summarize.Model.
func (p *patient) Complete(context.Context, summarize.Call) (summarize.Answer, error) {
	p.calls.Add(1)
	time.Sleep(2 * time.Millisecond)
	return summarize.Answer{Text: summed("short"), InputTokens: 1, OutputTokens: 1}, nil
}

const (
	callers = 32
	crowds  = 4 // conversations
	rounds  = 500
)

// TestEngine_ManyCallers_OneSummaryPerContent lets callers build, append, expand and read at a time on the same conversations.
func TestEngine_ManyCallers_OneSummaryPerContent(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		crowd(t, memory.New(memory.Options{}), rounds)
	})
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		s, err := bolt.Open(filepath.Join(t.TempDir(), "c.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		crowd(t, s, rounds/10) // it flushes every commit
	})
}

// crowded is one conversation that many use.
type crowded struct {
	key     engine.Key
	mu      sync.Mutex
	indices map[int32]bool
	builds  []*engine.BuildResult
}

func crowd(t *testing.T, s store.Store, rounds int) {
	model := &patient{}
	w := newWorld(s, model)
	defer func() {
		w.desk.Close()
		_ = s.Close()
	}()
	if testing.Short() {
		rounds /= 5
	}
	var all []*crowded
	for i := range crowds {
		all = append(all, w.crowded(t, fmt.Sprintf("c%d", i)))
	}
	var working sync.WaitGroup
	for n := range callers {
		working.Go(func() {
			for r := range rounds / callers * 2 {
				c := all[(n+r)%crowds]
				if err := w.act(c, n, r); err != nil {
					t.Errorf("caller %d, round %d: %v", n, r, err)
					return
				}
			}
		})
	}
	working.Wait()
	for _, c := range all {
		w.settled(t, c)
	}
	if want := int64(crowds * results); model.calls.Load() != want {
		t.Errorf("the model was called %d times for %d contents", model.calls.Load(), want)
	}
}

const results = 3

func (w *world) crowded(t *testing.T, name string) *crowded {
	t.Helper()
	c := &crowded{key: engine.Key{Namespace: "default", Conversation: name}, indices: map[int32]bool{}}
	w.begun(t, c.key, 3*time.Second)
	for i := range results - 1 {
		w.say(t, c.key, exchange(fmt.Sprint("more", i), output(fmt.Sprint(name, i)))...)
	}
	w.say(t, c.key, text(conversation.RoleUser, "all of that"))
	return c
}

// act does one of the things that callers do.
func (w *world) act(c *crowded, n, r int) error {
	switch (n + r) % 4 {
	case 0, 1:
		got, err := w.Build(context.Background(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic})
		if err == nil {
			c.mu.Lock()
			c.builds = append(c.builds, got)
			c.mu.Unlock()
		}
		return contended(err)
	case 2:
		got, err := w.Append(context.Background(), engine.AppendRequest{
			Key: c.key, Messages: []conversation.Message{text(conversation.RoleUser, fmt.Sprintf("%d of %d", r, n))},
		})
		if err != nil {
			return contended(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if i := got.Messages[0].Index; c.indices[i] {
			return fmt.Errorf("index %d was given twice", i)
		}
		c.indices[got.Messages[0].Index] = true
		return nil
	default:
		index := int32(4)
		_, err := w.Expand(context.Background(), engine.ExpandRequest{Key: c.key, Index: &index, ReturnOnly: true})
		return err
	}
}

// contended forgives what a caller may be told who meets many others.
func contended(err error) error {
	if conversation.KindOf(err) == conversation.Contention {
		return nil
	}
	return err
}

// settled looks at a conversation when all have left.
func (w *world) settled(t *testing.T, c *crowded) {
	t.Helper()
	last := w.buildNext(t, c)
	c.builds = append(c.builds, last)
	for i := range c.indices {
		if m, err := w.Message(t.Context(), c.key, i); err != nil || m.Message.Index != i {
			t.Errorf("message %d is lost: %v", i, err)
		}
	}
	made := map[int32]int{}
	err := w.Export(t.Context(), c.key, func(r engine.Record) error {
		if r.Edit != nil {
			made[r.Edit.Range.First]++
		}
		return nil
	})
	if err != nil || len(made) != results {
		t.Errorf("%s: %d messages were edited, %d were due (%v)", c.key.Conversation, len(made), results, err)
	}
	for index, n := range made {
		if n != 1 {
			t.Errorf("%s: message %d was edited %d times", c.key.Conversation, index, n)
		}
	}
	for _, b := range c.builds {
		again, err := w.Manifest(t.Context(), c.key, b.Manifest.Seq, conversation.FormatUnspecified)
		if err != nil || again.SHA256 != b.SHA256 {
			t.Errorf("%s: manifest %d does not rebuild (%v)", c.key.Conversation, b.Manifest.Seq, err)
		}
	}
}

// buildNext builds until nothing is due any more.
func (w *world) buildNext(t *testing.T, c *crowded) *engine.BuildResult {
	t.Helper()
	w.say(t, c.key, text(conversation.RoleUser, "the end"))
	var last *engine.BuildResult
	for range 5 {
		got, err := w.Build(t.Context(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic})
		if err != nil {
			t.Fatal(err)
		}
		last = got
	}
	return last
}

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

// patient is a model that takes its time, counts, and notes whether anything is appended while it thinks.
type patient struct {
	calls    atomic.Int64
	during   atomic.Int64 // calls in whose time an append was acknowledged
	appended atomic.Int64 // appends acknowledged
}

// Complete implements summarize.Model. It answers once somebody has appended, or after a while.
func (p *patient) Complete(context.Context, summarize.Call) (summarize.Answer, error) {
	p.calls.Add(1)
	before := p.appended.Load()
	for range 20 {
		time.Sleep(time.Millisecond / 2)
		if p.appended.Load() > before {
			p.during.Add(1)
			break
		}
	}
	return summarize.Answer{Text: summed("short"), InputTokens: 1, OutputTokens: 1}, nil
}

const (
	callers = 32
	rounds  = 500
	// lived is how many rounds a conversation lives through: all its builds are made again in the end.
	lived = 10
)

// TestEngine_ManyCallers_OneSummaryPerContent lets 32 callers build, append, expand and read at a time, in each round over a
// result that falls due in it.
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
		crowd(t, s, rounds/25) // it flushes every commit
	})
}

// crowded is one conversation that many use.
type crowded struct {
	key     engine.Key
	due     int32 // the index of the result of the round
	results int
	mu      sync.Mutex
	indices map[int32]string // what was appended, by the index that it was given
	turns   map[int32]bool
	builds  []*engine.BuildResult
}

func crowd(t *testing.T, s store.Store, rounds int) {
	model := &patient{}
	w := newWorld(s, model)
	defer func() {
		w.service.Close()
		_ = s.Close()
	}()
	if testing.Short() {
		rounds /= 10
	}
	var c *crowded
	contents, builds, appends := 0, 0, 0
	for r := range rounds {
		if r%lived == 0 {
			c = w.crowded(t, fmt.Sprintf("c%d", r))
		}
		w.round(t, c, model, r)
		if r%lived == lived-1 || r == rounds-1 {
			w.settled(t, c)
			contents, builds, appends = contents+c.results, builds+len(c.builds), appends+len(c.indices)
		}
		if t.Failed() {
			return
		}
	}
	if calls := model.calls.Load(); calls != int64(contents) {
		t.Errorf("the model was called %d times for %d contents", calls, contents)
	}
	if during := model.during.Load(); during < int64(contents)/10 {
		t.Errorf("something was appended during %d of %d calls: nothing is tested", during, contents)
	}
	t.Logf("%d rounds: %d builds, %d appends, %d summaries; something was appended during %d", rounds, builds, appends, contents, model.during.Load())
}

func (w *world) crowded(t *testing.T, name string) *crowded {
	t.Helper()
	c := &crowded{
		key: engine.Key{Namespace: "default", Conversation: name}, due: 4, results: 1, indices: map[int32]string{}, turns: map[int32]bool{},
	}
	w.begun(t, c.key, 3*time.Second)
	return c
}

// round lets all callers act once, at a time, on a conversation with a result that nobody has summarized yet.
func (w *world) round(t *testing.T, c *crowded, model *patient, r int) {
	t.Helper()
	if r%lived > 0 {
		got, err := w.Append(t.Context(), engine.AppendRequest{
			Key: c.key, Messages: append(exchange(fmt.Sprint("c", r), output(fmt.Sprint(c.key.Conversation, r))), text(conversation.RoleUser, "and that")),
		})
		if err != nil {
			t.Fatal(err)
		}
		c.due, c.results = got.Messages[1].Index, c.results+1
	}
	var acting sync.WaitGroup
	for n := range callers {
		acting.Go(func() {
			if err := w.act(c, model, n, r); err != nil {
				t.Errorf("caller %d, round %d: %v", n, r, err)
			}
		})
	}
	acting.Wait()
}

// act does one of the things that callers do.
func (w *world) act(c *crowded, model *patient, n, r int) error {
	switch (n + r) % 4 {
	case 0, 1:
		got, err := w.Build(context.Background(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic})
		if err != nil {
			return contended(err)
		}
		return c.built(got)
	case 2:
		said := fmt.Sprintf("%d of %d", r, n)
		got, err := w.Append(context.Background(), engine.AppendRequest{
			Key: c.key, Messages: []conversation.Message{text(conversation.RoleUser, said)},
		})
		if err != nil {
			return contended(err)
		}
		model.appended.Add(1)
		return c.appended(got.Messages[0].Index, said)
	default:
		index := c.due
		_, err := w.Expand(context.Background(), engine.ExpandRequest{Key: c.key, Index: &index, ReturnOnly: true})
		return err
	}
}

// built notes a build: each has a turn of its own.
func (c *crowded) built(got *engine.BuildResult) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns[got.Turn] {
		return fmt.Errorf("turn %d was begun twice", got.Turn)
	}
	c.turns[got.Turn], c.builds = true, append(c.builds, got)
	return nil
}

func (c *crowded) appended(index int32, said string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.indices[index]; twice {
		return fmt.Errorf("index %d was given twice", index)
	}
	c.indices[index] = said
	return nil
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
	w.buildNext(t, c)
	for i, said := range c.indices {
		m, err := w.Message(t.Context(), c.key, i)
		if err != nil || m.Message.Index != i || m.Message.Parts[0].Text.Inline != said {
			t.Errorf("message %d, %q, is lost: %v", i, said, err)
		}
	}
	made := map[int32]int{}
	err := w.Export(t.Context(), c.key, func(r engine.Record) error {
		if r.Edit != nil {
			made[r.Edit.Range.First]++
		}
		return nil
	})
	if err != nil || len(made) != c.results {
		t.Errorf("%s: %d messages were edited, %d were due (%v)", c.key.Conversation, len(made), c.results, err)
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
func (w *world) buildNext(t *testing.T, c *crowded) {
	t.Helper()
	w.say(t, c.key, text(conversation.RoleUser, "the end"))
	for range 5 {
		got, err := w.Build(t.Context(), engine.BuildRequest{Key: c.key, Format: conversation.FormatAnthropic})
		if err != nil {
			t.Fatal(err)
		}
		c.builds = append(c.builds, got)
	}
}

package summaries

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
)

const (
	// enough is how many appends are timed beside compactions.
	enough = 400
	// twice is how much slower the 95th percentile may be.
	twice = 2.0
)

// TestAppend_BesideACompaction_P95WithinTwice: appends never wait for a compaction: not while a model hangs, not while a large span is
// extracted. They are timed on bolt in turns with appends to a conversation that is left alone at the same time, so that whoever else
// the machine works for slows both; the best of five attempts counts.
func TestAppend_BesideACompaction_P95WithinTwice(t *testing.T) {
	testlane.Speed(t)
	for name, exchanges := range map[string]int{"a model hangs": 300, "a span is extracted": 1500} {
		t.Run(name, func(t *testing.T) {
			best := 0.0
			for range 5 {
				if ratio := besideRatio(t, name == "a model hangs", exchanges); best == 0 || ratio < best {
					best = ratio
				}
				if best <= twice {
					return
				}
			}
			t.Errorf("appends beside compactions take %.2f times as long at p95", best)
		})
	}
}

// besideRatio is the p95 of appends to conversations that are compacted over that of appends to one that is not.
func besideRatio(t *testing.T, hangs bool, exchanges int) float64 {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "c.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := &alone{wait: time.Hour}
	w := worldOf(s, model, func(o *engine.Options, d *summarize.Options) {
		o.CacheBytes = 256 << 20
		o.Defaults = conversation.Policy{Fit: conversation.FitPolicy{MaxContextTokens: new(int32(10_000_000))}}
		d.Deadline, d.Extract, d.ExtractSpan = 2*time.Second, extractive.Extract, span.Extract
		if !hangs {
			d.Models = nil
		}
	})
	defer func() {
		w.close()
		_ = s.Close()
	}()
	var without, beside []time.Duration
	compactions, other := 0, engine.Key{Namespace: "default", Conversation: "other"}
	w.long(t, other, exchanges)
	for ; len(beside) < enough; compactions++ {
		key := engine.Key{Namespace: "default", Conversation: fmt.Sprint("c", compactions)}
		w.long(t, key, exchanges)
		done := make(chan error, 1)
		go func() {
			_, err := w.Compact(context.Background(), engine.CompactRequest{Key: key, KeepRecent: new(int32(4))})
			done <- err
		}()
		for len(done) == 0 {
			beside, without = append(beside, w.appendTime(t, key)), append(without, w.appendTime(t, other))
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if hangs != (model.calls.Load() > 0) {
		t.Fatalf("%d calls of the model in %d compactions", model.calls.Load(), compactions)
	}
	ratio := float64(p95(beside)) / float64(p95(without))
	t.Logf("%d appends beside %d compactions: %s at p95, %s at most; %d without: %s at p95; ratio %.2f",
		len(beside), compactions, p95(beside), slices.Max(beside), len(without), p95(without), ratio)
	return ratio
}

func p95(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)*95/100]
}

// long is a conversation that a compaction has a while to do with.
func (w *world) long(t *testing.T, key engine.Key, exchanges int) {
	t.Helper()
	if _, err := w.Create(t.Context(), engine.CreateRequest{Key: key, Info: store.Info{Counter: conversation.DefaultCounter}}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < exchanges; i += 100 {
		var messages []conversation.Message
		for j := range 100 {
			messages = append(messages, grows(i+j)...)
		}
		w.say(t, key, messages...)
	}
	w.build(t, key, 1, conversation.FormatAnthropic) // an agent's window is warm
}

// appendTime is how long an append takes.
func (w *world) appendTime(t *testing.T, key engine.Key) time.Duration {
	t.Helper()
	began := time.Now()
	w.say(t, key, text(conversation.RoleUser, strings.Repeat("a few words. ", 10)))
	return time.Since(began)
}

package summaries

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestBuild_FaultySummarizerOfSpans_AnswersInTime: whatever the server does, a conversation that outgrows its budget again and again
// is summarized all the same, visibly by the sidecar itself, no build waits longer than it may, and what left the view comes back.
func TestBuild_FaultySummarizerOfSpans_AnswersInTime(t *testing.T) {
	for name, handler := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			punctual(t, func() string {
				var requests atomic.Int64
				late := outgrows(t, served(t, func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					handler(w, r)
				}))
				if n := requests.Load(); n == 0 || n > 2*tries {
					t.Errorf("%d requests", n)
				}
				return late
			})
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		punctual(t, func() string { return outgrows(t, servedBy(t, "http://"+listener.Addr().String(), func() {})) })
	})
}

// outgrows lets a conversation outgrow its budget several times.
func outgrows(t *testing.T, w *world) (late string) {
	t.Helper()
	const wait = 300 * time.Millisecond
	t.Cleanup(w.Engine.Close)
	key := engine.Key{Namespace: "default", Conversation: "c"}
	w.summarizing(t, key, wait)
	made, degraded := 0, 0
	for i := range int32(50) {
		w.say(t, key, grows(int(i))...)
		began := time.Now()
		got := w.build(t, key, i+1, conversation.FormatAnthropic)
		if took := time.Since(began); took > wait+slack() {
			late = fmt.Sprintf("build %d took %s, and may wait %s", i, took, wait)
		}
		legal(t, got)
		made, degraded = made+events(got, conversation.EventSummarized), degraded+len(got.Degradations)
	}
	if made < 2 || degraded < made {
		t.Errorf("%d summaries, and %d degradations", made, degraded)
	}
	w.reachable(t, key)
	return late
}

// summarizing is a conversation with rules whose summaries a model is to write.
func (w *world) summarizing(t *testing.T, key engine.Key, maxWait time.Duration) {
	t.Helper()
	_, err := w.Create(t.Context(), engine.CreateRequest{Key: key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: conversation.Policy{
		Fit: conversation.FitPolicy{MaxContextTokens: new(int32(budget))}, MaxWait: &maxWait,
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	pinned := text(conversation.RoleUser, secretPinned)
	pinned.Pinned = true
	w.say(t, key, text(conversation.RoleSystem, secretSystem), pinned, text(conversation.RoleUser, "Read the parts."))
}

// reachable expands the summary in force down to the messages.
func (w *world) reachable(t *testing.T, key engine.Key) {
	t.Helper()
	got := w.build(t, key, 1000, conversation.FormatNeutral)
	for _, d := range got.Decisions {
		if d.Kind != conversation.DecisionSummarized {
			continue
		}
		below := w.unfolded(t, key, d.Summary)
		if len(below) != int(d.Last-d.First+1) {
			t.Errorf("summary %d of %d-%d expands to %d messages", d.Summary, d.First, d.Last, len(below))
		}
		return
	}
	t.Error("no summary stands")
}

// unfolded are the messages that a summary stands for, through all of its children.
func (w *world) unfolded(t *testing.T, key engine.Key, summary int64) (out []int32) {
	t.Helper()
	var cursor *int32
	for {
		got, err := w.Expand(t.Context(), engine.ExpandRequest{
			Key: key, Summary: summary, Limit: 100, Cursor: cursor, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got.Children {
			if c.Summary > 0 {
				out = append(out, w.unfolded(t, key, c.Summary)...)
				continue
			}
			if strings.TrimSpace(said(&c.Message.Message)) == "" {
				t.Errorf("message %d says nothing", c.Message.Message.Index)
			}
			out = append(out, c.Message.Message.Index)
		}
		if cursor = got.Next; cursor == nil {
			return out
		}
	}
}

func said(m *conversation.Message) string {
	var b strings.Builder
	for _, c := range conversation.Contents(m.Parts) {
		b.WriteString(c.Inline)
	}
	return b.String()
}

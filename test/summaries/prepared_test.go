package summaries

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// held is a model that answers when it is let.
type held struct{ asked, answer chan struct{} }

// Complete implements summarize.Model.
func (h *held) Complete(context.Context, summarize.Call) (summarize.Answer, error) {
	h.asked <- struct{}{}
	<-h.answer
	return summarize.Answer{Text: summed("short"), InputTokens: 1, OutputTokens: 1}, nil
}

// TestBuild_PreparedSummary_IsUsedWithoutAnyWait: what falls due in the next turn is summarized in the background, and a build
// that may not wait at all shows it when it is due (behaviour §5).
func TestBuild_PreparedSummary_IsUsedWithoutAnyWait(t *testing.T) {
	for name, maxWait := range map[string]time.Duration{"never waits": 0, "may wait": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &held{asked: make(chan struct{}, 8), answer: make(chan struct{})}
				s := memory.New(memory.Options{})
				w := newWorld(s, model)
				t.Cleanup(func() {
					w.service.Close()
					_ = s.Close()
				})
				w.prepared(t, model, maxWait)
			})
		})
	}
}

func (w *world) prepared(t *testing.T, model *held, maxWait time.Duration) {
	t.Helper()
	key := engine.Key{Namespace: "default", Conversation: "c"}
	found := w.begun(t, key, maxWait)

	quick(t, func() { w.build(t, key, 1, conversation.FormatAnthropic) }) // age = turns: the model is asked, and nobody waits
	select {
	case <-model.asked:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is prepared")
	}
	close(model.answer)
	synctest.Wait()

	quick(t, func() {
		got := w.build(t, key, 2, conversation.FormatAnthropic)
		if shown := string(got.MessagesJSON); strings.Contains(shown, "line 79 of") || !strings.Contains(shown, "[Summary of ") {
			t.Errorf("the due result is not shown as its summary: %.300s", shown)
		}
		if len(got.Degradations) > 0 {
			t.Errorf("%+v", got.Degradations)
		}
	})
	if calls := w.service.Usage().Calls; calls != 1 {
		t.Errorf("the model was called %d times", calls)
	}
	if m, err := w.Message(t.Context(), key, 4); err != nil || m.Message.Parts[0].Result.Text.Inline != found {
		t.Errorf("the original is not what was appended (%v)", err)
	}
}

// quick demands that something waits for nobody: the time is the bubble's, which waiting alone makes pass.
func quick(t *testing.T, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > 0 {
		t.Errorf("a build that waits for nobody waited %s", took)
	}
}

package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// drafting is a bench whose summaries a model writes.
func drafting(t testing.TB, m summarize.Model, strategy conversation.Strategy) *bench {
	b := modelBench(t, m, func(o *engine.Options) {
		o.Defaults.Compaction.Strategy = strategy
	})
	t.Cleanup(b.Close)
	return b
}

// summarizedIn are the summaries that a build made.
func summarizedIn(r *engine.BuildResult) (made []conversation.Event) {
	for _, e := range r.Events {
		if e.Type == conversation.EventSummarized {
			made = append(made, e)
		}
	}
	return made
}

// TestEngine_Build_PublishesWhatWasPrepared: from 80 % on, a summary is prepared in the background. The build that overflows uses it
// without waiting (behaviour §8).
func TestEngine_Build_PublishesWhatWasPrepared(t *testing.T) {
	for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
		synctest.Test(t, func(t *testing.T) {
			m := writes(gist, 10*time.Second)
			b := drafting(t, m, strategy)
			b.append(t, "c", user("Read the parts. You must never delete a file."))
			var states []engine.CompactionState
			for i := range 100 {
				var r *engine.BuildResult
				took := timed(func() { r = b.worked(t, "c", i, 1, 100, 8000)[0] })
				if took > 0 {
					t.Fatalf("build %d waited for %s", i, took)
				}
				if n := len(states); n == 0 || states[n-1] != r.Compaction.State {
					states = append(states, r.Compaction.State)
				}
				made := summarizedIn(r)
				if len(made) == 0 {
					time.Sleep(8 * time.Second)
					continue
				}
				if len(r.Degradations) > 0 {
					t.Errorf("degradations %+v", r.Degradations)
				}
				t.Logf("build %d: %+v; total %d, states %v, calls %d, own %+v", i, made, r.Tokens.Total, states, len(m.calls()), r.Compaction.OwnCalls)
				if r.Tokens.Total*100 > 55*r.Tokens.Budget {
					t.Errorf("%d tokens after it", r.Tokens.Total)
				}
				return
			}
			t.Fatal("never summarized")
		})
	}
}

// TestEngine_Build_WaitsForASummary: without a prepared summary, the build waits for max_wait, and uses an extract if the model is
// slower.
func TestEngine_Build_WaitsForASummary(t *testing.T) {
	for _, latency := range []time.Duration{time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			b := drafting(t, writes(gist, latency), conversation.StrategySummarize)
			b.append(t, "c", user("Read the parts."))
			b.steps(t, "c", 60, 200)
			var r *engine.BuildResult
			took := timed(func() { r = b.turn(t, "c", within(8000)) })
			want := min(latency, conversation.DefaultMaxWait)
			if took < want || took > want+100*time.Millisecond {
				t.Errorf("waited for %s", took)
			}
			made := summarizedIn(r)
			if len(made) != 1 || (latency > conversation.DefaultMaxWait) != (len(r.Degradations) == 1) {
				t.Errorf("made %+v, degradations %+v", made, r.Degradations)
			}
			time.Sleep(2 * time.Minute) // what comes late is dropped
			b.append(t, "c", user("more"))
			if r := b.turn(t, "c", within(8000)); r.Compaction.State != engine.CompactionIdle || len(summarizedIn(r)) > 0 {
				t.Errorf("%+v", r.Compaction)
			}
		})
	}
}

// TestEngine_Build_DryRun_ShowsTheDraft: a dry run reports how far the next summary is. It starts none and uses up none (behaviour
// §3.3).
func TestEngine_Build_DryRun_ShowsTheDraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 10*time.Second)
		b := drafting(t, m, conversation.StrategySummarize)
		shows := func(want engine.CompactionState, made int) {
			t.Helper()
			r := b.turn(t, "c", within(8000), dry)
			if r.Compaction.State != want || len(summarizedIn(r)) != made {
				t.Errorf("state %d and %d summaries, want %d and %d", r.Compaction.State, len(summarizedIn(r)), want, made)
			}
		}
		b.append(t, "c", user("Read the parts."))
		b.steps(t, "c", 33, 200)
		shows(engine.CompactionIdle, 0)
		synctest.Wait()
		if n := len(m.calls()); n > 0 {
			t.Errorf("a dry run has made %d calls", n)
		}
		b.turn(t, "c", within(8000))
		synctest.Wait()
		shows(engine.CompactionPreparing, 0)
		time.Sleep(11 * time.Second)
		shows(engine.CompactionReady, 0)
		b.steps(t, "c", 8, 200)
		shows(engine.CompactionIdle, 1) // it would publish the draft
		if r := b.turn(t, "c", within(8000)); len(summarizedIn(r)) != 1 || len(r.Degradations) > 0 || len(m.calls()) != 1 {
			t.Errorf("%d summaries and %d calls after it, degradations %+v", len(summarizedIn(r)), len(m.calls()), r.Degradations)
		}
	})
}

package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// dueAtOnce appends results whose summaries are due at the next build, and returns their texts.
func (b *bench) dueAtOnce(t *testing.T, n int, e *conversation.Expiration) []string {
	t.Helper()
	var ids, texts []string
	for i := range n {
		ids = append(ids, fmt.Sprint("k", i))
	}
	b.append(t, "c", user("go"), call(ids...))
	for i, id := range ids {
		texts = append(texts, long(id, 4000+i))
		b.append(t, "c", resultLiving(id, texts[i], e))
	}
	b.append(t, "c", user("next"))
	return texts
}

// summaries counts the results that a build shows as a model's summary, and requires that all others stay in full with a reason.
func summaries(t *testing.T, r *engine.BuildResult, texts []string, why ...conversation.Reason) (n int) {
	t.Helper()
	for i := range texts {
		index := int32(2 + i)
		got, _ := message(r, index)
		if got == summaryOf(4000+i, index, gist) {
			n++
			continue
		}
		d := decision(r, index)
		if got != texts[i] || d == nil || d.Kind != conversation.DecisionDeferred || !slices.Contains(why, d.Reason) || d.Before != d.After {
			t.Errorf("turn %d: decision about %d: %+v, shows\n%s", r.Turn, index, d, abridged(got))
		}
	}
	return n
}

// TestEngine_Build_WaitsForTwoSummaries: a build waits for at most 2 calls, and starts the others. All waits share max_wait. What is not
// ready stays in full, deferred, with a reason (behaviour §5).
func TestEngine_Build_WaitsForTwoSummaries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		latency time.Duration
		wait    *time.Duration
		took    time.Duration
		ready   int
		why     conversation.Reason
	}{
		{"in time", 2 * time.Second, nil, 2 * time.Second, 2, conversation.ReasonSummaryNotReady},
		{"none in time", 20 * time.Second, nil, 3 * time.Second, 0, conversation.ReasonSummaryNotReady},
		{"no time at all", time.Second, ptr(time.Duration(0)), 0, 0, conversation.ReasonSummaryNotAsked},
		{"more time", 10 * time.Second, ptr(25 * time.Second), 10 * time.Second, 2, conversation.ReasonSummaryNotReady},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := writes(gist, tt.latency)
				service := summarize.New(summarize.Options{Providers: map[string]summarize.Model{"m": m}, Models: []string{"m/x"}, Parallel: 2, Deadline: 2 * time.Minute})
				t.Cleanup(service.Close)
				b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.Summaries, o.Defaults.MaxWait = service, tt.wait })
				texts := b.dueAtOnce(t, 6, summarized(0, 300))
				var r *engine.BuildResult
				if took := timed(func() { r = b.turn(t, "c") }); took != tt.took {
					t.Errorf("the build took %s, want %s", took, tt.took)
				}
				if n := summaries(t, r, texts, tt.why); n != tt.ready || len(r.Degradations) != 6-tt.ready {
					t.Errorf("%d summaries, want %d, degradations %+v", n, tt.ready, r.Degradations)
				}
				for _, d := range r.Degradations {
					if !strings.HasPrefix(d.Asked, "AI summary of message ") || d.Reason == "" || d.Done == "" {
						t.Errorf("%+v", d)
					}
				}
				time.Sleep(time.Minute)
				if n := len(m.calls()); n != 6 {
					t.Errorf("one build has started %d calls", n)
				}
				if n := summaries(t, b.turn(t, "c"), texts); n != 6 {
					t.Errorf("%d summaries", n)
				}
			})
		})
	}
}

// TestEngine_Build_HundredSummaries_WithinThreeBuilds: calls that nobody waits for are started nevertheless, so a hundred summaries due at
// once are all there within three builds, no matter how quickly these follow.
func TestEngine_Build_HundredSummaries_WithinThreeBuilds(t *testing.T) {
	for _, between := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			write := writes(gist, 10*time.Millisecond).reply
			m := &scribe{reply: func(ctx context.Context, n int, c summarize.Call) (string, error) {
				time.Sleep(time.Duration(n) * time.Microsecond) // no two answers come at one instant
				return write(ctx, n, c)
			}}
			b := modelBench(t, m, nil)
			texts := b.dueAtOnce(t, 100, summarized(0, 300))
			n := 0
			for range 3 {
				r := b.turn(t, "c")
				n = summaries(t, r, texts, conversation.ReasonSummaryNotReady)
				time.Sleep(between)
				synctest.Wait()
			}
			if n != 100 || len(m.calls()) != 100 {
				t.Errorf("%d summaries of 100, %d calls", n, len(m.calls()))
			}
		})
	}
}

// TestEngine_Build_ErasuresDueAtOnce_AreTheModels: an erasure cannot be deferred, so the build waits for all summaries of texts to be
// erased. Those that are late are replaced with extracts after max_wait.
func TestEngine_Build_ErasuresDueAtOnce_AreTheModels(t *testing.T) {
	for latency, want := range map[time.Duration]int{100 * time.Millisecond: 12, 20 * time.Second: 0} {
		synctest.Test(t, func(t *testing.T) {
			b := modelBench(t, writes(gist, latency), nil)
			b.dueAtOnce(t, 12, erasing(summarized(0, 300)))
			var r *engine.BuildResult
			if took := timed(func() { r = b.turn(t, "c") }); took > 3*time.Second {
				t.Errorf("the build took %s", took)
			}
			n := 0
			for i := range int32(12) {
				switch d := decision(r, 2+i); d.Reason {
				case conversation.ReasonExpiredSummary:
					n++
				case conversation.ReasonExpiredExtract:
				default:
					t.Errorf("%+v", d)
				}
			}
			if n != want {
				t.Errorf("latency %s: %d summaries, want %d", latency, n, want)
			}
		})
	}
}

// TestEngine_Build_RefusedByALimit_IsDeferred: a summary that a limit refuses leaves its text in full, with a reason, and is requested
// again. After 3 turns the extract is used.
func TestEngine_Build_RefusedByALimit_IsDeferred(t *testing.T) {
	for _, freed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := writes(gist, 10*time.Millisecond)
			service := summarize.New(summarize.Options{
				Providers: map[string]summarize.Model{"m": m}, Models: []string{"m/x"}, TokensPerMinute: 3000, // room for one call
			})
			t.Cleanup(service.Close)
			b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.Summaries = service })
			texts := b.dueAtOnce(t, 2, summarized(0, 300))
			if n := summaries(t, b.turn(t, "c"), texts, conversation.ReasonSummaryRefused); n != 1 {
				t.Errorf("%d summaries", n)
			}
			if freed {
				time.Sleep(2 * time.Minute)
				if n := summaries(t, b.turn(t, "c"), texts); n != 2 {
					t.Errorf("%d summaries once there was room", n)
				}
				return
			}
			for range 2 {
				if n := summaries(t, b.turn(t, "c"), texts, conversation.ReasonSummaryRefused); n != 1 {
					t.Errorf("%d summaries", n)
				}
			}
			r := b.turn(t, "c")
			if d := decision(r, 2); d.Reason != conversation.ReasonExpiredExtract && decision(r, 3).Reason != conversation.ReasonExpiredExtract {
				t.Errorf("%+v", r.Decisions)
			}
		})
	}
}

// TestEngine_Build_FirstAsked_BeginsTheDeferral: the deferral of a text that was due for many turns begins when its summary is first
// requested.
func TestEngine_Build_FirstAsked_BeginsTheDeferral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := modelBench(t, writes(gist, 25*time.Second), func(o *engine.Options) { o.Defaults.MaxWait = ptr(time.Millisecond) })
		texts := b.dueAtOnce(t, 1, summarized(0, 300))
		disabled := overriding(conversation.ExpirationOverride{Disable: true})
		for range 10 {
			b.turn(t, "c", disabled)
		}
		for range 3 {
			summaries(t, b.turn(t, "c"), texts, conversation.ReasonSummaryNotReady)
		}
		wantShown(t, b.turn(t, "c"), 2, extractOf(texts[0], 300, 2))
	})
}

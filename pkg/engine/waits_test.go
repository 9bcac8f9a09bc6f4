package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// pieces is a bench with a conversation that has outgrown its budget of 8,000 tokens, and a model of so small a window that it has
// to read the conversation in pieces.
func pieces(t testing.TB, m *scribe, window int32) *bench {
	t.Helper()
	b := drafting(t, m, conversation.StrategySummarize)
	p := conversation.ModelProfile{Model: "x", ContextWindowTokens: &window, ReservedOutputTokens: ptr(int32(0))}
	if err := b.PutModelProfile(ctx, "default", p, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	policy := conversation.Policy{Fit: conversation.FitPolicy{ContextWindowTokens: ptr(int32(8000)), ReservedOutputTokens: ptr(int32(0))}}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: policy}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("Read the parts."))
	b.steps(t, "c", 40, 200)
	return b
}

// TestEngine_Build_SpanOfPieces_WaitsForTwoCalls: a summary that takes more than two calls is neither started nor waited for. An
// extract is used, and the answer says so (behaviour §5).
func TestEngine_Build_SpanOfPieces_WaitsForTwoCalls(t *testing.T) {
	for window, want := range map[int32]int{20_000: 1, 10_000: 2, 8000: 0} {
		synctest.Test(t, func(t *testing.T) {
			m := writes(gist, time.Second)
			b := pieces(t, m, window)
			var r *engine.BuildResult
			took := timed(func() { r = b.turn(t, "c", within(8000)) })
			if len(m.calls()) != want || took != time.Duration(want)*time.Second {
				t.Errorf("window %d: %d calls and %s, want %d calls", window, len(m.calls()), took, want)
			}
			if len(summarizedIn(r)) != 1 || (len(r.Degradations) == 1) != (want == 0) {
				t.Errorf("window %d: %+v, degradations %+v", window, summarizedIn(r), r.Degradations)
			}
			time.Sleep(time.Minute)
			if n := len(m.calls()); n != want {
				t.Errorf("window %d: %d calls after the build", window, n)
			}
		})
	}
}

// TestEngine_Compact_SpanOfPieces_WaitsForAll: a requested compaction waits for all pieces together as long as one summary may take,
// and then uses the extract.
func TestEngine_Compact_SpanOfPieces_WaitsForAll(t *testing.T) {
	for _, tt := range []struct {
		name         string
		latency      time.Duration
		calls        int // begun in time
		took         time.Duration
		model        string
		degradations int
	}{
		{"in time", 5 * time.Second, 4, 20 * time.Second, "m/x", 0},
		{"late", 12 * time.Second, 3, 30 * time.Second, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := writes(gist, tt.latency)
				b := pieces(t, m, 6000)
				var r *engine.CompactResult
				var err error
				took := timed(func() { r, err = b.Compact(ctx, engine.CompactRequest{Key: keyOf("c")}) })
				if err != nil || len(r.Summaries) != 1 {
					t.Fatalf("%+v, %v", r, err)
				}
				if len(m.calls()) != tt.calls || took != tt.took {
					t.Errorf("%d calls and %s, want %d and %s", len(m.calls()), took, tt.calls, tt.took)
				}
				if got := r.Summaries[0].Model; got != tt.model || len(r.Degradations) != tt.degradations {
					t.Errorf("by %q, degradations %+v", got, r.Degradations)
				}
			})
		})
	}
}

// TestEngine_Build_Waiting_StandsAroundEachWait: if it fails, the build fails and has done nothing.
func TestEngine_Build_Waiting_StandsAroundEachWait(t *testing.T) {
	for _, refuse := range []error{nil, conversation.Errorf(conversation.Overloaded, "full")} {
		synctest.Test(t, func(t *testing.T) {
			b := pieces(t, writes(gist, time.Second), 20_000)
			waited := time.Duration(0)
			r, err := b.ask("c", 8000, func(r *engine.BuildRequest) {
				r.Waiting = func(wait func()) error {
					waited += timed(wait)
					return refuse
				}
			})
			if waited != time.Second || (err == nil) != (refuse == nil) {
				t.Errorf("waited %s, %v", waited, err)
			}
			if refuse != nil {
				expect(t, err, conversation.Overloaded)
				r = b.turn(t, "c", within(8000))
			}
			if r.Turn != 1 {
				t.Errorf("turn %d is begun", r.Turn)
			}
			time.Sleep(time.Minute)
		})
	}
}

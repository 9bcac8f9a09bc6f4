package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// halfFull makes a conversation that was built a moment ago, and returns the weight of its view.
func halfFull(t *testing.T, b *bench) int32 {
	t.Helper()
	b.append(t, "c", user("Read the parts. You must never delete a file."))
	b.steps(t, "c", 40, 100)
	return int32(b.turn(t, "c", within(7000), modeled).Tokens.Total)
}

// TestEngine_Build_ColdCache_CutsWhatIsOverHalf: a view over half of its budget is cut if nothing was built for so long that the provider
// no longer caches it, and in no other build (behaviour §8).
func TestEngine_Build_ColdCache_CutsWhatIsOverHalf(t *testing.T) {
	t.Parallel()
	rewrite := func(p conversation.RewritePolicy) func(*engine.BuildRequest) {
		return by(conversation.Policy{Rewrite: p})
	}
	later := func(d time.Duration) func(*testing.T, *bench) {
		return func(_ *testing.T, b *bench) { b.now = b.now.Add(d) }
	}
	cached := func(lifetime, pause time.Duration) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) {
			t.Helper()
			b.now = b.now.Add(pause)
			if err := b.PutModelProfile(ctx, "default", conversation.ModelProfile{Model: "m", CacheLifetime: &lifetime}, engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cold, keep := later(5*time.Minute), func(*engine.BuildRequest) {}
	for name, c := range map[string]struct {
		strategy conversation.Strategy
		before   func(*testing.T, *bench)
		room     int32 // beyond twice what the view weighs
		change   func(*engine.BuildRequest)
		cut      bool
	}{
		"just over half":                  {1, cold, -2, keep, true},
		"just half":                       {1, cold, 0, keep, false},
		"a hierarchy":                     {2, cold, -2, keep, true},
		"a sliding window":                {3, cold, -2, keep, false},
		"warm":                            {1, later(5*time.Minute - time.Nanosecond), -2, keep, false},
		"warm, for a longer policy":       {1, cold, -2, rewrite(conversation.RewritePolicy{ColdAfter: ptr(time.Hour)}), false},
		"warm, by the model's profile":    {1, cached(30*time.Minute, 29*time.Minute), -2, keep, false},
		"cold, by the model's profile":    {1, cached(30*time.Minute, 30*time.Minute), -2, keep, true},
		"the policy before the profile":   {1, cached(30*time.Minute, 5*time.Minute), -2, rewrite(conversation.RewritePolicy{ColdAfter: ptr(time.Minute)}), true},
		"a larger share":                  {1, cold, -2, rewrite(conversation.RewritePolicy{ColdCutPercent: ptr(int32(51))}), false},
		"over a smaller share":            {1, cold, 100, rewrite(conversation.RewritePolicy{ColdCutPercent: ptr(int32(40))}), true},
		"never":                           {1, cold, -2, rewrite(conversation.RewritePolicy{ColdCutPercent: ptr(int32(100))}), false},
		"an extract pays at once":         {1, cold, -2, rewrite(conversation.RewritePolicy{ExpectTurns: new(int32)}), true},
		"the turn was begun before":       {1, cold, -2, sameTurn, false},
		"another model, on the side":      {1, later(time.Minute), -2, func(r *engine.BuildRequest) { r.Model = "n" }, false},
		"another model, and it is late":   {1, cold, -2, func(r *engine.BuildRequest) { r.Model = "n" }, true},
		"another format, its first build": {1, cold, -2, func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat }, false},
		"another format was built last": {1, func(t *testing.T, b *bench) {
			b.now = b.now.Add(4 * time.Minute)
			b.turn(t, "c", within(7000), modeled, func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat })
			b.now = b.now.Add(4 * time.Minute)
		}, -2, keep, false},
		"a summary would not shrink it by enough": {1, cold, -2, by(conversation.Policy{Compaction: conversation.CompactionPolicy{MinShrinkPercent: ptr(int32(90))}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := summarizes(c.strategy)
			weight := halfFull(t, b)
			c.before(t, b)
			r := b.turn(t, "c", modeled, within(2*weight+c.room), c.change)
			made := summarizedIn(r)
			if c.cut != (len(made) > 0) || c.cut != (r.Tokens.Total < int64(weight)) || len(r.Degradations) > 1 {
				t.Fatalf("%d tokens became %d by %+v, %+v", weight, r.Tokens.Total, made, r.Degradations)
			}
			if c.cut && (made[0].Reason != conversation.ReasonCacheCold || r.Prefix.Rewrite.Cost != 0 || r.Prefix.Rewrite.Saved <= 0 || r.Prefix.Rewrite.BreakEvenTurns != 0) {
				t.Errorf("%+v, %+v", made[0], r.Prefix.Rewrite)
			}
		})
	}
}

// TestEngine_Build_ColdCache_FirstBuild_IsWhole: before the first build nothing was sent, and it is not known how the conversation will go
// on.
func TestEngine_Build_ColdCache_FirstBuild_IsWhole(t *testing.T) {
	t.Parallel()
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user("Read the parts."))
	b.steps(t, "c", 40, 100)
	if r := b.turn(t, "c", within(8000)); len(summarizedIn(r)) > 0 || r.Prefix.Rewrite != (engine.RewriteReport{}) {
		t.Errorf("%+v, %+v", r.Events, r.Prefix)
	}
}

// TestEngine_Build_ColdCache_ModelMustPay: a model writes the summary of a cut, and the build waits for it as one that overflows does. If
// the expected turns do not save its price, the model is not asked and nothing is cut.
func TestEngine_Build_ColdCache_ModelMustPay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns   *int32
		output  float64 // price of what the model writes
		latency time.Duration
		asked   int
		model   string   // model that wrote the summary; empty for an extract
		agent   *float64 // price of the agent's model; nil if it is not known
	}{
		"pays in 30 turns":                   {nil, 1, time.Second, 1, "m/x", ptr(1.0)},
		"does not pay at once":               {new(int32), 1, time.Second, 0, "", ptr(1.0)},
		"does not pay ever":                  {nil, 1000, time.Second, 0, "", ptr(1.0)},
		"late":                               {nil, 1, time.Minute, 1, "", ptr(1.0)},
		"no price to hold the other against": {ptr(int32(120)), 1000, time.Second, 1, "m/x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := writes(gist, c.latency)
				b := drafting(t, m, conversation.StrategySummarize)
				profile := conversation.ModelProfile{Model: "x", InputPrice: ptr(1.0), OutputPrice: &c.output}
				agents := conversation.ModelProfile{Model: "m", InputPrice: c.agent, OutputPrice: c.agent}
				for _, p := range []conversation.ModelProfile{profile, agents} {
					if err := b.PutModelProfile(ctx, "default", p, engine.Request{}); err != nil {
						t.Fatal(err)
					}
				}
				weight := halfFull(t, b)
				b.now = b.now.Add(time.Hour)
				var r *engine.BuildResult
				took := timed(func() {
					r = b.turn(t, "c", within(2*weight-2), modeled, by(conversation.Policy{Rewrite: conversation.RewritePolicy{ExpectTurns: c.turns}}))
				})
				made := summarizedIn(r)
				if len(m.calls()) != c.asked || len(made) != c.asked || took > conversation.DefaultMaxWait+100*time.Millisecond {
					t.Fatalf("%d calls, waited %s, made %+v, %+v", len(m.calls()), took, made, r.Degradations)
				}
				if c.asked > 0 {
					if s := r.Messages[1]; s.Summary == 0 || (c.model == "") != (len(r.Degradations) > 0) {
						t.Errorf("%+v, %+v", s, r.Degradations)
					}
				}
			})
		})
	}
}

// TestEngine_Build_DefaultTarget_ReachesSummaries: if only the window's target is set, by the server or by a policy, summaries use it too.
// A target of their own takes precedence.
func TestEngine_Build_DefaultTarget_ReachesSummaries(t *testing.T) {
	t.Parallel()
	fit := func(percent int32) conversation.FitPolicy { return conversation.FitPolicy{TargetPercent: &percent} }
	for name, c := range map[string]struct {
		server conversation.FitPolicy
		policy conversation.Policy
		most   int64 // weight after a summary in percent of the budget, at most
		least  int64
	}{
		"none":                            {conversation.FitPolicy{}, conversation.Policy{}, 51, 24},
		"the server's":                    {fit(20), conversation.Policy{}, 21, 1},
		"the policy's":                    {conversation.FitPolicy{}, conversation.Policy{Fit: fit(20)}, 21, 1},
		"the policy's, over the server's": {fit(80), conversation.Policy{Fit: fit(20)}, 21, 1},
		"one of their own":                {fit(20), conversation.Policy{Compaction: conversation.CompactionPolicy{TargetPercent: ptr(int32(50))}}, 51, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := summarizes(conversation.StrategySummarize)
			b.append(t, "c", user("Read the parts."))
			tail := conversation.Policy{Fit: c.server, Compaction: conversation.CompactionPolicy{KeepRecent: ptr(int32(1000)), TailPercent: ptr(int32(40))}}
			b.steps(t, "c", 200, 100)
			r := b.turn(t, "c", within(16_000), by(c.policy.Or(tail)))
			if share := r.Tokens.Total * 100 / 16_000; len(summarizedIn(r)) != 1 || share > c.most || share < c.least {
				t.Errorf("%d %% of the budget, %+v", share, r.Events)
			}
		})
	}
}

// TestEngine_Build_RewriteReport: the cost of a rewrite is what is read again behind the break, and its saving is what the context has
// lost.
func TestEngine_Build_RewriteReport(t *testing.T) {
	t.Parallel()
	b := newEager()
	read, write, input := .5, 4.0, 3.0
	if err := b.PutModelProfile(ctx, "default", conversation.ModelProfile{Model: "m", InputPrice: &input, CacheReadPrice: &read, CacheWritePrice: &write}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("go"), call("k"), resultLiving("k", words(3000), compacted(2, 100)), answer(words(500)))
	first := b.turn(t, "c", modeled)
	b.append(t, "c", user(words(200)))
	same := b.turn(t, "c", modeled)
	if first.Prefix.Rewrite != (engine.RewriteReport{}) || same.Prefix.Rewrite != (engine.RewriteReport{}) {
		t.Errorf("%+v, %+v", first.Prefix, same.Prefix)
	}
	b.append(t, "c", answer("on"), user(words(2000)))
	r := b.turn(t, "c", modeled)
	d, got := decision(r, 2), r.Prefix.Rewrite
	saved := d.Before - d.After
	reread := int64(0)
	for i := range r.Messages[2:5] { // the result, the answer behind it, the question: not what is new
		reread += int64(r.Messages[2+i].Tokens)
	}
	want := engine.RewriteReport{Reread: reread, Saved: saved, Cost: float64(reread) * (write - read) / 1e6, SavedPerTurn: float64(saved) * read / 1e6}
	want.BreakEvenTurns = int32(math.Ceil(want.Cost / want.SavedPerTurn))
	if math.Abs(got.Cost-want.Cost) > 1e-12 || math.Abs(got.SavedPerTurn-want.SavedPerTurn) > 1e-12 || want.BreakEvenTurns < 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.Cost, got.SavedPerTurn = want.Cost, want.SavedPerTurn; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.expanded(t, 2)
	if grown := b.turn(t, "c", modeled).Prefix.Rewrite; grown.Saved >= 0 || grown.Cost <= 0 || grown.BreakEvenTurns != -1 {
		t.Errorf("%+v", grown)
	}
}

// TestEngine_Build_ColdCache_LeavesTheOpeningWhole: a cold cache creates no pressure, so only an overflow shortens the opening.
func TestEngine_Build_ColdCache_LeavesTheOpeningWhole(t *testing.T) {
	t.Parallel()
	b := summarizes(conversation.StrategySummarize)
	b.append(t, "c", user(words(3000)), answer("Well."), user("Go on."))
	b.steps(t, "c", 40, 100)
	deep := by(conversation.Policy{Compaction: conversation.CompactionPolicy{TargetPercent: ptr(int32(20))}})
	b.turn(t, "c", within(12_000), deep)
	b.now = b.now.Add(time.Hour)
	r := b.turn(t, "c", within(12_000), deep)
	if made := summarizedIn(r); len(made) != 1 || made[0].Reason != conversation.ReasonCacheCold {
		t.Fatalf("%+v", made)
	}
	wantShown(t, r, 0, words(3000))
}

// TestEngine_Build_ColdCache_EachPause_CutsDeepOrNotAtAll: if a compaction's target is where a pause triggers another one, every pause
// would cut a little of what is recent, and send the summary through another summarizer.
func TestEngine_Build_ColdCache_EachPause_CutsDeepOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := summarizes(conversation.StrategySummarize)
	wide := by(conversation.Policy{Compaction: conversation.CompactionPolicy{
		KeepRecent: ptr(int32(1000)), TailPercent: ptr(int32(50)), SummaryTokens: ptr(int32(500)), ListTokens: ptr(int32(500)),
	}})
	b.append(t, "c", user("Read the parts."))
	cuts := 0
	for i := range 60 {
		var told strings.Builder
		for year := range 20 {
			fmt.Fprintf(&told, "In %d the town of Lund%d built mill %d. ", 1000+year, i, 100*i+year)
		}
		b.append(t, "c", answer("Go on."), user(told.String()))
		b.now = b.now.Add(10 * time.Minute)
		whole := b.turn(t, "c", within(16_000), wide, dry, by(conversation.Policy{Rewrite: conversation.RewritePolicy{ColdAfter: ptr(24 * time.Hour)}}))
		r := b.turn(t, "c", within(16_000), wide)
		if len(summarizedIn(r)) == 0 {
			continue
		}
		cuts++
		if r.Tokens.Total*4 > whole.Tokens.Total*3 {
			t.Errorf("turn %d: %d tokens became %d", r.Turn, whole.Tokens.Total, r.Tokens.Total)
		}
	}
	if cuts == 0 || cuts > 6 {
		t.Errorf("%d cuts of what 60 turns brought", cuts)
	}
}

package property

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_AnyReport_CompactsOnceAtMost: whatever a provider reports, a context is made smaller for it once at most, never refused for
// it, and a report far beyond the count is named (behaviour §8).
func TestEngine_AnyReport_CompactsOnceAtMost(t *testing.T) {
	proptest.CheckN(t, cases/10, func(rt *rapid.T) {
		bubbled(t, func() { report(rt) })
	})
}

func report(t *rapid.T) {
	g := newGenerator(t)
	s := newStage(t, g, g.stagePolicy())
	defer s.end()
	s.own = rapid.SampledFrom([]int32{700, 1500, 4000, 20000}).Draw(t, "budget")
	r := &reports{stage: s}
	for range rapid.IntRange(2, 25).Draw(t, "messages") {
		m, _ := g.told(s.own)
		s.put(m, engine.AppendExtra{})
		if rapid.Bool().Draw(t, "built") {
			r.build()
		}
	}
	s.manifests()
}

// reports is what was reported last.
type reports struct {
	*stage
	at      *sight // the last build
	context int    // that was reported last; 0 for nothing
	counted int
	model   string
}

// build builds with a report on the build before, and again without one, which must change nothing.
func (r *reports) build() {
	r.asks = rapid.SampledFrom([]string{"", "", "", "m1"}).Draw(r.t, "model")
	usage, context, counted := r.draw()
	v, err := r.show(r.own, usage)
	if err != nil {
		if 2*r.least() > int(r.own) {
			return
		}
		r.rightly(err, r.own)
		return
	}
	if usage != nil && context > 0 {
		r.context, r.counted, r.model = context, counted, r.at.build.model
	}
	r.at = v
	r.named(v)
	for range rapid.IntRange(0, 2).Draw(r.t, "again") {
		again, err := r.show(r.own, nil)
		if err != nil {
			r.t.Fatalf("built, and then refused: %v", err)
		}
		if len(again.edits) > 0 || again.build.Manifest.Window.Start != v.build.Manifest.Window.Start {
			r.t.Fatalf("nothing was reported or appended since, and the start moves from %d to %d: %d edits",
				v.build.Manifest.Window.Start, again.build.Manifest.Window.Start, len(again.edits))
		}
		r.at = again
		r.named(again)
	}
}

// draw draws a report on the last build: of nothing, of about what was counted, of up to five times that.
func (r *reports) draw() (u *engine.Usage, context, counted int) {
	if r.at == nil || rapid.IntRange(0, 2).Draw(r.t, "reported") == 0 {
		return nil, 0, 0
	}
	counted = int(r.at.build.Manifest.Tokens + r.at.build.Manifest.FixedTokens)
	context = int(float64(counted) * rapid.SampledFrom([]float64{0, 0.5, 1, 1.2, 1.9, 2.3, 4.4, 5}).Draw(r.t, "times"))
	cached := rapid.IntRange(0, context).Draw(r.t, "cached")
	return &engine.Usage{Input: int32(context - cached), CacheRead: int32(cached), Output: rapid.SampledFrom([]int32{0, 40}).Draw(r.t, "output")}, context, counted
}

// named demands the code of a jump where the last report for the model is over twice what was counted, and nowhere else.
func (r *reports) named(v *sight) {
	named := slices.ContainsFunc(v.build.Degradations, func(d engine.Degradation) bool { return d.Code == engine.UsageJump })
	twice := 2 * float64(r.counted) * v.build.Tokens.Factor
	jumps := r.context > 0 && r.model == r.asks && float64(r.context) > twice
	if near := float64(r.context)-twice < 4 && twice-float64(r.context) < 4; named != jumps && !near {
		r.t.Fatalf("%d tokens were reported of %q, %d counted, at a factor of %.2f; a build for %q says so: %t", r.context, r.model, r.counted, v.build.Tokens.Factor, r.asks, named)
	}
}

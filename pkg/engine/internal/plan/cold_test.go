package plan_test

import (
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// asks is a model that would be asked, of which nothing is known.
type asks struct{ nobody }

func (asks) CanAsk(*conversation.Prompt) bool       { return true }
func (asks) ModelsOf(*conversation.Prompt) []string { return []string{"provider/model"} }

// TestPlan_Decide_BehindAColdCache: a view of 2,700 tokens is cut at a budget of less than twice that, if the last build is long enough ago
// and a model's summary pays; the plan then ends with what is to be written.
func TestPlan_Decide_BehindAColdCache(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	expecting := func(turns int32) conversation.Policy {
		return conversation.Policy{Rewrite: conversation.RewritePolicy{ExpectTurns: &turns}}
	}
	last := func(ago time.Duration) *conversation.Manifest { return &conversation.Manifest{Time: now.Add(-ago)} }
	for name, c := range map[string]struct {
		window   int32
		previous *conversation.Manifest
		policy   conversation.Policy
		same     bool
		model    bool
		waits    bool
	}{
		"over half":           {window: 5000, previous: last(5 * time.Minute), waits: true},
		"under half":          {window: 5800, previous: last(5 * time.Minute)},
		"warm":                {window: 5000, previous: last(5*time.Minute - 1)},
		"the first build":     {window: 5000},
		"another was later":   {window: 5000, previous: &conversation.Manifest{Seq: -1, Time: now.Add(-time.Hour)}},
		"the same turn":       {window: 5000, previous: last(time.Hour), same: true},
		"a sliding window":    {window: 5000, previous: last(time.Hour), policy: conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow}}},
		"a model, in time":    {window: 5000, previous: last(time.Hour), model: true, policy: expecting(60), waits: true},
		"a model, at once":    {window: 5000, previous: last(time.Hour), model: true, policy: expecting(0)},
		"an extract, at once": {window: 5000, previous: last(time.Hour), policy: expecting(0), waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keep := int32(4)
			c.policy.Compaction.KeepRecent = &keep
			s := scene{messages: full(), policy: c.policy, window: c.window, turn: 1, wait: pass.Allowance{Left: time.Second, Calls: 2}}
			g := s.given(t)
			g.Previous, g.NewTurn = view.PreviousBuild{Manifest: c.previous}, !c.same
			if c.model {
				g.Summaries = asks{}
			}
			d, err := plan.Decide(g)
			w := pass.Wanted(err)
			if c.waits != (w != nil) || !c.waits && err != nil || c.waits && w.Spans.AskModel != c.model {
				t.Fatalf("%v: %+v", err, w)
			}
			if !c.waits && len(d.Edits) > 0 {
				t.Errorf("%+v", d.Edits)
			}
		})
	}
}

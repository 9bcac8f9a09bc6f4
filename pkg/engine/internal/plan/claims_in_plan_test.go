package plan_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
)

// TestClaims_Describe_WeighsEverythingOnce: claims and the rest of the tail are all of the view, and what is pinned in the tail is sent
// wherever the window starts.
func TestClaims_Describe_WeighsEverythingOnce(t *testing.T) {
	pinned := answered(words(120))
	pinned.Pinned = true
	s := scene{window: 4000, messages: []conversation.Message{
		asked("Let us begin. " + words(60)), answered(words(30)), pinned, asked("And now? " + words(90)), answered(words(40)), answered(words(20)),
	}}
	g := s.given(t)
	d, err := plan.Decide(g)
	if err != nil {
		t.Fatal(err)
	}
	c, err := claims.Describe(g, d.Draft, g.Settings.Limit, false)
	if err != nil {
		t.Fatal(err)
	}
	if pin := d.Composed.Weights[2]; c.Fixed != g.Fixed+pin {
		t.Errorf("%d tokens are fixed, of which the pinned unit has %d", c.Fixed, pin)
	}
	sum := c.Fixed + c.Newest.Whole
	for _, claim := range []*compaction.Claim{c.Request, c.Opening} {
		if claim == nil {
			t.Fatalf("a request has no claim: %+v", c.FitInput)
		}
		sum += claim.Whole
	}
	for _, u := range c.Units {
		if !u.Claimed && !c.Request.Is(u.First) && !c.Opening.Is(u.First) {
			sum += u.Tokens
		}
	}
	if whole := g.Fixed + d.Composed.Tokens(); sum != whole {
		t.Errorf("%d tokens are weighed, and the view has %d: %+v", sum, whole, c.FitInput)
	}
}

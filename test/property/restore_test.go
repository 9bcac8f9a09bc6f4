package property

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_AnyRestore_IsShownOrRefused: what is brought back is shown in full by the next build, or its expansion was refused for a reason
// that is right (behaviour §10).
func TestEngine_AnyRestore_IsShownOrRefused(t *testing.T) {
	proptest.CheckN(t, cases/10, func(rt *rapid.T) {
		bubbled(t, func() { bringBack(rt) })
	})
}

func bringBack(t *rapid.T) {
	g := newGenerator(t)
	s := newStage(t, g, g.stagePolicy())
	defer s.end()
	s.own = rapid.SampledFrom([]int32{400, 700, 1500, 4000, 20000}).Draw(t, "budget")
	for range rapid.IntRange(2, 25).Draw(t, "messages") {
		m, _ := g.told(s.own)
		s.put(m, engine.AppendExtra{})
		if !rapid.Bool().Draw(t, "built") {
			continue
		}
		v, err := s.show(s.own, nil)
		if err == nil && rapid.IntRange(0, 2).Draw(t, "brought back") > 0 {
			s.back(v)
		}
	}
	s.manifests()
}

// back brings something back of what a build has shown, or not.
func (s *stage) back(v *sight) {
	e := s.record[rapid.IntRange(0, len(s.record)-1).Draw(s.t, "expanded")]
	unit, full := broughtBack(s.record, e), true
	for _, o := range unit {
		full = full && (v.whole(o) || len(v.late[o.index]) > 0)
	}
	_, err := s.engine.Expand(ctx, engine.ExpandRequest{Key: s.key, Index: &e.index})
	s.t.Logf("expand %d: %v", e.index, err)
	switch kind := conversation.KindOf(err); {
	case err == nil:
		s.take()
		s.isBack(e, unit)
	case kind == conversation.NotEdited && full:
	case kind == conversation.ExpansionTooLarge && s.tooLarge(v, unit):
	default:
		s.t.Fatalf("an expansion of message %d (in full: %t) is refused: %v", e.index, full, err)
	}
}

func (s *stage) isBack(e *entry, unit []*entry) {
	after, err := s.show(s.own, nil)
	if err != nil {
		s.t.Fatalf("after message %d was brought back, a build is refused: %v", e.index, err)
	}
	for _, o := range unit {
		if len(after.late[o.index]) == 0 && !after.whole(o) {
			s.t.Fatalf("message %d was brought back, and message %d of its unit is shown as %q", e.index, o.index, brief(flatAll(after.parts(o))))
		}
	}
}

// tooLarge says whether a unit is over half of the budget, or has no room beside what must stay, or was brought back
// lately; rather yes than no.
func (s *stage) tooLarge(v *sight, unit []*entry) bool {
	weight := 0
	for _, e := range unit {
		weight += s.weight(e) + 2*frame
	}
	if weight > int(s.own)/2 {
		return true
	}
	c := &claims{stage: s, sight: v, budget: int(s.own)}
	sure, _ := s.newest()
	stays := weight + int(s.fixed) + frame
	for _, e := range s.visible() {
		switch {
		case e.leading || e.pinned || e.index >= sure || s.lately(e, s.turn) && !slices.Contains(unit, e):
			stays += max(s.weight(e), c.shownWeight(e)) + frame
		case e == c.asked() || e == c.first():
			stays += min(s.weight(e), c.share(e)+100) + frame
		}
	}
	return stays > int(s.own)
}

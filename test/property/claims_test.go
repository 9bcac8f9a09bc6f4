package property

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

// TestEngine_AnyClaims_HoldInTheirOrder holds contexts to the order of claims on their budget (behaviour §4): the newest unit, the request
// in force and the opening, of any size, in conversations that are compacted, rewound and expanded on their way.
func TestEngine_AnyClaims_HoldInTheirOrder(t *testing.T) {
	proptest.CheckN(t, cases/10, func(rt *rapid.T) {
		bubbled(t, func() { claim(rt) })
	})
}

func claim(t *rapid.T) {
	g := newGenerator(t)
	s := newStage(t, g, g.stagePolicy())
	defer s.end()
	s.own = rapid.SampledFrom([]int32{400, 700, 1500, 4000, 20000}).Draw(t, "budget")
	s.fixed = rapid.SampledFrom([]int32{0, 0, 30, s.own / 5}).Draw(t, "fixed")
	budgets := rapid.SampledFrom([][]int32{{s.own}, {s.own}, {s.own, s.own / 3}}).Draw(t, "budgets")
	for range rapid.IntRange(1, 25).Draw(t, "messages") {
		s.put(g.told(s.own))
		for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "steps") {
			s.act(rapid.SampledFrom(budgets).Draw(t, "at"))
		}
	}
	s.judged(s.own)
	s.manifests()
}

// act is one step of a case between two appends.
func (s *stage) act(budget int32) {
	switch rapid.IntRange(0, 15).Draw(s.t, "step") {
	case 0:
		s.rewind()
		s.moves++
	case 1:
		s.expand()
		s.moves++
	case 2:
		s.compact()
		s.moves++
	default:
		s.judged(budget)
	}
}

// judged builds, and holds what is shown to the order of claims.
func (s *stage) judged(budget int32) {
	v, err := s.show(budget, nil)
	if err != nil {
		s.rightly(err, budget)
		return
	}
	j := &claims{stage: s, sight: v, budget: int(budget), before: s.last[int64(budget)]}
	j.judge()
	s.last[int64(budget)] = v
}

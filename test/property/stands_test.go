package property

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_WhileTheStartStands_EarlierBlocksStay: whatever is appended, new requests among it, a window whose start does not move shows
// what it has shown byte for byte in its place (behaviour §8).
func TestEngine_WhileTheStartStands_EarlierBlocksStay(t *testing.T) {
	proptest.CheckN(t, cases/10, func(rt *rapid.T) {
		bubbled(t, func() { stand(rt) })
	})
}

func stand(t *rapid.T) {
	g := newGenerator(t)
	policy := g.stagePolicy()
	policy.Pruning.Off = new(true)
	s := newStage(t, g, policy)
	defer s.end()
	s.own = rapid.SampledFrom([]int32{400, 700, 1500, 4000, 20000}).Draw(t, "budget")
	var before *sight
	for range rapid.IntRange(2, 30).Draw(t, "messages") {
		m, _ := g.told(s.own)
		s.put(m, engine.AppendExtra{})
		for range rapid.SampledFrom([]int{0, 1, 1}).Draw(t, "builds") {
			v, err := s.show(s.own, nil)
			if err != nil {
				continue
			}
			if before != nil {
				s.stays(before, v)
			}
			before = v
		}
	}
	s.manifests()
}

// stays demands the blocks of a build in their places in the next, unless its window's start has moved, calls that it closed were answered
// since, or stronger claims need the room.
func (s *stage) stays(before, after *sight) {
	c := &claims{stage: s, sight: after, budget: int(s.own), before: before}
	closed := judged(s.record[:before.build.count]).Pending()
	if before.build.Manifest.Window.Start != after.build.Manifest.Window.Start || closed {
		return
	}
	for _, e := range after.edits {
		if e.Kind != conversation.EditParts || e.Range.First < before.build.count {
			return
		}
	}
	crowded := c.together(before.build.count) > c.budget
	for i, b := range before.blocks {
		if i == len(before.blocks)-1 && len(b.Items) == 1 && len(b.Items[0].Texts) == 1 && b.Items[0].Texts[0] == "Continue." {
			return
		}
		if i < len(after.blocks) && after.blocks[i].JSON == b.JSON && after.blocks[i].Role == b.Role {
			continue
		}
		if !crowded {
			s.t.Fatalf("block %d of %d has changed, and the start stands at %d: %s", i, len(before.blocks), after.build.Manifest.Window.Start, brief(b.JSON))
		}
		return
	}
}

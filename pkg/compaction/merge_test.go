package compaction_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// levels returns nodes of ten messages each, with the given levels.
func levels(list ...int32) []compaction.Node {
	var out []compaction.Node
	for i, level := range list {
		out = append(out, compaction.Node{Range: conversation.Range{First: int32(10 * i), End: int32(10*i + 10)}, Level: level})
	}
	return out
}

func TestMerges_Table(t *testing.T) {
	for _, tt := range []struct {
		name   string
		nodes  []compaction.Node
		fanOut int
		want   string
	}{
		{"none", nil, 4, "[]"},
		{"too few", levels(0, 0, 0), 4, "[]"},
		{"enough", levels(0, 0, 0, 0), 4, "[{0 4 {{0 40} 1}}]"},
		{"the oldest of more", levels(0, 0, 0, 0, 0), 4, "[{0 4 {{0 40} 1}}]"},
		{"twice as many", levels(0, 0, 0, 0), 2, "[{0 2 {{0 20} 1}} {1 3 {{20 40} 1}} {0 2 {{0 40} 2}}]"},
		{"behind a higher one", levels(1, 0, 0), 2, "[{1 3 {{10 30} 1}} {0 2 {{0 30} 2}}]"},
		{"not next to each other", levels(0, 1, 0, 1, 0), 2, "[]"},
		{"levels rise: what merges goes on with what is newer", levels(0, 0, 1, 2), 2, "[{0 2 {{0 20} 1}} {0 2 {{0 30} 2}} {0 2 {{0 40} 3}}]"},
		{"a fan out of one would never end", levels(0, 0), 1, "[]"},
		{"nor would one of nothing", levels(0, 0), 0, "[]"},
	} {
		if got := fmt.Sprint(append([]compaction.Merge{}, compaction.Merges(tt.nodes, tt.fanOut)...)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// merged applies a merge as its documentation says.
func merged(nodes []compaction.Node, m compaction.Merge) []compaction.Node {
	return slices.Concat(nodes[:m.First], []compaction.Node{m.Into}, nodes[m.End:])
}

// firstRun finds the oldest nodes of one level that are enough to merge; -1 if there are none.
func firstRun(nodes []compaction.Node, fanOut int) int {
	for i := 0; i+fanOut <= len(nodes); i++ {
		if !slices.ContainsFunc(nodes[i:i+fanOut], func(n compaction.Node) bool { return n.Level != nodes[i].Level }) {
			return i
		}
	}
	return -1
}

// TestMerges_AnyList_MergesTheOldestUntilNoneIsLeft: after rewinds, any list is possible, with gaps where messages are
// hidden.
func TestMerges_AnyList_MergesTheOldestUntilNoneIsLeft(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		fanOut := rapid.IntRange(2, 5).Draw(t, "fan out")
		var nodes []compaction.Node
		at := int32(0)
		for range rapid.IntRange(0, 40).Draw(t, "nodes") {
			at += rapid.Int32Range(0, 2).Draw(t, "gap")
			end := at + rapid.Int32Range(1, 9).Draw(t, "messages")
			nodes = append(nodes, compaction.Node{Range: conversation.Range{First: at, End: end}, Level: rapid.Int32Range(0, 2).Draw(t, "level")})
			at = end
		}
		given := slices.Clone(nodes)
		merges := compaction.Merges(nodes, fanOut)
		if !slices.Equal(nodes, given) {
			t.Fatal("the caller's list was changed")
		}
		for _, m := range merges {
			first := firstRun(nodes, fanOut)
			if first < 0 {
				t.Fatalf("%+v merges nothing that is enough", m)
			}
			whole := conversation.Range{First: nodes[first].Range.First, End: nodes[first+fanOut-1].Range.End}
			want := compaction.Merge{First: first, End: first + fanOut, Into: compaction.Node{Range: whole, Level: nodes[first].Level + 1}}
			if m != want {
				t.Fatalf("got %+v, want %+v", m, want)
			}
			nodes = merged(nodes, m)
		}
		if first := firstRun(nodes, fanOut); first >= 0 {
			t.Fatalf("from %d on there are enough left to merge", first)
		}
	})
}

// tree is a conversation that grows: the nodes in force, and what each was made of.
type tree struct {
	fanOut   int
	inForce  []compaction.Node
	children map[compaction.Node][]compaction.Node
	leaves   int
}

// grow appends a leaf and makes all merges.
func (tr *tree) grow(r conversation.Range) {
	tr.leaves++
	tr.inForce = append(tr.inForce, compaction.Node{Range: r})
	for _, m := range compaction.Merges(tr.inForce, tr.fanOut) {
		tr.children[m.Into] = slices.Clone(tr.inForce[m.First:m.End])
		tr.inForce = merged(tr.inForce, m)
	}
}

// depth returns how many levels that many leaves may have at most: the logarithm, rounded up, and one for the leaves.
func (tr *tree) depth() int32 {
	depth := int32(1)
	for n := 1; n < tr.leaves; n *= tr.fanOut {
		depth++
	}
	return depth
}

// check requires that the tree covers what was appended without gaps: the nodes in force, and below each node its children
// down to the leaves.
func (tr *tree) check(t *rapid.T, end int32) {
	if got := tr.tiles(t, tr.inForce, 0); got != end {
		t.Fatalf("the nodes in force tile %d of %d messages", got, end)
	}
	perLevel := map[int32]int{}
	for _, n := range tr.inForce {
		if perLevel[n.Level]++; perLevel[n.Level] >= tr.fanOut {
			t.Fatalf("%d nodes of level %d at a fan out of %d", perLevel[n.Level], n.Level, tr.fanOut)
		}
		if n.Level+1 > tr.depth() {
			t.Fatalf("level %d over %d leaves", n.Level, tr.leaves)
		}
	}
}

// tiles follows nodes that must lie end to end, and returns where the last ends.
func (tr *tree) tiles(t *rapid.T, nodes []compaction.Node, at int32) int32 {
	for _, n := range nodes {
		if n.Range.First != at {
			t.Fatalf("%+v does not begin at %d", n, at)
		}
		at = n.Range.End
		if n.Level == 0 {
			continue
		}
		if got := tr.tiles(t, tr.children[n], n.Range.First); got != n.Range.End {
			t.Fatalf("the children of %+v end at %d", n, got)
		}
	}
	return at
}

// TestMerges_LongConversation_TilesAndStaysShallow grows 100,000 messages leaf by leaf (behaviour §8, HIERARCHICAL).
func TestMerges_LongConversation_TilesAndStaysShallow(t *testing.T) {
	const messages = 100_000
	proptest.Check(t, func(t *rapid.T) {
		tr := &tree{fanOut: rapid.IntRange(2, 16).Draw(t, "fan out"), children: map[compaction.Node][]compaction.Node{}}
		sizes := rapid.SliceOfN(rapid.Int32Range(1, 400), 1, 200).Draw(t, "sizes")
		at := int32(0)
		for i := 0; at < messages; i++ {
			end := min(at+sizes[i%len(sizes)], messages)
			tr.grow(conversation.Range{First: at, End: end})
			at = end
			if i < 100 {
				tr.check(t, at)
			}
		}
		tr.check(t, messages)
	})
}

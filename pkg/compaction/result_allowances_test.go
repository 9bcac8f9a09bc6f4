package compaction_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

func TestAllowances_Table(t *testing.T) {
	for _, tt := range []struct {
		weights []int64
		room    int64
		want    []int64
	}{
		{nil, 10, nil},
		{[]int64{3, 4}, 7, []int64{3, 4}},
		{[]int64{3, 4}, 6, []int64{3, 3}},
		{[]int64{100, 1, 50}, 61, []int64{30, 1, 30}},
		{[]int64{100, 1, 50}, 131, []int64{80, 1, 50}},
		{[]int64{5, 5, 5}, 8, []int64{2, 2, 2}},
		{[]int64{5, 5}, 0, []int64{0, 0}},
		{[]int64{5, 5}, -7, []int64{0, 0}},
		{[]int64{0, 5}, -7, []int64{0, 0}},
	} {
		if got := compaction.Allowances(tt.weights, tt.room); !slices.Equal(got, tt.want) {
			t.Errorf("%v in %d: got %v, want %v", tt.weights, tt.room, got, tt.want)
		}
	}
}

func sum(values []int64) (n int64) {
	for _, v := range values {
		n += v
	}
	return n
}

// TestAllowances_AnyWeights_LikeWater checks the allowances against behaviour §4, "largest first": a result that shrinks
// keeps at least as much as every result that does not, and as much as every other one that shrinks.
func TestAllowances_AnyWeights_LikeWater(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 12).Draw(t, "weights")
		room := rapid.Int64Range(-50, 6000).Draw(t, "room")
		before := slices.Clone(weights)
		got := compaction.Allowances(weights, room)
		if !slices.Equal(weights, before) || len(got) != len(weights) {
			t.Fatalf("weights %v became %v", before, weights)
		}
		if total := sum(got); total > max(room, 0) || total < min(sum(weights), room)-int64(len(weights)) {
			t.Fatalf("%v add up to %d in a room of %d", got, total, room)
		}
		level := int64(-1)
		for i, n := range got {
			if n > weights[i] || n < 0 {
				t.Fatalf("%d may weigh %d", weights[i], n)
			}
			if n < weights[i] && level >= 0 && n != level {
				t.Fatalf("those that give are left with %d and %d", level, n)
			}
			if n < weights[i] {
				level = n
			}
		}
		for i, n := range got {
			if level >= 0 && n == weights[i] && n > level {
				t.Fatalf("%d gives nothing, and a larger one is left with %d", weights[i], level)
			}
		}
		more := compaction.Allowances(weights, room+rapid.Int64Range(0, 100).Draw(t, "more"))
		for i := range got {
			if more[i] < got[i] {
				t.Fatalf("with more room, %d shrank from %d to %d", weights[i], got[i], more[i])
			}
		}
	})
}

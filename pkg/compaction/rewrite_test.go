package compaction_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

// due returns an edit at the given distance from the end that frees the given number of tokens.
func due(behind, gain int64, waited int32) compaction.DueEdit {
	return compaction.DueEdit{Behind: behind, Gain: gain, Waited: waited}
}

// TestRewrite_Triggers: each trigger of behaviour §8 by itself, on both sides of its limit. By default, an edit of 1,000 tokens is 50,000
// from the end of 100,000, another one falls due next turn, and nothing forces a rewrite.
func TestRewrite_Triggers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*compaction.RewriteInput)
		want   []bool
	}{
		{"nothing is due", func(in *compaction.RewriteInput) { in.Due = nil }, []bool{}},
		{"held", func(*compaction.RewriteInput) {}, []bool{false}},
		{"gain: below", func(in *compaction.RewriteInput) { in.Due[0].Gain = 4999 }, []bool{false}},
		{"gain: enough", func(in *compaction.RewriteInput) { in.Due[0].Gain = 5000 }, []bool{true}},
		{"gain: not together", func(in *compaction.RewriteInput) { in.Due = append(in.Due, due(40_000, 3999, 0)) }, []bool{false, false}},
		{"gain: together", func(in *compaction.RewriteInput) { in.Due = append(in.Due, due(40_000, 4000, 0)) }, []bool{true, true}},
		{"gain: none asked for", func(in *compaction.RewriteInput) { in.MinGain = 0 }, []bool{true}},
		{"waited: not long", func(in *compaction.RewriteInput) { in.Due[0].Waited = 9; in.Coming[0].Left = 1 }, []bool{false}},
		{"waited: its time", func(in *compaction.RewriteInput) { in.Due[0].Waited = 10 }, []bool{true}},
		{"waited: one of them takes the others along", func(in *compaction.RewriteInput) { in.Due = append(in.Due, due(10, 5, 10)) }, []bool{true, true}},
		{"waited: none allowed", func(in *compaction.RewriteInput) { in.MaxTurns = 0 }, []bool{true}},
		{"overflow", func(in *compaction.RewriteInput) { in.Overflow = true }, []bool{true}},
		{"cold", func(in *compaction.RewriteInput) { in.Cold = true }, []bool{true}},
		{"free: behind what changes", func(in *compaction.RewriteInput) { in.Free = 50_000 }, []bool{true}},
		{"free: before what changes", func(in *compaction.RewriteInput) { in.Free = 49_999 }, []bool{false}},
		{"free: only those behind", func(in *compaction.RewriteInput) { in.Free, in.Due = 30_000, append(in.Due, due(30_000, 1, 0)) }, []bool{false, true}},
		{"free: what nobody has cached", func(in *compaction.RewriteInput) { in.Due[0].Behind = 0 }, []bool{true}},
		{"free gain does not count for the others", func(in *compaction.RewriteInput) { in.Free, in.Due = 30_000, append(in.Due, due(30_000, 9000, 0)) }, []bool{false, true}},
		{"a small view is left alone though waiting does not pay", func(in *compaction.RewriteInput) { in.Coming, in.View = nil, 4999 }, []bool{false}},
		{"a view that is not small is not", func(in *compaction.RewriteInput) { in.Coming, in.View = nil, 5000 }, []bool{true}},
		{"a small view, and its time has come", func(in *compaction.RewriteInput) { in.View, in.Due[0].Waited = 100, 10 }, []bool{true}},
		// Waiting costs .1 × 1,000 a turn, and saves 1.15 × 50,000 once.
		{"waiting pays", func(in *compaction.RewriteInput) { in.Coming[0].Left = 10 }, []bool{false}},
		{"waiting pays, but not in time", func(in *compaction.RewriteInput) { in.Coming[0].Left = 11 }, []bool{true}},
		{"waiting pays, but not in the time that is left", func(in *compaction.RewriteInput) { in.Coming[0].Left, in.Due[0].Waited = 5, 6 }, []bool{true}},
		{"waiting pays for nothing shared", func(in *compaction.RewriteInput) { in.Coming[0].Behind = 0 }, []bool{true}},
		{"waiting costs as much as it saves", func(in *compaction.RewriteInput) {
			in.Coming[0].Behind, in.Read, in.Write, in.Due[0].Gain = 1000, 1, 2, 1000
		}, []bool{true}},
		{"waiting costs less than it saves", func(in *compaction.RewriteInput) {
			in.Coming[0].Behind, in.Read, in.Write, in.Due[0].Gain = 1000, 1, 2, 999
		}, []bool{false}},
		{"waiting pays for one of the coming", func(in *compaction.RewriteInput) {
			in.Coming = []compaction.ComingEdit{{Behind: 0, Left: 1}, {Behind: 60_000, Left: 11}, {Behind: 60_000, Left: 2}}
		}, []bool{false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := compaction.RewriteInput{
				Due: []compaction.DueEdit{due(50_000, 1000, 0)}, Coming: []compaction.ComingEdit{{Behind: 60_000, Left: 1}},
				View: 100_000, MinGain: 5000, MaxTurns: 10, Read: .1, Write: 1.25,
			}
			tt.change(&in)
			if got := compaction.Rewrite(in); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// editHistory is a conversation as the provider bills it: one text per turn, some of which shrink to a rest at a certain age in turns.
type editHistory []struct{ tokens, rest, turns int64 }

func drawHistory(t *rapid.T, large bool) editHistory {
	s := make(editHistory, rapid.IntRange(2, 60).Draw(t, "turns"))
	for i := range s {
		s[i].tokens = rapid.Int64Range(1, 20_000).Draw(t, "tokens")
		s[i].rest = s[i].tokens
		if rapid.Bool().Draw(t, "expires") {
			s[i].rest = rapid.Int64Range(0, s[i].tokens).Draw(t, "rest")
		}
		s[i].turns = rapid.Int64Range(0, 12).Draw(t, "lives")
	}
	if large {
		s[0].tokens, s[0].rest = 60_000, 60_000
	}
	return s
}

// cost plays the history and adds up what the provider bills for input, in tokens. Leading tokens that are the same as in the previous
// call are read from the cache, the others are written to it.
func (s editHistory) cost(decide func(compaction.RewriteInput) []bool, minGain int64) float64 {
	const read, write = .1, 1.25
	shown := make([]int64, 0, len(s))
	total := 0.0
	for turn := range s {
		in := compaction.RewriteInput{MinGain: minGain, MaxTurns: 10, Read: read, Write: write}
		var at []int
		behind, seen := make([]int64, len(shown)), int64(0)
		for i := len(shown) - 1; i >= 0; i-- {
			seen += shown[i]
			behind[i] = seen
		}
		in.View = seen + s[turn].tokens
		for i := range shown {
			gain, left := shown[i]-s[i].rest, int64(i)+s[i].turns+1-int64(turn)
			switch {
			case gain <= 0:
			case left > 0:
				in.Coming = append(in.Coming, compaction.ComingEdit{Behind: behind[i], Left: int32(left)})
			default:
				at = append(at, i)
				in.Due = append(in.Due, compaction.DueEdit{Behind: behind[i], Gain: gain, Waited: int32(-left)})
			}
		}
		same := seen
		for j, now := range decide(in) {
			if now {
				same = min(same, seen-behind[at[j]])
				shown[at[j]] = s[at[j]].rest
			}
		}
		shown = append(shown, s[turn].tokens)
		sum := int64(0)
		for _, n := range shown {
			sum += n
		}
		total += read*float64(same) + write*float64(sum-same)
	}
	return total
}

func eager(in compaction.RewriteInput) []bool {
	out := make([]bool, len(in.Due))
	for i := range out {
		out[i] = true
	}
	return out
}

// TestRewrite_Costs: the cost of COALESCED over random histories, compared with EAGER. Future appends are unknown, so a wait can be a
// mistake. In a single history it never costs much, and over all histories it saves.
func TestRewrite_Costs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		large   bool
		minGain int64
		epsilon float64 // of EAGER's cost
	}{
		{"no gain asked for: they are the same", false, 0, 0},
		{"large views", true, 5000, worstLarge},
		{"any views", false, 5000, worstAny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sumOfAll, sumOfEager, worst := 0.0, 0.0, 0.0
			proptest.Check(t, func(t *rapid.T) {
				s := drawHistory(t, tt.large)
				coalesced, atOnce := s.cost(compaction.Rewrite, tt.minGain), s.cost(eager, tt.minGain)
				worst = max(worst, coalesced/atOnce-1)
				sumOfAll, sumOfEager = sumOfAll+coalesced, sumOfEager+atOnce
				if coalesced > atOnce*(1+tt.epsilon)+1e-6 {
					t.Fatalf("coalesced %.0f, eager %.0f (%.4f)", coalesced, atOnce, coalesced/atOnce)
				}
			})
			t.Logf("the worst history costs %.2f %% more, all of them %.2f %%", 100*worst, 100*(sumOfAll/sumOfEager-1))
			if sumOfAll > sumOfEager {
				t.Errorf("all histories cost %.0f coalesced and %.0f eager", sumOfAll, sumOfEager)
			}
		})
	}
}

// What a history may cost more than EAGER at worst. Of 100,000 histories the worst cost 12 % more with large views (all of them 7 %
// less), and 63 % with any (all of them 14 % less): small ones, in which there is little to lose.
const (
	worstLarge = .20
	worstAny   = 1
)

package bound

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/replay/recording"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// shownOnce is a message that one build must show, and that is taken up before others.
func shownOnce(weight, from int, needs ...need) holding {
	return holding{weight: weight, from: from, until: from, needs: needs}
}

func refersAt(builds ...int) (out []need) {
	for _, b := range builds {
		out = append(out, need{build: b, references: 1})
	}
	return out
}

// known is a recording of as many builds as there are figures: how many messages each can show.
func known(holdings []holding, builds ...int) *foresight {
	return &foresight{holdings: holdings, builds: builds, demands: make([][]demand, len(builds))}
}

// What nothing refers to is left out where nothing is kept behind it: that costs nothing.
func TestForesight_Rewriting_LeavesOutWhatNothingRefersTo(t *testing.T) {
	f := known([]holding{
		{weight: 10, until: forever}, shownOnce(100, 0), shownOnce(50, 1, refersAt(3)...), shownOnce(1, 2), shownOnce(1, 3),
	}, 2, 3, 4, 5)
	gone := f.rewriting(report.DefaultPrices)
	if want := []int{forever, 1, forever, 3, forever}; !slices.Equal(gone, want) {
		t.Fatalf("gone from %v, want %v", gone, want)
	}
	// 110 written; 10 read and 50 written; 60 read and 1 written; the same again.
	paid := f.follow(gone, report.DefaultPrices, true, "")
	if want := 137.5 + (1 + 62.5) + (6 + 1.25) + (6 + 1.25); math.Abs(paid.CostWith-want) > 1e-9 || paid.TokensWith != 110+60+61+61 || paid.Rewrites != 2 {
		t.Errorf("cost %v, want %v; %d tokens, %d rewrites", paid.CostWith, want, paid.TokensWith, paid.Rewrites)
	}
	// All of it: 110 written; 110 read, 50 written; 160 read, 1 written; 161 read, 1 written.
	if want := 137.5 + (11 + 62.5) + (16 + 1.25) + (16.1 + 1.25); math.Abs(paid.CostWithout-want) > 1e-9 {
		t.Errorf("cost without %v, want %v", paid.CostWithout, want)
	}
}

// 100 tokens that are dead from build 2 on save 10 a build, and cost 57.5 where 50 are kept behind them: worth it in six builds, not in five.
func TestForesight_Rewriting_CutsWhereItPays(t *testing.T) {
	for builds, want := range map[int]int{7: forever, 8: 2} {
		last := builds - 1
		holdings := []holding{shownOnce(100, 0, refersAt(1)...), shownOnce(50, 1, refersAt(last)...)}
		f := known(holdings, append([]int{1}, slices.Repeat([]int{2}, last)...)...)
		gone := f.rewriting(report.DefaultPrices)
		if gone[0] != want || gone[1] != forever {
			t.Errorf("%d builds: gone from %v, want %v", builds, gone, want)
		}
		if want == forever {
			continue
		}
		// 100 written; 100 read, 50 written; 50 written anew; 50 read five times.
		if cost, want := f.follow(gone, report.DefaultPrices, true, "").CostWith, 125+(10+62.5)+62.5+5*5; math.Abs(cost-want) > 1e-9 {
			t.Errorf("cost %v, want %v", cost, want)
		}
		if cost, want := f.follow(gone, report.DefaultPrices, false, "").CostWith, 125+(10+62.5)+6*5.0; math.Abs(cost-want) > 1e-9 {
			t.Errorf("cost for nothing %v, want %v", cost, want)
		}
	}
}

// Who leaves nothing out pays for all of it, tools included.
func TestForesight_Follow_AllShown_IsTheWholeHistory(t *testing.T) {
	f := known([]holding{shownOnce(100, 0), shownOnce(50, 1)}, 1, 2)
	f.fixed = 8
	// 108 written; 108 read and 50 written.
	all := f.follow(slices.Repeat([]int{forever}, 2), report.DefaultPrices, true, "")
	if want := 135 + 10.8 + 62.5; math.Abs(all.CostWith-want) > 1e-9 || math.Abs(all.CostWithout-want) > 1e-9 || all.TokensWith != 266 || all.TokensWithout != 266 || all.Rewrites != 0 {
		t.Errorf("cost %v and %v, want %v; %d and %d tokens", all.CostWith, all.CostWithout, want, all.TokensWith, all.TokensWithout)
	}
}

// Of what may be lost, the heavier goes first, and no more than may be lost.
func TestForesight_Forgetting_GivesUpWhatWeighsMost(t *testing.T) {
	heavy, light := shownOnce(100, 0, refersAt(1, 4)...), shownOnce(10, 0, refersAt(4)...)
	content := shownOnce(5, 0, need{build: 2, content: 9})
	for share, want := range map[float64][]int{1: {5, 5, 3}, 0.6: {2, 5, 3}, 0.3: {1, 5, 3}, 0: {1, 1, 1}} {
		f := known([]holding{heavy, light, content}, 3, 3, 3, 3, 3)
		if gone := f.forgetting(share); !slices.Equal(gone, want) {
			t.Errorf("of %v: gone from %v, want %v", share, gone, want)
		}
	}
}

func TestForesee_Recording_KnowsWhoIsNeededUntilWhen(t *testing.T) {
	f := foreseen(t, recorded, func(text string) int { return len(text) })
	if !slices.Equal(f.builds, []int{2, 4, 6}) {
		t.Errorf("builds show %v messages", f.builds)
	}
	for i, want := range []holding{
		{until: forever}, {until: 1, needs: refersAt(0)}, {from: 1, until: 1}, {from: 1, until: 1, needs: refersAt(1, 2)},
		{from: 2, until: 2}, {from: 2, until: forever, needs: refersAt(2)}, {from: 3, until: 3},
	} {
		if h := f.holdings[i]; h.from != want.from || h.until != want.until || !slices.Equal(h.needs, want.needs) || h.weight == 0 {
			t.Errorf("message %d is %+v, want %+v", i, h, want)
		}
	}
	// Without message 3 from build 2 on, base_99 is lost, and order_77 is not.
	gone := slices.Repeat([]int{forever}, 7)
	gone[3] = 2
	if lossy := f.follow(gone, report.DefaultPrices, true, ""); lossy.Recall.References != (report.Recalled{Wanted: 4, Held: 3}) {
		t.Errorf("%+v", lossy.Recall.References)
	}
}

// A system message or a call that waits gets no answer, so nobody is asked.
func TestForesee_NothingToAnswer_IsNoBuild(t *testing.T) {
	const open = `{"messages":[{"role":"system","content":"s"},{"role":"assistant","content":"hi"},{"role":"user","content":"u"},
		{"role":"assistant","tool_calls":[{"id":"a","name":"x","arguments":"{}"}]},{"role":"assistant","content":"still"}]}`
	if f := foreseen(t, open, func(string) int { return 1 }); !slices.Equal(f.builds, []int{3}) {
		t.Errorf("builds show %v messages", f.builds)
	}
}

const recorded = `{"id":"c","messages":[
	{"role":"system","content":"Be brief."},
	{"role":"user","content":"Read /src/main.go and order_77 please"},
	{"role":"assistant","content":"","tool_calls":[{"id":"a1","name":"read","arguments":"{\"path\":\"/src/main.go\"}"}]},
	{"role":"tool","tool_call_id":"a1","name":"read","content":"package main // v1.2.3 of base_99","raw":"package main // v1.2.3 of base_99 raw"},
	{"role":"assistant","content":"It is v1.2.3"},
	{"role":"user","content":"and order_77?"},
	{"role":"assistant","content":"order_77 is in base_99"}]}`

// foreseen reads a recording.
func foreseen(t *testing.T, content string, count validate.Counter) *foresight {
	t.Helper()
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	recordings, err := recording.Load([]string{file}, recording.Options{Sample: 1})
	if err != nil {
		t.Fatal(err)
	}
	return foresee(&recordings[0], count)
}

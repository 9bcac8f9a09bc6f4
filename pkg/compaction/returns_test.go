package compaction

import "testing"

func tail(tokens ...int64) []TailUnit {
	var out []TailUnit
	for i, n := range tokens {
		out = append(out, TailUnit{First: int32(10 * i), Tokens: n, Messages: 1})
	}
	return out
}

// TestCut_WhatComesBack_Counts: a unit that refers to a copy which would be summarized grows, and leaves room for less.
func TestCut_WhatComesBack_Counts(t *testing.T) {
	units := tail(100, 100, 100, 100)
	for name, tt := range map[string]struct {
		returns []Return
		want    int
	}{
		"nothing":                    {nil, 1},
		"its copy goes":              {[]Return{{Unit: 30, Needs: 5, Tokens: 60}}, 2},
		"its copy stays":             {[]Return{{Unit: 30, Needs: 15, Tokens: 60}}, 1},
		"it goes itself":             {[]Return{{Unit: 0, Needs: 0, Tokens: 60}}, 1},
		"its copy goes with the cut": {[]Return{{Unit: 30, Needs: 15, Tokens: 60}, {Unit: 20, Needs: 5, Tokens: 1}}, 1},
		"one behind its copy":        {[]Return{{Unit: 30, Needs: 0, Tokens: 500}}, 3},
	} {
		if got := Cut(CutInput{Units: units, Keep: 100, Tail: 310, Returns: tt.returns}); got != tt.want {
			t.Errorf("%s: cut at %d, want %d", name, got, tt.want)
		}
	}
}

// TestFit_WhatComesBack_Counts: if the target is only met without what comes back, the start moves further.
func TestFit_WhatComesBack_Counts(t *testing.T) {
	in := FitInput{Newest: Claim{First: 40, Whole: 100, Least: 100}, Units: tail(100, 100, 100, 100), Limit: 450, Rest: 450, Target: 310, Over: true}
	if got := Fit(in).Start; got != 20 {
		t.Fatalf("it starts at %d", got)
	}
	in.Returns = []Return{{Unit: 30, Needs: 15, Tokens: 120}}
	if got := Fit(in).Start; got != 30 {
		t.Errorf("with what comes back it starts at %d", got)
	}
	in.Returns = []Return{{Unit: 30, Needs: 20, Tokens: 120}}
	if got := Fit(in).Start; got != 20 {
		t.Errorf("with a copy that stays it starts at %d", got)
	}
}

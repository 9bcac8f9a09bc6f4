package report

import (
	"testing"
	"time"
)

func TestMillis_Percentiles(t *testing.T) {
	var d []time.Duration
	for i := range 101 {
		d = append(d, time.Duration(100-i)*time.Millisecond)
	}
	if got := millis(d); got != (Millis{50, 95, 99}) {
		t.Error(got)
	}
}

func TestTally_Merge_FollowsTheTagsOfFigures(t *testing.T) {
	sum := NewTally(nil)
	for _, n := range []int{0, 3, 2} {
		o := NewTally(nil)
		o.Errors, o.TokensWith, o.CostWith, o.NewestKept = n, int64(n), float64(n), n
		o.Refused["reason"], o.LetGo.Events["event"], o.AtEnd.Refused["reason"] = n, n, n
		o.Compactions.Largest, o.Citations.Largest, o.Citations.Count, o.OwnCalls.Calls = float64(n), n, n, int64(n)
		sum.Merge(o)
	}
	if sum.Errors != 5 || sum.TokensWith != 5 || sum.CostWith != 5 || sum.Citations.Count != 5 || sum.OwnCalls.Calls != 5 {
		t.Errorf("figures do not add up: %+v", sum.Report)
	}
	if sum.Refused["reason"] != 5 || sum.LetGo.Events["event"] != 5 || sum.AtEnd.Refused["reason"] != 5 {
		t.Errorf("maps do not add up: %+v", sum.Report)
	}
	if sum.NewestKept != 2 || sum.Compactions.Largest != 3 || sum.Citations.Largest != 3 {
		t.Errorf("least %d, largest %v and %d", sum.NewestKept, sum.Compactions.Largest, sum.Citations.Largest)
	}
}

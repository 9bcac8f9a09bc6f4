package report

import (
	"testing"
)

func TestMean_Figures_AreMeansAndFaultsAreAddedUp(t *testing.T) {
	one := func(cost float64, builds, wrong, kept int, largest float64) *Report {
		r := NewTally(nil).Report
		r.CostWith, r.Builds, r.WrongRefusals, r.NewestKept, r.Compactions.Largest = cost, builds, wrong, kept, largest
		r.Refused["X"], r.Files = builds, []FileReport{{File: "f", CostWith: cost, NewestKept: kept}}
		return &r
	}
	m := Mean([]*Report{one(10, 3, 1, 50, 0.2), one(20, 4, 0, 40, 0.5), one(60, 4, 0, 0, 0.1)})
	if m.CostWith != 30 || m.Builds != 4 || m.Refused["X"] != 4 || m.Files[0].CostWith != 30 {
		t.Errorf("means are %+v", m)
	}
	if m.WrongRefusals != 1 || m.NewestKept != 40 || m.Files[0].NewestKept != 40 || m.Compactions.Largest != 0.5 {
		t.Errorf("faults, the least and the largest are %+v", m)
	}
}

package tokens_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// fixed is what every request carries and we do not count.
const fixed = 3000

// steady returns a calibration after n steps of 500 tokens at a true ratio.
func steady(c tokens.Calibration, n int, ratio float64) tokens.Calibration {
	for range n {
		counted := c.Counted + 500
		c = c.Observe(counted, fixed+int(float64(counted)*ratio))
	}
	return c
}

func TestCalibration_Factor_StartsAtPrior(t *testing.T) {
	tests := []struct{ prior, want float64 }{
		{0, 1}, {1, 1}, {1.22, 1.22}, {1.215, 1.22}, {0.1, 0.5}, {9, 2}, {-3, 1}, {math.NaN(), 1}, {math.Inf(1), 2},
	}
	for _, tt := range tests {
		if got := (tokens.Calibration{Prior: tt.prior}).Factor(); got != tt.want {
			t.Errorf("prior %v: Factor() = %v, want %v", tt.prior, got, tt.want)
		}
	}
}

func TestCalibration_Observe_FindsRatioBehindFixedPart(t *testing.T) {
	for _, ratio := range []float64{0.5, 0.76, 1, 1.22, 1.5, 2} {
		c := steady(tokens.Calibration{}, 60, ratio)
		if got := c.Factor(); math.Abs(got-ratio) > 0.041 {
			t.Errorf("Factor() = %v, want %v", got, ratio)
		}
	}
}

func TestCalibration_Observe_Sequences(t *testing.T) {
	type report struct{ counted, reported int }
	tests := []struct {
		name    string
		reports []report
		want    float64
	}{
		{"one report has no difference", []report{{1000, 5000}}, 1},
		{"an aborted call says nothing", []report{{1000, 5000}, {3000, 0}, {5000, -1}}, 1},
		{"the difference spans an aborted call", []report{{1000, 5000}, {3000, 0}, {5000, 9800}}, 1.1},
		{"a view that shrank teaches", []report{{90_000, 110_000}, {20_000, 26_000}}, 1.1},
		{"ours shrank, theirs grew", []report{{9000, 10_000}, {5000, 12_000}}, 1},
		{"ours grew, theirs shrank", []report{{5000, 12_000}, {9000, 10_000}}, 1},
		{"theirs did not move", []report{{5000, 12_000}, {9000, 12_000}}, 1},
		{"tiny differences add up", []report{{5000, 6000}, {5050, 6060}, {5100, 6120}, {6000, 7200}}, 1.1},
		{"a negative count is refused", []report{{1000, 5000}, {-1, 9000}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c tokens.Calibration
			for _, r := range tt.reports {
				c = c.Observe(r.counted, r.reported)
			}
			if got := c.Factor(); got != tt.want {
				t.Errorf("Factor() = %v, want %v (%+v)", got, tt.want, c)
			}
		})
	}
}

func TestCalibration_Observe_TinyDifference_Waits(t *testing.T) {
	before := tokens.Calibration{}.Observe(5000, 6000)
	for _, counted := range []int{4950, 5000, 5050} {
		if after := before.Observe(counted, 6060); after != before {
			t.Errorf("Observe(%d, 6060) = %+v, want %+v", counted, after, before)
		}
	}
}

func TestCalibration_Observe_OneWildReportDoesNotSwing(t *testing.T) {
	before := steady(tokens.Calibration{}, 40, 1.2)
	for _, wild := range []int{1, 50, 10_000_000, math.MaxInt} {
		after := before.Observe(before.Counted+5000, wild)
		after = steady(after, 1, 1.2)
		if moved := math.Abs(after.Factor() - before.Factor()); moved > 0.061 {
			t.Errorf("a report of %d moved the factor by %.2f", wild, moved)
		}
	}
}

func TestCalibration_Observe_OldObservationsFade(t *testing.T) {
	c := steady(tokens.Calibration{}, 400, 1.5)
	c = c.Observe(0, 1) // a new view, so that only the ratio of what follows counts
	if got := steady(c, 250, 1).Factor(); got > 1.04 {
		t.Errorf("Factor() = %v after 125,000 tokens at 1", got)
	}
}

func TestCalibration_Factor_StaysInBoundsAndSteps(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		c := tokens.Calibration{Prior: rapid.Float64Range(0, 5).Draw(t, "prior")}
		for range rapid.IntRange(0, 40).Draw(t, "reports") {
			c = c.Observe(rapid.Int().Draw(t, "counted"), rapid.Int().Draw(t, "reported"))
			factor := c.Factor()
			steps := factor / tokens.FactorStep
			if factor < tokens.MinFactor || factor > tokens.MaxFactor || math.Abs(steps-math.Round(steps)) > 1e-6 {
				t.Fatalf("Factor() = %v (%+v)", factor, c)
			}
		}
	})
}

func TestCalibration_Observe_SurvivesStorage(t *testing.T) {
	c := steady(tokens.Calibration{Prior: 1.22}, 7, 1.31)
	stored, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var again tokens.Calibration
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	if again != c || again.Observe(9000, 14_000) != c.Observe(9000, 14_000) {
		t.Errorf("read back %+v, want %+v", again, c)
	}
}

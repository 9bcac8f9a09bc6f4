package tokens_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

var (
	_ tokens.Counter = (*bpe.Counter)(nil)
	_ tokens.Counter = chars4.Counter{}
)

func TestScale_RoundsUp(t *testing.T) {
	tests := []struct {
		name   string
		n      int
		factor float64
		want   int
	}{
		{"nothing", 0, 1.5, 0},
		{"one", 7, 1, 7},
		{"a fraction counts whole", 1, 0.5, 1},
		{"up", 101, 1.22, 124},
		{"no rounding noise", 100, 1.1, 110},
		{"no rounding noise at a large count", 1_000_000, 1.14, 1_140_000},
		{"a saving", -100, 1.25, -125},
		{"no factor", 42, 0, 42},
		{"a negative factor", 42, -1, 42},
		{"not a number", 42, math.NaN(), 42},
		{"infinite", 42, math.Inf(1), 42},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tokens.Scale(tt.n, tt.factor); got != tt.want {
				t.Errorf("Scale(%d, %v) = %d, want %d", tt.n, tt.factor, got, tt.want)
			}
		})
	}
}

func TestScale_NeverBelowProduct(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 10_000_000).Draw(t, "n")
		step := rapid.IntRange(25, 100).Draw(t, "step")
		// In whole numbers: n*step/50, rounded up.
		want := (n*step + 49) / 50
		if got := tokens.Scale(n, float64(step)/50); got != want {
			t.Fatalf("Scale(%d, %d/50) = %d, want %d", n, step, got, want)
		}
	})
}

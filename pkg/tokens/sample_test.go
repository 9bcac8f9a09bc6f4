package tokens_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

func TestSample_UpToLimit_IsExact(t *testing.T) {
	text := strings.Repeat("a", tokens.SampleAbove)
	calls := 0
	n, estimated := tokens.Sample(text, func(s string) int { calls++; return len(s) })
	if n != len(text) || estimated || calls != 1 {
		t.Errorf("Sample = %d, %v in %d calls; want %d, false in 1", n, estimated, calls, len(text))
	}
}

func TestSample_AboveLimit_ReadsBoundedWindows(t *testing.T) {
	for _, size := range []int{tokens.SampleAbove + 1, 1 << 20, 20 << 20} {
		text := strings.Repeat("漢a", size/4+1)
		read := 0
		n, estimated := tokens.Sample(text, func(s string) int {
			if !utf8.ValidString(s) {
				t.Errorf("%d bytes: a window is cut inside a rune", size)
			}
			read += len(s)
			return len(s)
		})
		if n != len(text) || !estimated || read > tokens.SampleAbove+1024 {
			t.Errorf("Sample of %d bytes = %d, %v, having read %d", len(text), n, estimated, read)
		}
	}
}

// Records of equal size meet a fixed grid of windows always at the same column.
func TestSample_RecordsOfEqualSize_AreNotAliased(t *testing.T) {
	exact := func(s string) int { return strings.Count(s, "x") }
	for _, half := range []int{512, 1024, 2048, 4096, 10_000} {
		text := strings.Repeat(strings.Repeat("x", half)+strings.Repeat("-", half), 5<<20/(2*half))
		n, _ := tokens.Sample(text, exact)
		if off := 100 * float64(n-exact(text)) / float64(exact(text)); off < -2 || off > 2 {
			t.Errorf("records of %d bytes: off by %.2f %%, want within 2", 2*half, off)
		}
	}
}

func TestSample_AnyBytes_NeverPanicsAndRepeats(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		unit := string(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "unit"))
		size := rapid.IntRange(tokens.SampleAbove, 2*tokens.SampleAbove).Draw(t, "size")
		text := strings.Repeat(unit, size/len(unit)+1)
		first, _ := tokens.Sample(text, utf8.RuneCountInString)
		second, _ := tokens.Sample(text, utf8.RuneCountInString)
		if first != second || first < 0 {
			t.Fatalf("Sample = %d, then %d", first, second)
		}
	})
}

package extractive_test

import (
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// longest is how long a megabyte may take: the promise is 100 ms, and machines that run tests do other things too.
const longest = 300 * time.Millisecond

func TestExtract_Megabyte_TakesLittleTime(t *testing.T) {
	testlane.Speed(t)
	for name, text := range proptest.Megabytes() {
		best := time.Hour
		for range 5 {
			start := time.Now()
			extractive.Extract(text, 2000)
			if best = min(best, time.Since(start)); best < longest/3 {
				break
			}
		}
		t.Logf("%-20s %v", name, best.Round(time.Millisecond))
		if best > longest {
			t.Errorf("%s: a megabyte takes %v", name, best)
		}
	}
}

func BenchmarkExtract_Megabyte(b *testing.B) {
	for name, text := range proptest.Megabytes() {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				extractive.Extract(text, 2000)
			}
		})
	}
}

package tokens

import (
	"math"
	"unicode/utf8"
)

// SampleAbove is the size, in bytes, above which a text is counted by sampling.
const SampleAbove = 256 << 10

const (
	// sampleWindows is how many windows a sample has, sampleWidth their size in bytes. Many small windows follow a text of varied density
	// better than a few large ones; below about 1 KiB the tokens cut at the borders begin to show.
	sampleWindows = 256
	sampleWidth   = 1 << 10
	// goldenRatio spreads the windows inside their strata: fixed positions
	// would always meet the same column of a file with records of equal size.
	goldenRatio = 0.6180339887498949
)

// Sample counts text with exact, if it is at most [SampleAbove] bytes long, and otherwise extrapolates from windows spread evenly over it,
// cut at rune borders. It reads at most 256 KiB of any longer text, so the cost of a count is bounded. The result depends on nothing but
// the text.
func Sample(text string, exact func(string) int) (n int, estimated bool) {
	if len(text) <= SampleAbove {
		return exact(text), false
	}
	counted, read := 0, 0
	for i := range sampleWindows {
		window := sampleWindow(text, i)
		counted += exact(window)
		read += len(window)
	}
	return int(math.Round(float64(counted) * float64(len(text)) / float64(read))), true
}

// sampleWindow returns the i-th window: each stratum of the text has one.
func sampleWindow(text string, i int) string {
	low, high := i*len(text)/sampleWindows, (i+1)*len(text)/sampleWindows
	_, shift := math.Modf(float64(i) * goldenRatio)
	start := low + int(shift*float64(high-low-sampleWidth))
	return text[runeBorder(text, start):runeBorder(text, start+sampleWidth)]
}

// runeBorder moves i back to the start of the rune it lies in. Invalid UTF-8
// bytes are left as they are, so the way back is at most a rune long.
func runeBorder(text string, i int) int {
	for back := range utf8.UTFMax {
		if i-back <= 0 || i == len(text) {
			return i
		}
		if utf8.RuneStart(text[i-back]) {
			return i - back
		}
	}
	return i
}

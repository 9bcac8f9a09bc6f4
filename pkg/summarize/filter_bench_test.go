package summarize

import (
	"strings"
	"testing"
)

// BenchmarkFilter reads 400 KB of what sessions show, and of what would be slow if time were not linear.
func BenchmarkFilter(b *testing.B) {
	for name, unit := range map[string]string{
		"lines": "See src/app/main.go:12 and run `go test ./pkg/x`, it took 250 ms.\n", "short lines": "a\n", "brackets": "[", "tags": "<a href=x>", "notes": "[Compacted ",
		"tokens": "<|", "headings": "The user said: ", "marks": "#", "calls": "Full text: expand_message(", "spaces": "[ ", "blank": " ",
	} {
		text := "- " + strings.Repeat(unit, 400_000/len(unit))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Filter(text)
			}
		})
	}
}

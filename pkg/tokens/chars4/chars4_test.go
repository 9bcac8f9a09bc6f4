package chars4_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

func TestCounter_Count_IsQuarterOfCharactersRoundedUp(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"empty", "", 0},
		{"one", "a", 1},
		{"four", "abcd", 1},
		{"five", "abcde", 2},
		{"code points, not bytes", "漢字漢字", 1},
		{"a flag is two code points", "🇫🇷🇫🇷🇫", 2},
		{"invalid bytes count singly", "\xff\xff\xff\xff\xff", 2},
		{"large texts are exact", strings.Repeat("a", 1<<20+1), 1<<18 + 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, estimated := chars4.New().Count(tt.text)
			if n != tt.want || estimated {
				t.Errorf("Count = %d, %v; want %d, false", n, estimated, tt.want)
			}
		})
	}
	if name := chars4.New().Name(); name != "chars4" {
		t.Errorf("Name() = %q", name)
	}
}

func FuzzCounter_Count(f *testing.F) {
	f.Add("hello")
	f.Add("\xe6\xbc")
	f.Fuzz(func(t *testing.T, text string) {
		n, _ := chars4.New().Count(text)
		if characters := utf8.RuneCountInString(text); n*4 < characters || n*4 >= characters+4 {
			t.Errorf("Count(%q) = %d for %d characters", text, n, characters)
		}
	})
}

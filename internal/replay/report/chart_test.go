package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestChart_ManyTurns_FitsTheWidth(t *testing.T) {
	var turns []turn
	for i := range 500 {
		turns = append(turns, turn{2, int64(200 * i), int64(100 * i)})
	}
	for _, ascii := range []bool{false, true} {
		got := chart(turns, ascii)
		for line := range strings.Lines(got[strings.Index(got, "\n")+1:]) {
			if n := utf8.RuneCountInString(line); n > chartWidth+5 {
				t.Errorf("a line of %d characters", n)
			}
		}
		if ascii && len(got) != utf8.RuneCountInString(got) {
			t.Error("not ASCII")
		}
		if !strings.ContainsAny(got, "░.") || !strings.ContainsAny(got, "█#") {
			t.Error(got)
		}
	}
	if got := chart(nil, true); !strings.Contains(got, "+\n") {
		t.Error(got)
	}
}

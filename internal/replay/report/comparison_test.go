package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// text is the report as a wide terminal without Unicode shows it.
func (r *Report) text() string {
	var b bytes.Buffer
	r.print(&sheet.Sheet{Out: &b, ASCII: true, Width: 120})
	return b.String()
}

func TestReport_Comparison_FitsTheWidth(t *testing.T) {
	large := func(name string) *Report {
		return &Report{
			Policy: name, MeanFill: 0.7,
			FileReport: FileReport{Builds: 1, TokensWith: 123_456_789_000, CostWith: 98_765_432_100, Rewrites: 123_456, ReferenceRecall: 0.987},
			OwnCalls:   OwnCalls{Calls: 1_234_567, Cost: 12_345_678}, Compactions: Compactions{Count: 12_345, Summaries: 23_456},
			BuildMS: Millis{P50: 12.3, P95: 123.4},
			Files:   []FileReport{{File: "/d/a_rather_long_name/conversations.jsonl", TokensWith: 1_234_567, CostWith: 9}, {File: "b"}},
		}
	}
	r := large("summarize")
	r.Against = []*Report{large("balanced"), large("none")}
	text := r.text()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"123G  1.000", "98.8G", "By file", "a_rather_long_name/conversations.jsonl", "1.23M", "123"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Must be 0") {
		t.Errorf("the whole report of one policy among several\n%s", text)
	}
}

func TestShort_ThreeDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 7: "7", 1.5: "1.50", 12.34: "12.3", 999: "999", 999.6: "1.00k", 1234: "1.23k", 99_960: "100k", 12_345_678: "12.3M", 2.5e9: "2.50G", 5e11: "500G"} {
		if got := short(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// errorReportScore returns how much a line among code looks like an error report rather than code that handles one; 0 if not at all.
// Reports are sentences with error words, begin like reports, stand outside the code's indentation, and contain numbers.
func errorReportScore(all []choice.Unit, i int) int {
	s := strings.TrimSpace(all[i].Text)
	if facts.LineSeverity(s) < facts.Failing || looksLikeSource(s) {
		return 0
	}
	report := 0
	if facts.BeginsAsReport(s) {
		report += 4
	}
	if isOutdented(all, i) {
		report += 3
	}
	if strings.Count(s, " ") > 2 && !strings.ContainsAny(s, "(){}=;\"'`") {
		report += 2
	}
	if strings.ContainsAny(s, "0123456789") {
		report++
	}
	if report < 3 {
		return 0
	}
	return report
}

// looksLikeSource reports whether a line is code, or a comment in it.
func looksLikeSource(s string) bool {
	last := s[len(s)-1]
	return strings.IndexByte("{};,(\\", last) >= 0 || strings.Contains(s, "= ") || (startsLikeCode(s) && !facts.BeginsAsReport(s)) ||
		strings.HasPrefix(s, "\"") || strings.HasPrefix(s, "'")
}

// isOutdented reports whether a line is indented less than both its neighbors, if it has them.
func isOutdented(all []choice.Unit, i int) bool {
	depth := func(k int) int {
		if k < 0 || k >= len(all) {
			return 1 << 10
		}
		return len(all[k].Text) - len(strings.TrimLeft(all[k].Text, " \t"))
	}
	return depth(i) < depth(i-1) && depth(i) < depth(i+1)
}

package extractive

import "strings"

// reportsError says how much a line among code looks like the report of an error rather than code that handles one, 0 for not
// at all: sentences with an error's words in them, that begin as reports do, stand outside the code's indentation, and have
// numbers in them.
func reportsError(all []unit, i int) int {
	s := strings.TrimSpace(all[i].text)
	if lineSeverity(s) < failing || looksWritten(s) {
		return 0
	}
	report := 0
	if beginsAsReport(s) {
		report += 4
	}
	if outside(all, i) {
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

// looksWritten says whether a line is code, or a comment in it.
func looksWritten(s string) bool {
	last := s[len(s)-1]
	return strings.IndexByte("{};,(\\", last) >= 0 || strings.Contains(s, "= ") || (beginsAsCode(s) && !beginsAsReport(s)) ||
		strings.HasPrefix(s, "\"") || strings.HasPrefix(s, "'")
}

func beginsAsReport(s string) bool {
	for _, begin := range []string{
		"ERROR", "Error:", "error:", "FATAL", "fatal:", "CRITICAL", "Traceback (", "panic:", "FAILED", "FAIL:", "E   ", "[ERROR", "[error",
		"Exception in ", "Caused by:", "Unhandled ", "WARN", "Fatal", "Segmentation fault",
	} {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	word := firstWord(s)
	return compoundSeverity(word[strings.LastIndexByte(word, '.')+1:]) == grave && strings.HasPrefix(s[len(word):], ": ") || dated(s)
}

// dated says whether a line begins with a date or a time, as those of logs do.
func dated(s string) bool {
	if strings.HasPrefix(s, "|") {
		return false // a table
	}
	begin := clipBytes(strings.TrimLeft(s, "[<( "), 28)
	digits, first := 0, 0
	for i := range len(begin) {
		if isDigit(begin[i]) {
			if digits == i {
				first++
			}
			digits++
		}
	}
	return first >= 6 || (digits >= 6 && strings.ContainsAny(begin, ":-/"))
}

// outside says whether a line is indented less than both its neighbours, or stands between lines that both are.
func outside(all []unit, i int) bool {
	depth := func(k int) int {
		if k < 0 || k >= len(all) {
			return 1 << 10
		}
		return len(all[k].text) - len(strings.TrimLeft(all[k].text, " \t"))
	}
	return depth(i) < depth(i-1) && depth(i) < depth(i+1)
}

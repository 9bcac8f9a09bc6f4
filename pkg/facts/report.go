package facts

import (
	"strings"
)

// BeginsAsReport reports whether a line begins like an error report or a log line.
func BeginsAsReport(s string) bool {
	for _, begin := range []string{
		"ERROR", "Error:", "error:", "FATAL", "fatal:", "CRITICAL", "Traceback (", "panic:", "FAILED", "FAIL:", "E   ", "[ERROR", "[error",
		"Exception in ", "Caused by:", "Unhandled ", "WARN", "Fatal", "Segmentation fault",
	} {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	word := LeadingName(s)
	return compoundSeverity(word[strings.LastIndexByte(word, '.')+1:]) == Grave && strings.HasPrefix(s[len(word):], ": ") || IsDated(s)
}

// IsDated reports whether a line begins with a date or a time, as log lines do.
func IsDated(s string) bool {
	if strings.HasPrefix(s, "|") {
		return false // a table
	}
	begin := strings.TrimLeft(s, "[<( ")
	begin = begin[:min(len(begin), 28)]
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

// LeadingName returns the name at the start of a text, including the names of its modules.
func LeadingName(s string) string {
	i := 0
	for i < len(s) && (IsWordByte(s[i]) || (s[i] == '.' && i > 0)) {
		i++
	}
	return s[:i]
}

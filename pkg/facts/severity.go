package facts

import (
	"slices"
	"strings"
)

// Severity is how much a text looks like an error report.
type Severity int8

// The severities, lightest first.
const (
	// Ordinary: no mention of errors.
	Ordinary Severity = iota
	// Warning: it is called a warning.
	Warning
	// Failing: it has a word of failure reports.
	Failing
	// Grave: it is called an error, or names an exception.
	Grave
)

// SeverityOf returns the highest severity in a text.
func SeverityOf(s string) (found Severity) {
	before := ""
	for i := 0; i < len(s); {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			i++
			continue
		}
		end := wordEnd(s, i)
		found = max(found, severityAt(s, i, end, before))
		before, i = s[i:end], end
	}
	return found
}

// LineSeverity returns the severity of a line of a log or of output. A passed test is ordinary even if it is named after an error.
func LineSeverity(line string) Severity {
	if strings.Contains(line, " PASSED") || strings.HasSuffix(line, " ok") {
		return Ordinary
	}
	return SeverityOf(line)
}

func wordEnd(s string, i int) int {
	letters := isLetter(s[i])
	for i++; i < len(s) && (isLetter(s[i]) || !letters && isDigit(s[i])); {
		i++
	}
	return i
}

// severityAt returns the severity of the word between two positions, given the word before it.
func severityAt(s string, i, end int, before string) Severity {
	level := wordSeverity(s[i:end])
	switch {
	case (s[i:end] == "found" && before == "not") || (s[i:end] == "such" && strings.EqualFold(before, "no")):
		return Failing
	case level == Ordinary || denies(before) || deniedAfter(s[end:]):
		return Ordinary
	case 'a' <= s[i] && ((i > 0 && s[i-1] == '_') || (end < len(s) && s[end] == '_')):
		return Ordinary // part of a longer name, such as on_error
	}
	return level
}

// maxWordBytes is the length of the longest word that wordSeverity lists.
const maxWordBytes = 13

func wordSeverity(word string) Severity {
	if len(word) > maxWordBytes || len(word) < 3 {
		return compoundSeverity(word)
	}
	var lower [maxWordBytes]byte
	for i := range len(word) {
		lower[i] = word[i] | 0x20
	}
	switch string(lower[:len(word)]) {
	case "error", "errors", "fatal", "panic", "panicked", "critical", "crit", "emerg", "emergency", "severe", "exception", "traceback",
		"segfault", "sigsegv", "sigabrt", "oom", "err", "errno":
		return Grave
	case "fail", "fails", "failed", "failing", "failure", "failures", "refused", "denied", "abort", "aborted", "aborting", "timeout",
		"timedout", "unable", "cannot", "unreachable", "invalid", "corrupt", "corrupted", "killed", "unhandled", "uncaught", "rejected",
		"crash", "crashed", "deadlock", "violation", "unauthorized", "forbidden", "undefined", "exceeded", "unavailable", "broken",
		"conflict", "missing", "illegal", "exhausted", "bad", "unexpected", "stuck", "lost":
		return Failing
	case "warn", "warning", "warnings", "deprecated", "alert":
		return Warning
	}
	return compoundSeverity(word)
}

// compoundSeverity recognizes names such as ValueError and NullPointerException.
func compoundSeverity(word string) Severity {
	for _, tail := range []string{"Error", "Exception", "Failure"} {
		if len(word) > len(tail) && strings.HasSuffix(word, tail) {
			return Grave
		}
	}
	return Ordinary
}

// denies reports whether a word negates an error word after it.
func denies(word string) bool {
	switch word {
	case "0", "no", "No", "without", "zero", "not":
		return true
	}
	return false
}

// deniedAfter reports whether the text after an error word negates it: "errors: 0", "error=null".
func deniedAfter(rest string) bool {
	if len(rest) > 12 {
		rest = rest[:12]
	}
	value := strings.TrimLeft(rest, "\"' ")
	if value == "" || (value[0] != ':' && value[0] != '=') {
		return false
	}
	value = strings.TrimLeft(value[1:], "\"' ")
	isNothing := slices.ContainsFunc([]string{"null", "None", "nil", "false", "False"}, func(nothing string) bool { return strings.HasPrefix(value, nothing) })
	return isNothing || strings.HasPrefix(value, "0") && (len(value) == 1 || !IsWordByte(value[1]) && value[1] != '.')
}

// EachErrorWord calls yield for every word of a text that reports an error.
func EachErrorWord(s string, yield func(word string)) {
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			i++
			continue
		}
		end := wordEnd(s, i)
		if wordSeverity(s[i:end]) >= Failing {
			yield(s[i:end])
		}
		i = end
	}
}

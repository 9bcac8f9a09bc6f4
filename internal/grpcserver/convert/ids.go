package convert

import (
	"strconv"
	"strings"
)

// What the ids of the API begin with.
const (
	editPrefix    = "e"
	buildPrefix   = "b"
	summaryPrefix = "s"
)

// EditID writes the id of an edit, such as e12; 0 names none.
func EditID(n int64) string { return formatID(editPrefix, n) }

// BuildID writes the id of a build, such as b12; 0 names none.
func BuildID(n int64) string { return formatID(buildPrefix, n) }

// SummaryID writes the id of a summary, such as s7; 0 names none.
func SummaryID(n int64) string { return formatID(summaryPrefix, n) }

// ParseBuildID reads the id of a build. It is false for a text that is none.
func ParseBuildID(s string) (int64, bool) { return parseID(buildPrefix, s) }

// ParseSummaryID reads the id of a summary. It is false for a text that is none.
func ParseSummaryID(s string) (int64, bool) { return parseID(summaryPrefix, s) }

func parseID(prefix, s string) (int64, bool) {
	digits, ok := strings.CutPrefix(s, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0 && formatID(prefix, n) == s
}

func formatID(prefix string, n int64) string {
	if n == 0 {
		return ""
	}
	return prefix + strconv.FormatInt(n, 10)
}

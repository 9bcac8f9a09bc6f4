package grpcserver

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"
)

func noControls(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must have no control characters"
	}
	return ""
}

func jsonValue(s string) string {
	if !json.Valid(bytesOf(s)) {
		return "must be valid JSON"
	}
	return ""
}

func jsonObject(s string) string {
	if !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") || !json.Valid(bytesOf(s)) {
		return "must be a JSON object"
	}
	return ""
}

// The counters that a server has, by the names of the API.
const (
	counterO200k  = "o200k"
	counterCl100k = "cl100k"
	counterChars4 = "chars4"
)

func counterName(s string) string {
	switch s {
	case counterO200k, counterCl100k, counterChars4:
		return ""
	default:
		return "must be o200k, cl100k or chars4"
	}
}

func buildID(s string) string {
	if _, ok := parseID(buildPrefix, s); !ok {
		return "must be the id of a build, such as b12"
	}
	return ""
}

func summaryID(s string) string {
	if _, ok := parseID(summaryPrefix, s); !ok {
		return "must be the id of a summary, such as s7"
	}
	return ""
}

// What the ids of the API begin with.
const (
	editPrefix    = "e"
	buildPrefix   = "b"
	summaryPrefix = "s"
)

func parseID(prefix, s string) (int64, bool) {
	digits, ok := strings.CutPrefix(s, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0 && formatID(prefix, n) == s
}

// formatID writes the id of an edit (e12), a build (b12) or a summary (s7); 0 names none.
func formatID(prefix string, n int64) string {
	if n == 0 {
		return ""
	}
	return prefix + strconv.FormatInt(n, 10)
}

const (
	minTTL  = time.Minute
	maxTTL  = 10 * 365 * 24 * time.Hour
	ttlSpan = "1 minute to 10 years"
)

// lifetime is a time that something is kept, or 0.
func lifetime[M any](field string, get func(M) *durationpb.Duration) rule[M] {
	return durationIf(field, ttlSpan, "must be "+ttlSpan+", or 0", get, func(d time.Duration) bool {
		return d == 0 || minTTL <= d && d <= maxTTL
	})
}

// duration is a time from nothing to most, which span says in words.
func duration[M any](field, span string, most time.Duration, get func(M) *durationpb.Duration) rule[M] {
	return durationIf(field, span, "must be "+span, get, func(d time.Duration) bool { return 0 <= d && d <= most })
}

// durationIf is a time that is good if it says so. The range of a Duration of the API is wider than Go's, which takes the
// nearest that it has: far beyond all limits.
func durationIf[M any](field, span, fault string, get func(M) *durationpb.Duration, good func(time.Duration) bool) rule[M] {
	return rule[M]{facts{field: field, limits: []string{span}}, func(c *checker, m M) {
		if d := get(m); d != nil && (d.CheckValid() != nil || !good(d.AsDuration())) {
			c.fail("%s", fault)
		}
	}}
}

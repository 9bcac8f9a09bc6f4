package rules

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/alias"
)

// NoControls is the condition of a text without control characters.
func NoControls(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must have no control characters"
	}
	return ""
}

// JSONValue is the condition of any JSON.
func JSONValue(s string) string {
	if !json.Valid(alias.Bytes(s)) {
		return "must be valid JSON"
	}
	return ""
}

// JSONObject is the condition of a JSON object.
func JSONObject(s string) string {
	if !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") || !json.Valid(alias.Bytes(s)) {
		return "must be a JSON object"
	}
	return ""
}

// JSONElements is about how many values stand in JSON, which need not be valid: its brackets and commas, but for those in strings. Each
// becomes something once it is decoded.
func JSONElements(b []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == '{' || c == '[' || c == ','):
			n++
		}
	}
	return n
}

const (
	minTTL  = time.Minute
	maxTTL  = 10 * 365 * 24 * time.Hour
	ttlSpan = "1 minute to 10 years"
)

// Lifetime is a time that something is kept, or 0.
func Lifetime[M any](field string, get func(M) *durationpb.Duration) Rule[M] {
	return durationIf(field, ttlSpan, "must be "+ttlSpan+", or 0", get, func(d time.Duration) bool {
		return d == 0 || minTTL <= d && d <= maxTTL
	})
}

// Duration is a time from nothing to most, which span says in words.
func Duration[M any](field, span string, most time.Duration, get func(M) *durationpb.Duration) Rule[M] {
	return durationIf(field, span, "must be "+span, get, func(d time.Duration) bool { return 0 <= d && d <= most })
}

// DurationRange is a time with a least, which span says in words.
func DurationRange[M any](field, span string, least, most time.Duration, get func(M) *durationpb.Duration) Rule[M] {
	return durationIf(field, span, "must be "+span, get, func(d time.Duration) bool { return least <= d && d <= most })
}

// Time is a point in time that the API can write.
func Time[M any](field string, get func(M) *timestamppb.Timestamp) Rule[M] {
	return Rule[M]{Facts{Field: field}, func(c *Checker, m M) {
		if t := get(m); t != nil && t.CheckValid() != nil {
			c.Fail("must be a time of the years 1 to 9999")
		}
	}}
}

// durationIf is a time that is good if it says so. The range of a Duration of the API is wider than Go's, which takes the
// nearest that it has: far beyond all limits.
func durationIf[M any](field, span, fault string, get func(M) *durationpb.Duration, good func(time.Duration) bool) Rule[M] {
	return Rule[M]{Facts{Field: field, Limits: []string{span}}, func(c *Checker, m M) {
		if d := get(m); d != nil && (d.CheckValid() != nil || !good(d.AsDuration())) {
			c.Fail("%s", fault)
		}
	}}
}

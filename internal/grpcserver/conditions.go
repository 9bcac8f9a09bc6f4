package grpcserver

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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
	if _, ok := parseBuildID(s); !ok {
		return "must be the id of a build, such as b12"
	}
	return ""
}

func parseBuildID(s string) (int64, bool) {
	digits, ok := strings.CutPrefix(s, "b")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0 && formatID("b", n) == s
}

// formatID writes the id of an edit (e12), a build (b12) or a summary (s7); 0 names none.
func formatID(prefix string, n int64) string {
	if n == 0 {
		return ""
	}
	return prefix + strconv.FormatInt(n, 10)
}

const (
	minTTLSeconds = 60
	maxTTLSeconds = 10 * 365 * 24 * 60 * 60
	ttlSpan       = "1 minute to 10 years"
)

// ttl compares seconds: the range of a Duration of the API is wider than Go's.
func ttl(field string) rule[*pb.Policy] {
	return rule[*pb.Policy]{facts{field: field, limits: []string{ttlSpan}}, func(c *checker, p *pb.Policy) {
		if d := p.GetTtl(); d != nil && !goodTTL(d) {
			c.fail("must be %s, or 0", ttlSpan)
		}
	}}
}

func goodTTL(d *durationpb.Duration) bool {
	if d.CheckValid() != nil {
		return false
	}
	if d.GetSeconds() == 0 && d.GetNanos() == 0 {
		return true
	}
	s := d.GetSeconds()
	return minTTLSeconds <= s && (s < maxTTLSeconds || s == maxTTLSeconds && d.GetNanos() == 0)
}

package rules

import (
	"strconv"
	"strings"
)

const mebibyte = 1 << 20

// Limit is the range of a field: of its length, its number of elements or its value. What it says of itself is what the API's
// comment must say.
type Limit struct {
	min, max int64
	bytes    bool
}

// AtMostBytes is the limit of a text that may be empty.
func AtMostBytes(n int64) Limit { return Limit{max: n, bytes: true} }

// ByteRange is the limit of a text, in bytes.
func ByteRange(least, most int64) Limit { return Limit{min: least, max: most, bytes: true} }

// AtMost is the limit of a list that may be empty.
func AtMost(n int64) Limit { return Limit{max: n} }

// NumberRange is the limit of a number, or of how many elements a list has.
func NumberRange(least, most int64) Limit {
	return Limit{min: least, max: most}
}

// Holds says whether a number is within the limit.
func (l Limit) Holds(n int64) bool { return l.min <= n && n <= l.max }

// Length says the limit of a string or of a list.
func (l Limit) Length() string {
	if l.min == 0 {
		return "at most " + l.amount(l.max)
	}
	return l.Span()
}

// Span says the limit of a value.
func (l Limit) Span() string {
	if l.bytes && l.max >= mebibyte {
		return l.amount(l.min) + " to " + l.amount(l.max)
	}
	return Grouped(l.min) + " to " + l.amount(l.max)
}

func (l Limit) amount(n int64) string {
	switch {
	case l.bytes && n >= mebibyte && n%mebibyte == 0:
		return Grouped(n/mebibyte) + " MiB"
	case l.bytes:
		return Grouped(n) + " bytes"
	default:
		return Grouped(n)
	}
}

// Grouped writes a number as the API's comments do: 65,536.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

package grpcserver

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	mebibyte = 1 << 20

	// The wire carries 16 MiB, and what stands around the largest field that may have them.
	maxReceiveBytes = 16*mebibyte + 64<<10
	// The largest answer that max_reply_bytes can ask for.
	maxReplyBytes     = 64 * mebibyte
	maxSendBytes      = maxReplyBytes + 64<<10
	defaultReplyBytes = 3_670_016

	// Fields that are set and entries of lists, at any depth: some hundred a message would be many, and a batch has a thousand messages.
	maxElements = 200_000
	// What gRPC's other implementations take, twice.
	maxHeaderBytes = 32 << 10

	maxContentBytes = 16 * mebibyte
	// A piece of what StoreContent stores.
	maxChunkBytes = 4 * mebibyte
	// The largest place in a content that a request can name.
	maxPlace = 1 << 42
	maxIndex = math.MaxInt32

	maxPageSize     = 1000
	defaultPageSize = 100

	exportChunkBytes = mebibyte

	maxConcurrentStreams = 1024
	connectionTimeout    = 20 * time.Second
	maxReceiveTime       = 30 * time.Second
	keepaliveMinTime     = 10 * time.Second
	keepaliveTime        = 2 * time.Minute
	keepaliveTimeout     = 20 * time.Second
)

// limit is the range of a field: of its length, its number of elements or its value. What it says of itself is what the API's
// comment must say.
type limit struct {
	min, max int64
	bytes    bool
}

func atMostBytes(n int64) limit         { return limit{max: n, bytes: true} }
func byteRange(least, most int64) limit { return limit{min: least, max: most, bytes: true} }
func atMost(n int64) limit              { return limit{max: n} }
func numberRange(least, most int64) limit {
	return limit{min: least, max: most}
}

// An identifier or a name as long as the API lets names be.
func nameLimit() limit         { return byteRange(1, 256) }
func optionalNameLimit() limit { return atMostBytes(256) }
func tokensLimit() limit       { return numberRange(0, 100_000_000) }
func windowLimit() limit       { return numberRange(1, 100_000_000) }
func indexLimit() limit        { return numberRange(0, maxIndex) }
func placeLimit() limit        { return numberRange(0, maxPlace) }
func handleLimit() limit       { return byteRange(1, 64) }
func recentLimit() limit       { return numberRange(0, 10_000) }

func (l limit) holds(n int64) bool { return l.min <= n && n <= l.max }

// length says the limit of a string or of a list.
func (l limit) length() string {
	if l.min == 0 {
		return "at most " + l.amount(l.max)
	}
	return l.span()
}

// span says the limit of a value.
func (l limit) span() string {
	if l.bytes && l.max >= mebibyte {
		return l.amount(l.min) + " to " + l.amount(l.max)
	}
	return grouped(l.min) + " to " + l.amount(l.max)
}

func (l limit) amount(n int64) string {
	switch {
	case l.bytes && n >= mebibyte && n%mebibyte == 0:
		return grouped(n/mebibyte) + " MiB"
	case l.bytes:
		return grouped(n) + " bytes"
	default:
		return grouped(n)
	}
}

// grouped writes a number as the API's comments do: 65,536.
func grouped(n int64) string {
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

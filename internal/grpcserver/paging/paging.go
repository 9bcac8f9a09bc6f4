package paging

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

const (
	// MaxReplyBytes is the largest answer that max_reply_bytes can ask for.
	MaxReplyBytes = 64 << 20
	// DefaultReplyBytes is the largest answer where nothing is asked for.
	DefaultReplyBytes = 3_670_016

	maxPageSize     = 1000
	defaultPageSize = 100

	// PageTokenBytes is the most that a page token adds to an answer.
	PageTokenBytes = 512
)

// PageSize is the field that says how many elements a page has.
func PageSize[M any](get func(M) int32) rules.Rule[M] {
	return rules.Number("page_size", rules.NumberRange(0, maxPageSize), get).Says(fmt.Sprintf("%d by default", defaultPageSize))
}

// Rules are those of a request that has no fields but its page's.
func Rules[M Paged]() rules.Table[M] { return rules.Table[M]{PageSize(M.GetPageSize), Token[M]()} }

// A page token is a cursor with a checksum over the question it belongs to, so that a token of another listing, or one that was
// changed, is refused. It is no secret: what it leads to, its owner may read anyway.
const pageSumBytes = 12

// continued is a request for a page, whose pages end where the answer is full.
type continued interface {
	proto.Message
	GetPageToken() string
}

// Paged is a request for a page of so many elements.
type Paged interface {
	continued
	GetPageSize() int32
}

// Open returns the cursor of a request's token, and "" for the first page. It is false for a token that this request
// cannot have been given.
func Open(req continued) (cursor string, ok bool) {
	if req.GetPageToken() == "" {
		return "", true
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(req.GetPageToken())
	if err != nil || len(raw) <= pageSumBytes {
		return "", false
	}
	cursor = string(raw[pageSumBytes:])
	return cursor, bytes.Equal(pageSum(req, cursor), raw[:pageSumBytes])
}

// pageSum covers the question: the request without what may change from page to page.
func pageSum(req continued, cursor string) []byte {
	question := proto.Clone(req).ProtoReflect()
	for _, name := range []protoreflect.Name{"page_token", "page_size", "max_reply_bytes", "request_id"} {
		if field := question.Descriptor().Fields().ByName(name); field != nil {
			question.Clear(field)
		}
	}
	h := sha256.New()
	h.Write([]byte(question.Descriptor().FullName()))
	h.Write(convert.Canonical(question.Interface()))
	h.Write([]byte{0})
	h.Write([]byte(cursor))
	return h.Sum(nil)[:pageSumBytes]
}

// Token is the field that a listing goes on by.
func Token[M continued]() rules.Rule[M] {
	return rules.Text("page_token", rules.AtMostBytes(4096), M.GetPageToken).Then(func(c *rules.Checker, m M) {
		if _, ok := Open(m); !ok {
			c.Fail("is not a token that this listing gave")
		}
	})
}

// NumberToken is one whose cursor is a number from 0 to most. Whoever can count the checksum can make a token.
func NumberToken[M continued](most int64) rules.Rule[M] {
	return Token[M]().Then(func(c *rules.Checker, m M) {
		cursor, _ := Open(m)
		if n, err := strconv.ParseInt(cursor, 10, 64); cursor != "" && (err != nil || n < 0 || n > most) {
			c.Fail("is not a token that this listing gave")
		}
	})
}

// OpenNumber reads the cursor of a validated request; nil for the first page.
func OpenNumber[N rules.Whole](req continued) *N {
	cursor, _ := Open(req)
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return nil
	}
	return new(N(n))
}

// Limit is how many elements a page may have.
func Limit(req Paged) int {
	if n := int(req.GetPageSize()); n > 0 {
		return n
	}
	return defaultPageSize
}

// Next seals a cursor; an empty one ends the listing.
func Next(req continued, cursor string) (token string) {
	if cursor == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(pageSum(req, cursor), cursor...))
}

// NextNumber seals a cursor that is a number; nil ends the listing.
func NextNumber[N rules.Whole](req continued, cursor *N) (token string) {
	if cursor == nil {
		return ""
	}
	return Next(req, strconv.FormatInt(int64(*cursor), 10))
}

// Cut keeps as many elements as have room in an answer, and the first in any case: a thousand conversations with the largest metadata
// would be 64 MiB. It says whether any are left for the next page.
func Cut[M proto.Message](list []M) (page []M, more bool) {
	room := DefaultReplyBytes - PageTokenBytes
	for i, m := range list {
		if room -= ElementBytes(m); room < 0 && i > 0 {
			return list[:i], true
		}
	}
	return list, false
}

package grpcserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A page token is a cursor with a checksum over the question it belongs to, so that a token of another listing, or one that was
// changed, is refused. It is no secret: what it leads to, its owner may read anyway.
const pageSumBytes = 12

// continued is a request for a page, whose pages end where the answer is full.
type continued interface {
	proto.Message
	GetPageToken() string
}

// paged is a request for a page of so many elements.
type paged interface {
	continued
	GetPageSize() int32
}

func sealPage(req continued, cursor string) (string, error) {
	sum, err := pageSum(req, cursor)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(sum, cursor...)), nil
}

// openPage returns the cursor of a request's token, and "" for the first page. It is false for a token that this request
// cannot have been given.
func openPage(req continued) (cursor string, ok bool) {
	if req.GetPageToken() == "" {
		return "", true
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(req.GetPageToken())
	if err != nil || len(raw) <= pageSumBytes {
		return "", false
	}
	cursor = string(raw[pageSumBytes:])
	sum, err := pageSum(req, cursor)
	return cursor, err == nil && bytes.Equal(sum, raw[:pageSumBytes])
}

// pageSum covers the question: the request without what may change from page to page.
func pageSum(req continued, cursor string) ([]byte, error) {
	question := proto.Clone(req).ProtoReflect()
	for _, name := range []protoreflect.Name{"page_token", "page_size", "max_reply_bytes", "request_id"} {
		if field := question.Descriptor().Fields().ByName(name); field != nil {
			question.Clear(field)
		}
	}
	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(question.Interface())
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte(question.Descriptor().FullName()))
	h.Write(canonical)
	h.Write([]byte{0})
	h.Write([]byte(cursor))
	return h.Sum(nil)[:pageSumBytes], nil
}

// pageToken is the field that a listing goes on by.
func pageToken[M continued]() rule[M] {
	length := text("page_token", atMostBytes(4096), M.GetPageToken)
	return rule[M]{length.facts, func(c *checker, m M) {
		before := len(c.found)
		length.check(c, m)
		if _, ok := openPage(m); !ok && len(c.found) == before {
			c.fail("is not a token that this listing gave")
		}
	}}
}

// numberPageToken is one whose cursor is a number from 0 to most. Whoever can count the checksum can make a token.
func numberPageToken[M continued](most int64) rule[M] {
	token := pageToken[M]()
	return rule[M]{token.facts, func(c *checker, m M) {
		before := len(c.found)
		token.check(c, m)
		n, err := openNumber(m)
		if bad := err != nil || n != nil && (*n < 0 || *n > most); bad && len(c.found) == before {
			c.fail("is not a token that this listing gave")
		}
	}}
}

// openNumber reads the cursor of a validated request; nil for the first page.
func openNumber(req continued) (*int64, error) {
	cursor, _ := openPage(req)
	if cursor == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	return &n, err
}

func pageLimit(req paged) int {
	if n := int(req.GetPageSize()); n > 0 {
		return n
	}
	return defaultPageSize
}

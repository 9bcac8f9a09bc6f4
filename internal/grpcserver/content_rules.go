package grpcserver

import (
	"encoding/hex"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// What requests about contents have in common.

func handle[M any](get func(M) string) rule[M] { return text("content_id", handleLimit(), get) }

func headerRules() table[*pb.StoreContentHeader] {
	return table[*pb.StoreContentHeader]{
		conversationID("conversation_id", (*pb.StoreContentHeader).GetConversationId),
		text("run_id", optionalNameLimit(), (*pb.StoreContentHeader).GetRunId),
		enum("source_type", (*pb.StoreContentHeader).GetSourceType),
		text("source_url", atMostBytes(2048), (*pb.StoreContentHeader).GetSourceUrl),
		shownName("source_title", optionalNameLimit(), (*pb.StoreContentHeader).GetSourceTitle),
		text("content_type", optionalNameLimit(), (*pb.StoreContentHeader).GetContentType),
		optionalText("metadata_json", atMostBytes(8192), (*pb.StoreContentHeader).GetMetadataJson, jsonObject),
		requestID((*pb.StoreContentHeader).GetRequestId),
		digest("sha256", (*pb.StoreContentHeader).GetSha256),
	}
}

// sourceRules are those of what a caller says that a result came from.
func sourceRules() table[*pb.ResultSource] {
	return table[*pb.ResultSource]{
		enum("type", (*pb.ResultSource).GetType),
		shownName("url", atMostBytes(2048), (*pb.ResultSource).GetUrl),
		shownName("title", optionalNameLimit(), (*pb.ResultSource).GetTitle),
	}
}

// shownName is a text that a citation shows on a line of its own making.
func shownName[M any](field string, l limit, get func(M) string) rule[M] {
	r := text(field, l, get, noControls)
	r.limits = append(r.limits, "no control characters")
	return r
}

// digest is a SHA-256 in hexadecimal digits, or nothing.
func digest[M any](field string, get func(M) string) rule[M] {
	const form = "64 hexadecimal digits"
	return rule[M]{facts{field: field, limits: []string{form}}, func(c *checker, m M) {
		if s := get(m); s != "" && fromDigest(s) == nil {
			c.fail("must be %s", form)
		}
	}}
}

// fromDigest reads a SHA-256; nil if the text is none.
func fromDigest(s string) *[32]byte {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 32 {
		return nil
	}
	return (*[32]byte)(raw)
}

func spanRules() table[*pb.ContentSpan] {
	end := number("end", placeLimit(), (*pb.ContentSpan).GetEnd)
	return table[*pb.ContentSpan]{
		number("start", placeLimit(), (*pb.ContentSpan).GetStart),
		{end.facts, func(c *checker, s *pb.ContentSpan) {
			before := len(c.found)
			end.check(c, s)
			if len(c.found) == before && s.GetEnd() < s.GetStart() {
				c.fail("must not be less than start")
			}
		}},
	}
}

func contentRangeRules() table[*pb.ContentRange] {
	span := spanRules()
	return table[*pb.ContentRange]{
		either("unit", func(r *pb.ContentRange) bool { return r.GetUnit() != nil }),
		message("bytes", (*pb.ContentRange).GetBytes, span),
		message("chars", (*pb.ContentRange).GetChars, span),
		message("lines", (*pb.ContentRange).GetLines, span),
		message("items", (*pb.ContentRange).GetItems, span),
	}
}

func excerptQueryRules() table[*pb.ExcerptQuery] {
	return table[*pb.ExcerptQuery]{
		texts("search_terms", numberRange(1, 64), byteRange(1, 8192), (*pb.ExcerptQuery).GetSearchTerms),
		number("max_excerpts", numberRange(0, 100), (*pb.ExcerptQuery).GetMaxExcerpts),
		number("max_excerpt_chars", numberRange(0, 500), (*pb.ExcerptQuery).GetMaxExcerptChars),
	}
}

const maxGrace = 365 * 24 * time.Hour

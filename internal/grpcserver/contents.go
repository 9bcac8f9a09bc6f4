package grpcserver

import (
	"encoding/hex"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// setCitation says what a part as a view shows it stands for: a text becomes a citation, a result has it beside its text.
func setCitation(out *pb.Part, p *conversation.Part) {
	switch {
	case p.Citation == nil:
	case p.Kind == conversation.PartText:
		out.Content = &pb.Part_Citation{Citation: toShownCitation(p.Citation, p.Text.Inline)}
	case p.Kind == conversation.PartToolResult:
		out.GetToolResult().Citation = toShownCitation(p.Citation, p.Result.Text.Inline)
	}
}

// toShownCitation cuts the texts of a citation out of the text that is shown for it.
func toShownCitation(c *conversation.Citation, text string) *pb.Citation {
	return toCitation(engine.Cited{
		Citation: *c,
		Text:     text,
		Excerpt:  cut(text, int(c.ExcerptFrom), int(c.ExcerptEnd)),
		How:      cut(text, int(c.HowFrom), len(text)),
	})
}

// cut is empty where a damaged record names a place that the text does not have, or one inside a character.
func cut(text string, from, end int) string {
	if from < 0 || end < from || end > len(text) || !utf8.ValidString(text[from:end]) {
		return ""
	}
	return text[from:end]
}

func toCitation(c engine.Cited) *pb.Citation {
	return &pb.Citation{
		ContentId:     c.Citation.ContentID,
		Excerpt:       c.Excerpt,
		Location:      c.Citation.Location,
		TotalChars:    c.Citation.TotalChars,
		TotalBytes:    c.Citation.TotalBytes,
		SourceType:    pb.SourceType(c.Citation.SourceType),
		SourceUrl:     c.Citation.SourceURL,
		SourceTitle:   c.Citation.SourceTitle,
		ContentType:   c.Citation.ContentType,
		HowToRetrieve: c.How,
		Text:          c.Text,
	}
}

func toSource(s engine.Source) *pb.SourceRecord {
	return &pb.SourceRecord{
		ContentId:     s.ContentID,
		SourceType:    pb.SourceType(s.Type),
		SourceUrl:     s.URL,
		SourceTitle:   s.Title,
		ContentType:   s.ContentType,
		TotalBytes:    s.Bytes,
		TotalChars:    s.Chars,
		Sha256:        toDigest(s.SHA256),
		AccessTime:    toTime(s.Accessed),
		CitedBy:       s.CitedBy,
		State:         toContentState(s.Expired),
		RunId:         s.RunID,
		MetadataJson:  s.Metadata,
		CitedAtAppend: s.AtAppend,
		ExpireTime:    toTime(s.Expires),
	}
}

func toDigest(sum *[32]byte) string {
	if sum == nil {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

func toContentState(expired bool) pb.ContentState {
	if expired {
		return pb.ContentState_CONTENT_STATE_EXPIRED
	}
	return pb.ContentState_CONTENT_STATE_STORED
}

func toSpan(s [2]int64) *pb.ContentSpan { return &pb.ContentSpan{Start: s[0], End: s[1]} }

func toExcerpt(e engine.ContentExcerpt) *pb.Excerpt {
	return &pb.Excerpt{
		ContentId:    e.ContentID,
		Text:         e.Text,
		Location:     e.Location,
		ByteRange:    toSpan(e.Bytes),
		CharRange:    toSpan(e.Chars),
		Score:        e.Score,
		MatchedTerms: e.Matched,
		Relevance:    e.Relevance,
	}
}

// toExcerpts converts the best passages: as many as have room in so many bytes, and the first in any case, so that an answer without
// any means that there is none.
func toExcerpts(list []engine.ContentExcerpt, room int) []*pb.Excerpt {
	var out []*pb.Excerpt
	for i, e := range list {
		excerpt := toExcerpt(e)
		if room -= elementBytes(excerpt); room < 0 && i > 0 {
			break
		}
		out = append(out, excerpt)
	}
	return out
}

func fromExcerptQuery(q *pb.ExcerptQuery) *engine.ExcerptQuery {
	if q == nil {
		return nil
	}
	return &engine.ExcerptQuery{Terms: q.GetSearchTerms(), Max: int(q.GetMaxExcerpts()), MaxChars: int(q.GetMaxExcerptChars())}
}

// receiptTextBytes is what the citations in all receipts of an append may take. There may be thousands, and the answer has to reach
// clients that take 4 MiB.
const receiptTextBytes = mebibyte

// receiptCitations converts the citations of an append, by message. Those beyond the room for texts have handle and lengths alone.
func receiptCitations(r *engine.AppendResult) [][]*pb.Citation {
	room := receiptTextBytes
	return each(r.Citations, func(list []engine.Cited) []*pb.Citation {
		return each(list, func(c engine.Cited) *pb.Citation {
			out := toCitation(c)
			if room -= proto.Size(out); room < 0 {
				return &pb.Citation{ContentId: out.GetContentId(), TotalChars: out.GetTotalChars(), TotalBytes: out.GetTotalBytes()}
			}
			return out
		})
	})
}

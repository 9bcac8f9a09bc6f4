package contentservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func excerptQueryRules() rules.Table[*pb.ExcerptQuery] {
	return rules.Table[*pb.ExcerptQuery]{
		rules.Texts("search_terms", rules.NumberRange(1, 64), rules.ByteRange(1, 8192), (*pb.ExcerptQuery).GetSearchTerms),
		rules.Number("max_excerpts", rules.NumberRange(0, 100), (*pb.ExcerptQuery).GetMaxExcerpts),
		rules.Number("max_excerpt_chars", rules.NumberRange(0, 500), (*pb.ExcerptQuery).GetMaxExcerptChars),
	}
}

func toExcerpt(e engine.ContentExcerpt) *pb.Excerpt {
	return &pb.Excerpt{
		ContentId:    e.ContentID,
		Text:         e.Text,
		Location:     e.Location,
		ByteRange:    convert.ToSpan(e.Bytes),
		CharRange:    convert.ToSpan(e.Chars),
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
		if room -= paging.ElementBytes(excerpt); room < 0 && i > 0 {
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

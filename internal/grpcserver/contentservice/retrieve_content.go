package contentservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func retrieveContentRules() rules.Table[*pb.RetrieveContentRequest] {
	return rules.Table[*pb.RetrieveContentRequest]{
		schema.ConversationID("conversation_id", (*pb.RetrieveContentRequest).GetConversationId),
		schema.ContentID((*pb.RetrieveContentRequest).GetContentId),
		rules.Either("selection", func(r *pb.RetrieveContentRequest) bool { return r.GetSelection() != nil }),
		rules.Message("full", (*pb.RetrieveContentRequest).GetFull, rules.Table[*pb.FullContent]{}),
		rules.Message("range", (*pb.RetrieveContentRequest).GetRange, contentRangeRules()),
		rules.Message("excerpts", (*pb.RetrieveContentRequest).GetExcerpts, excerptQueryRules()),
		rules.Number("max_tokens", schema.TokensLimit(), (*pb.RetrieveContentRequest).GetMaxTokens),
		paging.NumberToken[*pb.RetrieveContentRequest](convert.MaxPlace),
		paging.ReplyBytes(func(r *pb.RetrieveContentRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// besideBytes is the most that stands beside the bytes of a content: its source record, their place and a page token.
const besideBytes = 16 << 10

// RetrieveContent answers with a content, or some of it.
func (s *Service) RetrieveContent(ctx context.Context, req *pb.RetrieveContentRequest) (*pb.RetrieveContentResponse, error) {
	if req.GetExcerpts() != nil {
		done, err := s.admission.Search(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	limit := s.admission.ReplyLimit(req.MaxReplyBytes)
	unit, span := fromContentRange(req.GetRange())
	result, err := s.engine.RetrieveContent(ctx, engine.RetrieveContentRequest{
		Key:       convert.Key(ctx, req.GetConversationId()),
		ContentID: req.GetContentId(),
		Unit:      unit,
		From:      span.GetStartIndex(),
		End:       convert.SpanEnd(span),
		Excerpts:  fromExcerptQuery(req.GetExcerpts()),
		MaxTokens: req.GetMaxTokens(),
		Cursor:    paging.OpenNumber[int64](req),
		MaxBytes:  contentRoom(limit),
	})
	if err != nil {
		return nil, err
	}
	out := toRetrieveResponse(req, result, limit)
	return out, paging.CheckReply(out, limit, 0)
}

// contentRoom is what an answer has for a content. A small one keeps half: most of its neighbors are small too.
func contentRoom(limit int) int { return limit - min(besideBytes, limit/2) }

func fromContentRange(r *pb.ContentRange) (engine.ContentUnit, *pb.Span) {
	switch unit := r.GetUnit().(type) {
	case *pb.ContentRange_Bytes:
		return engine.ContentBytes, unit.Bytes
	case *pb.ContentRange_Chars:
		return engine.ContentChars, unit.Chars
	case *pb.ContentRange_Lines:
		return engine.ContentLines, unit.Lines
	case *pb.ContentRange_Items:
		return engine.ContentItems, unit.Items
	default:
		return engine.ContentWhole, nil
	}
}

func toRetrieveResponse(req *pb.RetrieveContentRequest, r *engine.RetrieveContentResult, limit int) *pb.RetrieveContentResponse {
	out := &pb.RetrieveContentResponse{Source: toSource(r.Source)}
	if req.GetExcerpts() != nil {
		out.Excerpts = toExcerpts(r.Excerpts, contentRoom(limit))
		return out
	}
	out.Chunk, out.ByteRange, out.NextPageToken = r.Chunk, convert.ToSpan(r.Bytes), paging.NextNumber(req, r.Next)
	return out
}

func contentRangeRules() rules.Table[*pb.ContentRange] {
	span := schema.Span()
	return rules.Table[*pb.ContentRange]{
		rules.Either("unit", func(r *pb.ContentRange) bool { return r.GetUnit() != nil }),
		rules.Message("bytes", (*pb.ContentRange).GetBytes, span),
		rules.Message("chars", (*pb.ContentRange).GetChars, span),
		rules.Message("lines", (*pb.ContentRange).GetLines, span),
		rules.Message("items", (*pb.ContentRange).GetItems, span),
	}
}

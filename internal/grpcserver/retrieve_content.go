package grpcserver

import (
	"context"
	"strconv"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func retrieveContentRules() table[*pb.RetrieveContentRequest] {
	return table[*pb.RetrieveContentRequest]{
		conversationID("conversation_id", (*pb.RetrieveContentRequest).GetConversationId),
		handle((*pb.RetrieveContentRequest).GetContentId),
		either("selection", func(r *pb.RetrieveContentRequest) bool { return r.GetSelection() != nil }),
		chosen("full", func(r *pb.RetrieveContentRequest) (set, chosen bool) {
			_, ok := r.GetSelection().(*pb.RetrieveContentRequest_Full)
			return ok, r.GetFull()
		}),
		message("range", (*pb.RetrieveContentRequest).GetRange, contentRangeRules()),
		message("excerpts", (*pb.RetrieveContentRequest).GetExcerpts, excerptQueryRules()),
		number("max_tokens", tokensLimit(), (*pb.RetrieveContentRequest).GetMaxTokens),
		numberPageToken[*pb.RetrieveContentRequest](maxPlace),
		replyBytes(func(r *pb.RetrieveContentRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// besideBytes is the most that stands beside the bytes of a content: its source record, their place and a page token.
const besideBytes = 16 << 10

// RetrieveContent answers with a content, or some of it.
func (s *service) RetrieveContent(ctx context.Context, req *pb.RetrieveContentRequest) (*pb.RetrieveContentResponse, error) {
	cursor, err := openNumber(req)
	if err != nil {
		return nil, err
	}
	if req.GetExcerpts() != nil {
		done, err := s.admission.search(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	limit := replyLimit(req.MaxReplyBytes)
	unit, span := fromContentRange(req.GetRange())
	result, err := s.engine.RetrieveContent(ctx, engine.RetrieveContentRequest{
		Key:       s.key(req.GetConversationId()),
		ContentID: req.GetContentId(),
		Unit:      unit,
		From:      span.GetStart(),
		End:       span.GetEnd(),
		Excerpts:  fromExcerptQuery(req.GetExcerpts()),
		MaxTokens: req.GetMaxTokens(),
		Cursor:    cursor,
		MaxBytes:  contentRoom(limit),
	})
	if err != nil {
		return nil, err
	}
	out, err := toRetrieveResponse(req, result)
	if err != nil {
		return nil, err
	}
	return out, checkReply(out, limit, 0)
}

// contentRoom is what an answer has for a content. A small one keeps half: most of its neighbours are small too.
func contentRoom(limit int) int { return limit - min(besideBytes, limit/2) }

func fromContentRange(r *pb.ContentRange) (engine.ContentUnit, *pb.ContentSpan) {
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

func toRetrieveResponse(req *pb.RetrieveContentRequest, r *engine.RetrieveContentResult) (*pb.RetrieveContentResponse, error) {
	out := &pb.RetrieveContentResponse{Source: toSource(r.Source)}
	if req.GetExcerpts() != nil {
		out.Excerpts = toExcerpts(r.Excerpts, contentRoom(replyLimit(req.MaxReplyBytes)))
		return out, nil
	}
	out.Chunk, out.ByteRange = r.Chunk, toSpan(r.Bytes)
	if r.Next == nil {
		return out, nil
	}
	var err error
	out.NextPageToken, err = sealPage(req, strconv.FormatInt(*r.Next, 10))
	return out, err
}

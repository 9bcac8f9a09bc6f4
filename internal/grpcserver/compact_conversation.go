package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func compactConversationRules() table[*pb.CompactConversationRequest] {
	return table[*pb.CompactConversationRequest]{
		conversationID("conversation_id", (*pb.CompactConversationRequest).GetConversationId),
		message("options", (*pb.CompactConversationRequest).GetOptions, table[*pb.CompactionOptions]{
			enum("strategy", (*pb.CompactionOptions).GetStrategy),
			optionalNumber("keep_recent", recentLimit(), func(o *pb.CompactionOptions) *int32 { return o.KeepRecent }),
			optionalNumber("target_tokens", windowLimit(), func(o *pb.CompactionOptions) *int32 { return o.TargetTokens }),
		}),
		requestID((*pb.CompactConversationRequest).GetRequestId),
	}
}

// CompactConversation makes the conversation's view smaller now.
func (s *service) CompactConversation(ctx context.Context, req *pb.CompactConversationRequest) (*pb.CompactConversationResponse, error) {
	request, err := requestOf("CompactConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	asked := engine.CompactRequest{Key: s.key(req.GetConversationId()), Request: request}
	if o := req.GetOptions(); o != nil {
		asked.Strategy, asked.KeepRecent, asked.TargetTokens = conversation.Strategy(o.GetStrategy()), o.KeepRecent, o.TargetTokens
	}
	result, err := s.engine.Compact(ctx, asked)
	if err != nil {
		return nil, err
	}
	return toCompactResponse(result), nil
}

func toCompactResponse(r *engine.CompactResult) *pb.CompactConversationResponse {
	return &pb.CompactConversationResponse{
		Result: &pb.CompactionResult{
			Summaries:      each(r.Summaries, toSummary),
			CompactedRange: &pb.Range{Start: r.Range.First, End: r.Range.End},
			TokensSaved:    r.Saved,
		},
		Events:       each(r.Events, toEvent),
		Degradations: each(r.Degradations, toDegradation),
		Revision:     r.Revision,
		Duplicate:    r.Duplicate,
	}
}

func toSummary(s engine.SummaryInView) *pb.Summary {
	return &pb.Summary{
		Id:             toSummaryID(s.ID),
		FirstIndex:     s.Range.First,
		LastIndex:      s.Range.End - 1,
		Level:          s.Level,
		Children:       each(s.Children, toSummaryID),
		Text:           s.Text,
		Tokens:         s.Tokens,
		Model:          s.Model,
		EditId:         formatID(editPrefix, s.EditSeq),
		OriginalErased: s.Erased,
	}
}

func toSummaryID(n int64) string { return formatID(summaryPrefix, n) }

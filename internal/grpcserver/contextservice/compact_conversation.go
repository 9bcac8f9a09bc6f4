package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func compactConversationRules() rules.Table[*pb.CompactConversationRequest] {
	return rules.Table[*pb.CompactConversationRequest]{
		schema.ConversationID("conversation_id", (*pb.CompactConversationRequest).GetConversationId),
		rules.Message("options", (*pb.CompactConversationRequest).GetOptions, rules.Table[*pb.CompactionOptions]{
			rules.Enum("strategy", (*pb.CompactionOptions).GetStrategy),
			rules.OptionalNumber("keep_recent", schema.RecentLimit(), func(o *pb.CompactionOptions) *int32 { return o.KeepRecent }),
			rules.OptionalNumber("target_tokens", schema.WindowLimit(), func(o *pb.CompactionOptions) *int32 { return o.TargetTokens }),
		}),
		schema.RequestID((*pb.CompactConversationRequest).GetRequestId),
	}
}

// CompactConversation makes the conversation's view smaller now.
func (s *Service) CompactConversation(ctx context.Context, req *pb.CompactConversationRequest) (*pb.CompactConversationResponse, error) {
	asked := engine.CompactRequest{Key: convert.Key(ctx, req.GetConversationId()), Request: convert.FromRequest(req)}
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
			Summaries:      convert.Each(r.Summaries, convert.ToSummary),
			CompactedRange: toRange(r.Range),
			TokensSaved:    r.Saved,
		},
		Events:       convert.Each(r.Events, convert.ToEvent),
		Degradations: convert.Each(r.Degradations, convert.ToDegradation),
		Revision:     r.Revision,
		Duplicate:    r.Duplicate,
	}
}

func toRange(r conversation.Range) *pb.MessageRange {
	return &pb.MessageRange{StartIndex: r.First, EndIndex: &r.End}
}

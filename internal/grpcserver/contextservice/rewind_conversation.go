package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func rewindConversationRules() rules.Table[*pb.RewindConversationRequest] {
	return rules.Table[*pb.RewindConversationRequest]{
		schema.ConversationID("conversation_id", (*pb.RewindConversationRequest).GetConversationId),
		rules.Number("from_index", schema.IndexLimit(), (*pb.RewindConversationRequest).GetFromIndex),
		schema.RequestID((*pb.RewindConversationRequest).GetRequestId),
	}
}

// RewindConversation takes back the newest messages.
func (s *Service) RewindConversation(ctx context.Context, req *pb.RewindConversationRequest) (*pb.RewindConversationResponse, error) {
	result, err := s.engine.Rewind(ctx, engine.RewindRequest{Key: convert.Key(ctx, req.GetConversationId()), Request: convert.FromRequest(req), From: req.GetFromIndex()})
	if err != nil {
		return nil, err
	}
	return toRewindResponse(result), nil
}

func toRewindResponse(r *engine.RewindResult) *pb.RewindConversationResponse {
	return &pb.RewindConversationResponse{
		StartIndex:         r.Range.First,
		EndIndex:           r.Range.End,
		DissolvedSummaries: convert.Each(r.Dissolved, convert.SummaryID),
		Events:             convert.Each(r.Events, convert.ToEvent),
		Revision:           r.Revision,
		Duplicate:          r.Duplicate,
	}
}

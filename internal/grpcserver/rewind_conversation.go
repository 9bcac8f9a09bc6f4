package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func rewindConversationRules() table[*pb.RewindConversationRequest] {
	return table[*pb.RewindConversationRequest]{
		conversationID("conversation_id", (*pb.RewindConversationRequest).GetConversationId),
		number("from_index", indexLimit(), (*pb.RewindConversationRequest).GetFromIndex),
		requestID((*pb.RewindConversationRequest).GetRequestId),
	}
}

// RewindConversation takes back the newest messages.
func (s *service) RewindConversation(ctx context.Context, req *pb.RewindConversationRequest) (*pb.RewindConversationResponse, error) {
	request, err := requestOf("RewindConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Rewind(ctx, engine.RewindRequest{Key: s.key(req.GetConversationId()), Request: request, From: req.GetFromIndex()})
	if err != nil {
		return nil, err
	}
	return toRewindResponse(result), nil
}

func toRewindResponse(r *engine.RewindResult) *pb.RewindConversationResponse {
	return &pb.RewindConversationResponse{
		FirstIndex:         r.Range.First,
		LastIndex:          r.Range.End - 1,
		DissolvedSummaries: each(r.Dissolved, toSummaryID),
		Events:             each(r.Events, toEvent),
		Revision:           r.Revision,
		Duplicate:          r.Duplicate,
	}
}

package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func deleteConversationRules() table[*pb.DeleteConversationRequest] {
	return table[*pb.DeleteConversationRequest]{
		conversationID("conversation_id", (*pb.DeleteConversationRequest).GetConversationId),
		requestID((*pb.DeleteConversationRequest).GetRequestId),
	}
}

// DeleteConversation deletes a conversation and leaves a tombstone.
func (s *service) DeleteConversation(ctx context.Context, req *pb.DeleteConversationRequest) (*pb.DeleteConversationResponse, error) {
	request, err := requestOf("DeleteConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	until, err := s.engine.Delete(ctx, s.key(req.GetConversationId()), request)
	if err != nil {
		return nil, err
	}
	return &pb.DeleteConversationResponse{TombstoneExpireTime: toTime(until)}, nil
}

package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func getConversationRules() table[*pb.GetConversationRequest] {
	return table[*pb.GetConversationRequest]{
		conversationID("conversation_id", (*pb.GetConversationRequest).GetConversationId),
	}
}

// GetConversation returns a conversation without its messages.
func (s *service) GetConversation(ctx context.Context, req *pb.GetConversationRequest) (*pb.GetConversationResponse, error) {
	found, err := s.engine.Get(ctx, s.key(req.GetConversationId()))
	if err != nil {
		return nil, err
	}
	return &pb.GetConversationResponse{Conversation: toConversation(found)}, nil
}

package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func getConversationRules() rules.Table[*pb.GetConversationRequest] {
	return rules.Table[*pb.GetConversationRequest]{
		schema.ConversationID("conversation_id", (*pb.GetConversationRequest).GetConversationId),
	}
}

// GetConversation returns a conversation without its messages.
func (s *Service) GetConversation(ctx context.Context, req *pb.GetConversationRequest) (*pb.GetConversationResponse, error) {
	found, err := s.engine.Get(ctx, convert.Key(ctx, req.GetConversationId()))
	if err != nil {
		return nil, err
	}
	return &pb.GetConversationResponse{Conversation: toConversation(found)}, nil
}

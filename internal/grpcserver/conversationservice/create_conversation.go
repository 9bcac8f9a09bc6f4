package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func createConversationRules() rules.Table[*pb.CreateConversationRequest] {
	return rules.Table[*pb.CreateConversationRequest]{
		rules.RequiredMessage("conversation", (*pb.CreateConversationRequest).GetConversation, conversationRules()),
		schema.RequestID((*pb.CreateConversationRequest).GetRequestId),
	}
}

// CreateConversation begins a conversation.
func (s *Service) CreateConversation(ctx context.Context, req *pb.CreateConversationRequest) (*pb.CreateConversationResponse, error) {
	created, err := s.engine.Create(ctx, engine.CreateRequest{
		Key:     convert.Key(ctx, req.GetConversation().GetId()),
		Info:    fromConversation(req.GetConversation()),
		Request: convert.FromRequest(req),
	})
	if err != nil {
		return nil, err
	}
	return &pb.CreateConversationResponse{Conversation: toConversation(created)}, nil
}

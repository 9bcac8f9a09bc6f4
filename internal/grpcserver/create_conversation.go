package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func createConversationRules() table[*pb.CreateConversationRequest] {
	return table[*pb.CreateConversationRequest]{
		requiredMessage("conversation", (*pb.CreateConversationRequest).GetConversation, conversationRules()),
		requestID((*pb.CreateConversationRequest).GetRequestId),
	}
}

// CreateConversation begins a conversation.
func (s *service) CreateConversation(ctx context.Context, req *pb.CreateConversationRequest) (*pb.CreateConversationResponse, error) {
	request, err := requestOf("CreateConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	created, err := s.engine.Create(ctx, engine.CreateRequest{
		Key:     s.key(req.GetConversation().GetId()),
		Info:    fromConversation(req.GetConversation()),
		Request: request,
	})
	if err != nil {
		return nil, err
	}
	return &pb.CreateConversationResponse{Conversation: toConversation(created)}, nil
}

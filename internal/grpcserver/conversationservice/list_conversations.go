package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listConversationsRules() rules.Table[*pb.ListConversationsRequest] {
	return rules.Table[*pb.ListConversationsRequest]{
		paging.PageSize((*pb.ListConversationsRequest).GetPageSize),
		paging.Token[*pb.ListConversationsRequest](),
		rules.Text("actor_id", schema.OptionalNameLimit(), (*pb.ListConversationsRequest).GetActorId),
		rules.Text("agent_id", schema.OptionalNameLimit(), (*pb.ListConversationsRequest).GetAgentId),
	}
}

// ListConversations lists conversations by id.
func (s *Service) ListConversations(ctx context.Context, req *pb.ListConversationsRequest) (*pb.ListConversationsResponse, error) {
	after, _ := paging.Open(req)
	result, err := s.engine.List(ctx, engine.ListRequest{
		Namespace: convert.Namespace(ctx),
		After:     after,
		Limit:     paging.Limit(req),
		ActorID:   req.GetActorId(),
		AgentID:   req.GetAgentId(),
	})
	if err != nil {
		return nil, err
	}
	conversations, more := paging.Cut(convert.Each(result.Conversations, func(c engine.Conversation) *pb.Conversation { return toConversation(&c) }))
	next := result.Next
	if more {
		next = conversations[len(conversations)-1].GetId()
	}
	return &pb.ListConversationsResponse{Conversations: conversations, NextPageToken: paging.Next(req, next)}, nil
}

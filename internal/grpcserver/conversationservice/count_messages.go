package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func countMessagesRules() rules.Table[*pb.CountMessagesRequest] {
	return rules.Table[*pb.CountMessagesRequest]{
		schema.ConversationID("conversation_id", (*pb.CountMessagesRequest).GetConversationId),
		rules.Message("range", (*pb.CountMessagesRequest).GetRange, rangeRules()),
		rules.Message("filter", (*pb.CountMessagesRequest).GetFilter, filterRules()),
	}
}

// CountMessages counts messages and their tokens.
func (s *Service) CountMessages(ctx context.Context, req *pb.CountMessagesRequest) (*pb.CountMessagesResponse, error) {
	messages, tokens, err := s.engine.Count(ctx, convert.Key(ctx, req.GetConversationId()), fromRange(req.GetRange()), fromFilter(req.GetFilter()))
	if err != nil {
		return nil, err
	}
	return &pb.CountMessagesResponse{MessageCount: messages, TokenCount: tokens}, nil
}

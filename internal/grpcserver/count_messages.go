package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func countMessagesRules() table[*pb.CountMessagesRequest] {
	return table[*pb.CountMessagesRequest]{
		conversationID("conversation_id", (*pb.CountMessagesRequest).GetConversationId),
		message("range", (*pb.CountMessagesRequest).GetRange, rangeRules()),
		message("filter", (*pb.CountMessagesRequest).GetFilter, filterRules()),
	}
}

// CountMessages counts messages and their tokens.
func (s *service) CountMessages(ctx context.Context, req *pb.CountMessagesRequest) (*pb.CountMessagesResponse, error) {
	messages, tokens, err := s.engine.Count(ctx, s.key(req.GetConversationId()), fromRange(req.GetRange()), fromFilter(req.GetFilter()))
	if err != nil {
		return nil, err
	}
	return &pb.CountMessagesResponse{MessageCount: messages, TokenCount: tokens}, nil
}

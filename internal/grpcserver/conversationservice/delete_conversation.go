package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func deleteConversationRules() rules.Table[*pb.DeleteConversationRequest] {
	return rules.Table[*pb.DeleteConversationRequest]{
		schema.ConversationID("conversation_id", (*pb.DeleteConversationRequest).GetConversationId),
		schema.RequestID((*pb.DeleteConversationRequest).GetRequestId),
		rules.Anything[*pb.DeleteConversationRequest]("without_tombstone"),
	}
}

// DeleteConversation deletes a conversation, with a tombstone or without.
func (s *Service) DeleteConversation(ctx context.Context, req *pb.DeleteConversationRequest) (*pb.DeleteConversationResponse, error) {
	request := convert.FromRequest(req)
	if req.GetWithoutTombstone() {
		return &pb.DeleteConversationResponse{}, s.engine.Clear(ctx, convert.Key(ctx, req.GetConversationId()), request)
	}
	until, err := s.engine.Delete(ctx, convert.Key(ctx, req.GetConversationId()), request)
	if err != nil {
		return nil, err
	}
	return &pb.DeleteConversationResponse{TombstoneExpireTime: convert.ToTime(until)}, nil
}

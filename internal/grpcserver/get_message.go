package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func getMessageRules() table[*pb.GetMessageRequest] {
	return table[*pb.GetMessageRequest]{
		conversationID("conversation_id", (*pb.GetMessageRequest).GetConversationId),
		number("message_index", indexLimit(), (*pb.GetMessageRequest).GetMessageIndex),
		replyBytes(func(r *pb.GetMessageRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// GetMessage returns one message as it was appended.
func (s *service) GetMessage(ctx context.Context, req *pb.GetMessageRequest) (*pb.GetMessageResponse, error) {
	found, err := s.engine.Message(ctx, s.key(req.GetConversationId()), req.GetMessageIndex())
	if err != nil {
		return nil, err
	}
	out := &pb.GetMessageResponse{Message: toMessageInView(found)}
	if err := checkReply(out, replyLimit(req.MaxReplyBytes), 0); err != nil {
		return nil, err
	}
	return out, nil
}

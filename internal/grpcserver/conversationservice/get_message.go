package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func getMessageRules() rules.Table[*pb.GetMessageRequest] {
	return rules.Table[*pb.GetMessageRequest]{
		schema.ConversationID("conversation_id", (*pb.GetMessageRequest).GetConversationId),
		rules.Number("message_index", schema.IndexLimit(), (*pb.GetMessageRequest).GetMessageIndex),
		paging.ReplyBytes(func(r *pb.GetMessageRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// GetMessage returns one message as it was appended.
func (s *Service) GetMessage(ctx context.Context, req *pb.GetMessageRequest) (*pb.GetMessageResponse, error) {
	found, err := s.engine.Message(ctx, convert.Key(ctx, req.GetConversationId()), req.GetMessageIndex())
	if err != nil {
		return nil, err
	}
	out := &pb.GetMessageResponse{Message: convert.ToMessageInView(found)}
	return out, paging.CheckReply(out, s.admission.ReplyLimit(req.MaxReplyBytes), 0)
}

package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func batchAppendMessagesRules(messages table[*pb.Message]) table[*pb.BatchAppendMessagesRequest] {
	return table[*pb.BatchAppendMessagesRequest]{
		conversationID("conversation_id", (*pb.BatchAppendMessagesRequest).GetConversationId),
		list("items", numberRange(1, 1000), (*pb.BatchAppendMessagesRequest).GetItems, table[*pb.BatchAppendItem]{
			requiredMessage("message", (*pb.BatchAppendItem).GetMessage, messages),
			additionsRule[*pb.BatchAppendItem](),
			message("expiration_override", (*pb.BatchAppendItem).GetExpirationOverride, overrideRules()),
		}),
		requestID((*pb.BatchAppendMessagesRequest).GetRequestId),
		optionalNumber("expected_index", indexLimit(), func(r *pb.BatchAppendMessagesRequest) *int32 { return r.ExpectedIndex }),
	}
}

// BatchAppendMessages puts several messages on record, all or nothing.
func (s *service) BatchAppendMessages(ctx context.Context, req *pb.BatchAppendMessagesRequest) (*pb.BatchAppendMessagesResponse, error) {
	request, err := requestOf("BatchAppendMessages", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Append(ctx, engine.AppendRequest{
		Key: s.key(req.GetConversationId()),
		Messages: each(req.GetItems(), func(item *pb.BatchAppendItem) conversation.Message {
			return fromMessage(item.GetMessage())
		}),
		Extras:        each(req.GetItems(), func(item *pb.BatchAppendItem) engine.AppendExtra { return fromExtra(item) }),
		Request:       request,
		ExpectedIndex: req.ExpectedIndex,
	})
	if err != nil {
		return nil, err
	}
	return &pb.BatchAppendMessagesResponse{Receipts: toReceipts(result), Events: each(result.Events, toEvent)}, nil
}

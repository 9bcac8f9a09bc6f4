package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func batchAppendMessagesRules(messages rules.Table[*pb.Message]) rules.Table[*pb.BatchAppendMessagesRequest] {
	return rules.Table[*pb.BatchAppendMessagesRequest]{
		schema.ConversationID("conversation_id", (*pb.BatchAppendMessagesRequest).GetConversationId),
		rules.List("items", rules.NumberRange(1, 1000), (*pb.BatchAppendMessagesRequest).GetItems, rules.Table[*pb.BatchAppendItem]{
			rules.RequiredMessage("message", (*pb.BatchAppendItem).GetMessage, messages),
			schema.Additions[*pb.BatchAppendItem](),
			rules.Message("expiration_override", (*pb.BatchAppendItem).GetExpirationOverride, schema.ExpirationOverride()),
		}),
		schema.RequestID((*pb.BatchAppendMessagesRequest).GetRequestId),
		rules.OptionalNumber("expected_index", schema.IndexLimit(), func(r *pb.BatchAppendMessagesRequest) *int32 { return r.ExpectedIndex }),
	}
}

// BatchAppendMessages puts several messages on record, all or nothing.
func (s *Service) BatchAppendMessages(ctx context.Context, req *pb.BatchAppendMessagesRequest) (*pb.BatchAppendMessagesResponse, error) {
	request, err := convert.FromRequest(req)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Append(ctx, engine.AppendRequest{
		Key: convert.Key(ctx, req.GetConversationId()),
		Messages: convert.Each(req.GetItems(), func(item *pb.BatchAppendItem) conversation.Message {
			return convert.FromMessage(item.GetMessage())
		}),
		Extras:        convert.Each(req.GetItems(), func(item *pb.BatchAppendItem) engine.AppendExtra { return fromExtra(item) }),
		Request:       request,
		ExpectedIndex: req.ExpectedIndex,
	})
	if err != nil {
		return nil, err
	}
	return &pb.BatchAppendMessagesResponse{Receipts: toReceipts(result), Events: convert.Each(result.Events, convert.ToEvent)}, nil
}

package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func batchAppendMessagesRules(messages rules.Table[*pb.Message]) rules.Table[*pb.BatchAppendMessagesRequest] {
	return rules.Table[*pb.BatchAppendMessagesRequest]{
		schema.ConversationID("conversation_id", (*pb.BatchAppendMessagesRequest).GetConversationId),
		rules.List("items", rules.NumberRange(1, 1000), (*pb.BatchAppendMessagesRequest).GetItems, batchItemRules(messages)),
		schema.RequestID((*pb.BatchAppendMessagesRequest).GetRequestId),
		rules.OptionalNumber("expected_index", schema.IndexLimit(), func(r *pb.BatchAppendMessagesRequest) *int32 { return r.ExpectedIndex }),
	}
}

func batchItemRules(messages rules.Table[*pb.Message]) rules.Table[*pb.BatchAppendItem] {
	return rules.Table[*pb.BatchAppendItem]{
		schema.AppendedMessage[*pb.BatchAppendItem](messages),
		schema.NotWithProviderInput(schema.Additions[*pb.BatchAppendItem](), func(i *pb.BatchAppendItem) bool { return len(i.GetAdditionalContent()) > 0 }),
		rules.Message("expiration_override", (*pb.BatchAppendItem).GetExpirationOverride, schema.ExpirationOverride()),
		rules.Message("provider_input", (*pb.BatchAppendItem).GetProviderInput, schema.ProviderInput()).Also(func(c *rules.Checker, i *pb.BatchAppendItem) {
			if i.GetProviderInput().GetShape() == pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_HISTORY {
				c.FailIn("shape", notInBatch)
			}
		}),
	}
}

// BatchAppendMessages puts several messages on record, all or nothing.
func (s *Service) BatchAppendMessages(ctx context.Context, req *pb.BatchAppendMessagesRequest) (*pb.BatchAppendMessagesResponse, error) {
	g := &gathering{service: s}
	if err := g.addItems("", req.GetItems()); err != nil {
		return nil, err
	}
	r := g.out
	r.Key, r.Request, r.ExpectedIndex = convert.Key(ctx, req.GetConversationId()), convert.FromRequest(req), req.ExpectedIndex
	result, err := s.engine.Append(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pb.BatchAppendMessagesResponse{
		Receipts: toReceipts(result), Events: convert.Each(result.Events, convert.ToEvent), Calls: toCalls(result.Calls),
		LeftOutCalls: int32(g.leftOut),
	}, nil
}

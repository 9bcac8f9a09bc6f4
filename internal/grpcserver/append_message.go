package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func appendMessageRules(messages table[*pb.Message]) table[*pb.AppendMessageRequest] {
	return table[*pb.AppendMessageRequest]{
		conversationID("conversation_id", (*pb.AppendMessageRequest).GetConversationId),
		requiredMessage("message", (*pb.AppendMessageRequest).GetMessage, messages),
		additionsRule[*pb.AppendMessageRequest](),
		requestID((*pb.AppendMessageRequest).GetRequestId),
		optionalNumber("expected_index", indexLimit(), func(r *pb.AppendMessageRequest) *int32 { return r.ExpectedIndex }),
		message("expiration_override", (*pb.AppendMessageRequest).GetExpirationOverride, overrideRules()),
		anything[*pb.AppendMessageRequest]("return_variants"),
	}
}

// AppendMessage puts one message on record.
func (s *service) AppendMessage(ctx context.Context, req *pb.AppendMessageRequest) (*pb.AppendMessageResponse, error) {
	if err := checkVariants(req); err != nil {
		return nil, err
	}
	request, err := requestOf("AppendMessage", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Append(ctx, engine.AppendRequest{
		Key:           s.key(req.GetConversationId()),
		Messages:      []conversation.Message{fromMessage(req.GetMessage())},
		Extras:        []engine.AppendExtra{fromExtra(req)},
		Request:       request,
		ExpectedIndex: req.ExpectedIndex,
		Variants:      req.GetReturnVariants(),
	})
	if err != nil {
		return nil, err
	}
	return &pb.AppendMessageResponse{
		Receipt:           toReceipts(result)[0],
		Events:            each(result.Events, toEvent),
		DisplayMessage:    toVariant(result.Display),
		PersistentMessage: toVariant(result.Persistent),
	}, nil
}

// toVariant converts the variant of an append's one message; nil if it was not asked for.
func toVariant(messages []conversation.Message) *pb.Message {
	if len(messages) == 0 {
		return nil
	}
	return toMessage(&messages[0])
}

// toReceipts are the receipts of an append, one for each message.
func toReceipts(r *engine.AppendResult) []*pb.Receipt {
	citations := receiptCitations(r)
	out := make([]*pb.Receipt, len(r.Messages))
	for i := range out {
		out[i] = toReceipt(r, i)
		if i < len(citations) {
			out[i].Citations = citations[i]
		}
	}
	return out
}

func toReceipt(r *engine.AppendResult, i int) *pb.Receipt {
	m := &r.Messages[i]
	return &pb.Receipt{
		Index:      m.Index,
		Id:         m.ID,
		TurnAdded:  m.TurnAdded,
		TokenCount: m.Tokens,
		Estimated:  m.Estimated,
		Revision:   r.Revision,
		Duplicate:  r.Duplicate,
	}
}

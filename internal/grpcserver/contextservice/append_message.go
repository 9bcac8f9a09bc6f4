package contextservice

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func appendMessageRules(messages rules.Table[*pb.Message]) rules.Table[*pb.AppendMessageRequest] {
	return rules.Table[*pb.AppendMessageRequest]{
		schema.ConversationID("conversation_id", (*pb.AppendMessageRequest).GetConversationId),
		schema.AppendedMessage[*pb.AppendMessageRequest](messages),
		schema.NotWithProviderInput(schema.Additions[*pb.AppendMessageRequest](), func(r *pb.AppendMessageRequest) bool { return len(r.GetAdditionalContent()) > 0 }),
		schema.RequestID((*pb.AppendMessageRequest).GetRequestId),
		rules.OptionalNumber("expected_index", schema.IndexLimit(), func(r *pb.AppendMessageRequest) *int32 { return r.ExpectedIndex }),
		rules.Message("expiration_override", (*pb.AppendMessageRequest).GetExpirationOverride, schema.ExpirationOverride()),
		schema.NotWithProviderInput(rules.Anything[*pb.AppendMessageRequest]("return_variants"), (*pb.AppendMessageRequest).GetReturnVariants),
		rules.Message("provider_input", (*pb.AppendMessageRequest).GetProviderInput, schema.ProviderInput()),
	}
}

// AppendMessage puts one message on record, or what a provider's JSON becomes.
func (s *Service) AppendMessage(ctx context.Context, req *pb.AppendMessageRequest) (*pb.AppendMessageResponse, error) {
	if err := checkVariants(req); err != nil {
		return nil, err
	}
	g := &gathering{service: s}
	if err := add(g, "", req); err != nil {
		return nil, err
	}
	r := g.out
	r.Key, r.Request, r.ExpectedIndex = convert.Key(ctx, req.GetConversationId()), convert.FromRequest(req), req.ExpectedIndex
	r.Variants = req.GetReturnVariants()
	result, err := s.engine.Append(ctx, r)
	if err != nil {
		return nil, err
	}
	out := toAppendResponse(req, result)
	out.LeftOutCalls = int32(g.leftOut)
	return out, nil
}

func toAppendResponse(req *pb.AppendMessageRequest, r *engine.AppendResult) *pb.AppendMessageResponse {
	out := &pb.AppendMessageResponse{
		Events:            convert.Each(r.Events, convert.ToEvent),
		DisplayMessage:    toVariant(r.Display),
		PersistentMessage: toVariant(r.Persistent),
		Calls:             toCalls(r.Calls),
		History:           toHistory(r.History),
	}
	receipts := toReceipts(r)
	if len(receipts) > 0 {
		out.Receipt = receipts[len(receipts)-1]
	}
	if req.GetProviderInput() != nil {
		out.Receipts = receipts
	}
	return out
}

// toVariant converts the variant of an append's one message; nil if it was not asked for.
func toVariant(messages []conversation.Message) *pb.Message {
	if len(messages) == 0 {
		return nil
	}
	return convert.ToMessage(&messages[0])
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

// receiptTextBytes is what the citations in all receipts of an append may take. There may be thousands, and the answer has to reach
// clients that take 4 MiB.
const receiptTextBytes = 1 << 20

// receiptCitations converts the citations of an append, by message. Those beyond the room for texts have handle and lengths alone.
func receiptCitations(r *engine.AppendResult) [][]*pb.Citation {
	room := receiptTextBytes
	return convert.Each(r.Citations, func(list []engine.Cited) []*pb.Citation {
		return convert.Each(list, func(c engine.Cited) *pb.Citation {
			out := convert.ToCitation(c)
			if room -= proto.Size(out); room < 0 {
				return &pb.Citation{ContentId: out.GetContentId(), TotalChars: out.GetTotalChars(), TotalBytes: out.GetTotalBytes()}
			}
			return out
		})
	})
}

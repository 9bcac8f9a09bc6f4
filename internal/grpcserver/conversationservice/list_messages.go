package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listMessagesRules() rules.Table[*pb.ListMessagesRequest] {
	return rules.Table[*pb.ListMessagesRequest]{
		schema.ConversationID("conversation_id", (*pb.ListMessagesRequest).GetConversationId),
		rules.Message("range", (*pb.ListMessagesRequest).GetRange, rangeRules()),
		rules.Enum("order", (*pb.ListMessagesRequest).GetOrder),
		rules.Enum("view", (*pb.ListMessagesRequest).GetView),
		rules.Message("filter", (*pb.ListMessagesRequest).GetFilter, filterRules()),
		paging.PageSize((*pb.ListMessagesRequest).GetPageSize),
		paging.NumberToken[*pb.ListMessagesRequest](schema.MaxIndex),
		rules.Number("max_tokens", schema.TokensLimit(), (*pb.ListMessagesRequest).GetMaxTokens),
		paging.ReplyBytes(func(r *pb.ListMessagesRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// ListMessages lists messages, as appended or as the view shows them.
func (s *Service) ListMessages(ctx context.Context, req *pb.ListMessagesRequest) (*pb.ListMessagesResponse, error) {
	limit := s.admission.ReplyLimit(req.MaxReplyBytes)
	page := messagesPage{converted: make(map[int32]*pb.Message)}
	result, err := s.engine.Messages(ctx, engine.MessagesRequest{
		Key:        convert.Key(ctx, req.GetConversationId()),
		Range:      fromRange(req.GetRange()),
		Descending: req.GetOrder() == pb.ListOrder_LIST_ORDER_DESCENDING,
		Current:    req.GetView() == pb.ListView_LIST_VIEW_CURRENT,
		Filter:     fromFilter(req.GetFilter()),
		Limit:      paging.Limit(req),
		MaxTokens:  int64(req.GetMaxTokens()),
		Cursor:     paging.OpenNumber[int32](req),
		MaxBytes:   max(1, limit-paging.PageTokenBytes),
		Size:       page.size,
	})
	if err != nil {
		return nil, err
	}
	out := page.of(req, result)
	return out, paging.CheckReply(out, limit, 0)
}

// messagesPage keeps what was converted to be weighed, so that it is converted once.
type messagesPage struct{ converted map[int32]*pb.Message }

func (p *messagesPage) size(m *engine.MessageInView) int {
	out := convert.ToMessageInView(m)
	p.converted[m.Message.Index] = out
	return paging.ElementBytes(out)
}

func (p *messagesPage) of(req *pb.ListMessagesRequest, result *engine.MessagesResult) *pb.ListMessagesResponse {
	out := &pb.ListMessagesResponse{Summaries: convert.Each(result.Summaries, convert.ToSummary), NextPageToken: paging.NextNumber(req, result.Next)}
	for i := range result.Messages {
		m := p.converted[result.Messages[i].Message.Index]
		if m == nil {
			m = convert.ToMessageInView(&result.Messages[i])
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

package grpcserver

import (
	"context"
	"strconv"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listMessagesRules() table[*pb.ListMessagesRequest] {
	return table[*pb.ListMessagesRequest]{
		conversationID("conversation_id", (*pb.ListMessagesRequest).GetConversationId),
		message("range", (*pb.ListMessagesRequest).GetRange, rangeRules()),
		enum("order", (*pb.ListMessagesRequest).GetOrder),
		enum("view", (*pb.ListMessagesRequest).GetView),
		message("filter", (*pb.ListMessagesRequest).GetFilter, filterRules()),
		pageSize((*pb.ListMessagesRequest).GetPageSize),
		numberPageToken[*pb.ListMessagesRequest](maxIndex),
		number("max_tokens", tokensLimit(), (*pb.ListMessagesRequest).GetMaxTokens),
		replyBytes(func(r *pb.ListMessagesRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// ListMessages lists messages, as appended or as the view shows them.
func (s *service) ListMessages(ctx context.Context, req *pb.ListMessagesRequest) (*pb.ListMessagesResponse, error) {
	cursor, err := indexCursor(req)
	if err != nil {
		return nil, err
	}
	limit := replyLimit(req.MaxReplyBytes)
	page := messagesPage{converted: make(map[int32]*pb.Message)}
	result, err := s.engine.Messages(ctx, engine.MessagesRequest{
		Key:        s.key(req.GetConversationId()),
		Range:      fromRange(req.GetRange()),
		Descending: req.GetOrder() == pb.ListOrder_LIST_ORDER_DESCENDING,
		Current:    req.GetView() == pb.ListView_LIST_VIEW_CURRENT,
		Filter:     fromFilter(req.GetFilter()),
		Limit:      pageLimit(req),
		MaxTokens:  int64(req.GetMaxTokens()),
		Cursor:     cursor,
		MaxBytes:   max(1, limit-pageTokenBytes),
		Size:       page.size,
	})
	if err != nil {
		return nil, err
	}
	out, err := page.of(req, result)
	if err != nil {
		return nil, err
	}
	return out, checkReply(out, limit, 0)
}

// indexCursor is the cursor of a listing of messages; nil for the first page.
func indexCursor(req paged) (*int32, error) {
	n, err := openNumber(req)
	if n == nil || err != nil {
		return nil, err
	}
	index := int32(*n)
	return &index, nil
}

// messagesPage keeps what was converted to be weighed, so that it is converted once.
type messagesPage struct{ converted map[int32]*pb.Message }

func (p *messagesPage) size(m *engine.MessageInView) int {
	out := toMessageInView(m)
	p.converted[m.Message.Index] = out
	return elementBytes(out)
}

func (p *messagesPage) of(req *pb.ListMessagesRequest, result *engine.MessagesResult) (*pb.ListMessagesResponse, error) {
	out := &pb.ListMessagesResponse{Summaries: each(result.Summaries, toSummary)}
	for i := range result.Messages {
		m := p.converted[result.Messages[i].Message.Index]
		if m == nil {
			m = toMessageInView(&result.Messages[i])
		}
		out.Messages = append(out.Messages, m)
	}
	if result.Next == nil {
		return out, nil
	}
	var err error
	out.NextPageToken, err = sealPage(req, strconv.Itoa(int(*result.Next)))
	return out, err
}

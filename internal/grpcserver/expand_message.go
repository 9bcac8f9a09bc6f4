package grpcserver

import (
	"context"
	"strconv"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func expandMessageRules() table[*pb.ExpandMessageRequest] {
	stretch := stretchRules()
	return table[*pb.ExpandMessageRequest]{
		conversationID("conversation_id", (*pb.ExpandMessageRequest).GetConversationId),
		either("target", func(r *pb.ExpandMessageRequest) bool { return r.GetTarget() != nil }),
		number("message_index", indexLimit(), (*pb.ExpandMessageRequest).GetMessageIndex),
		textIf("message_id", byteRange(1, 128), targetID),
		textIf("summary_id", nameLimit(), targetSummary, summaryID),
		text("reason", atMostBytes(1024), (*pb.ExpandMessageRequest).GetReason),
		expandMode(),
		message("chars", (*pb.ExpandMessageRequest).GetChars, stretch),
		message("lines", (*pb.ExpandMessageRequest).GetLines, stretch),
		message("items", (*pb.ExpandMessageRequest).GetItems, stretch),
		number("max_tokens", tokensLimit(), (*pb.ExpandMessageRequest).GetMaxTokens),
		requestID((*pb.ExpandMessageRequest).GetRequestId),
		pageSize((*pb.ExpandMessageRequest).GetPageSize),
		numberPageToken[*pb.ExpandMessageRequest](maxIndex),
		replyBytes(func(r *pb.ExpandMessageRequest) *int32 { return r.MaxReplyBytes }),
	}
}

func targetID(r *pb.ExpandMessageRequest) (string, bool) {
	id, ok := r.GetTarget().(*pb.ExpandMessageRequest_MessageId)
	if !ok {
		return "", false
	}
	return id.MessageId, true
}

func targetSummary(r *pb.ExpandMessageRequest) (string, bool) {
	id, ok := r.GetTarget().(*pb.ExpandMessageRequest_SummaryId)
	if !ok {
		return "", false
	}
	return id.SummaryId, true
}

// expandMode refuses to restore what can only be returned, if that was said by name.
func expandMode() rule[*pb.ExpandMessageRequest] {
	mode := enum("mode", (*pb.ExpandMessageRequest).GetMode)
	return rule[*pb.ExpandMessageRequest]{mode.facts, func(c *checker, r *pb.ExpandMessageRequest) {
		mode.check(c, r)
		if r.GetMode() == pb.ExpandMode_EXPAND_MODE_RESTORE && returnsOnly(r) {
			c.fail("must not be EXPAND_MODE_RESTORE with a range, max_tokens, summary_id or page_token")
		}
	}}
}

// returnsOnly says whether a request asks for what leaves the view as it is, whatever its mode.
func returnsOnly(r *pb.ExpandMessageRequest) bool {
	_, summary := targetSummary(r)
	return summary || r.GetRange() != nil || r.GetMaxTokens() > 0 || r.GetPageToken() != ""
}

func stretchRules() table[*pb.Range] {
	end := number("end", numberRange(1, maxIndex), (*pb.Range).GetEnd)
	return table[*pb.Range]{
		number("start", indexLimit(), (*pb.Range).GetStart),
		{end.facts, func(c *checker, r *pb.Range) {
			before := len(c.found)
			end.check(c, r)
			if len(c.found) == before && r.GetEnd() <= r.GetStart() {
				c.fail("must be greater than start")
			}
		}},
	}
}

// ExpandMessage brings back what left the view.
func (s *service) ExpandMessage(ctx context.Context, req *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	asked, err := s.expansion(req)
	if err != nil {
		return nil, err
	}
	result, err := s.engine.Expand(ctx, asked)
	if err != nil {
		return nil, err
	}
	out := toExpandResponse(result)
	if result.Next != nil {
		if out.NextPageToken, err = sealPage(req, strconv.Itoa(int(*result.Next))); err != nil {
			return nil, err
		}
	}
	if len(out.GetEvents()) > 0 {
		return out, nil // the engine weighed it before it changed the view
	}
	return out, checkReply(out, replyLimit(req.MaxReplyBytes), 0)
}

func (s *service) expansion(req *pb.ExpandMessageRequest) (engine.ExpandRequest, error) {
	request, err := requestOf("ExpandMessage", req, &req.RequestId)
	if err != nil {
		return engine.ExpandRequest{}, err
	}
	cursor, err := indexCursor(req)
	if err != nil {
		return engine.ExpandRequest{}, err
	}
	if cursor != nil {
		// A further page changes nothing: it needs no identity, and must not be taken for another request under the same id.
		request = engine.Request{RPC: request.RPC}
	}
	out := engine.ExpandRequest{
		Key:        s.key(req.GetConversationId()),
		Request:    request,
		Reason:     req.GetReason(),
		ReturnOnly: req.GetMode() == pb.ExpandMode_EXPAND_MODE_RETURN_ONLY || returnsOnly(req),
		MaxTokens:  req.GetMaxTokens(),
		Limit:      pageLimit(req),
		Cursor:     cursor,
		MaxBytes:   max(1, replyLimit(req.MaxReplyBytes)-pageTokenBytes),
		Size:       func(m *engine.MessageInView) int { return elementBytes(toMessageInView(m)) },
	}
	setTarget(&out, req)
	out.Unit, out.Range = fromStretch(req)
	return out, nil
}

func setTarget(out *engine.ExpandRequest, req *pb.ExpandMessageRequest) {
	switch target := req.GetTarget().(type) {
	case *pb.ExpandMessageRequest_MessageIndex:
		out.Index = &target.MessageIndex
	case *pb.ExpandMessageRequest_MessageId:
		out.MessageID = target.MessageId
	case *pb.ExpandMessageRequest_SummaryId:
		out.Summary, _ = parseID(summaryPrefix, target.SummaryId)
	}
}

func fromStretch(req *pb.ExpandMessageRequest) (engine.RangeUnit, conversation.Range) {
	var unit engine.RangeUnit
	var stretch *pb.Range
	switch asked := req.GetRange().(type) {
	case *pb.ExpandMessageRequest_Chars:
		unit, stretch = engine.RangeChars, asked.Chars
	case *pb.ExpandMessageRequest_Lines:
		unit, stretch = engine.RangeLines, asked.Lines
	case *pb.ExpandMessageRequest_Items:
		unit, stretch = engine.RangeItems, asked.Items
	}
	return unit, conversation.Range{First: stretch.GetStart(), End: stretch.GetEnd()}
}

func toExpandResponse(r *engine.ExpandResult) *pb.ExpandMessageResponse {
	out := &pb.ExpandMessageResponse{
		TotalChars:    r.TotalChars,
		Children:      each(r.Children, toExpandedChild),
		Events:        each(r.Events, toEvent),
		Revision:      r.Revision,
		RewriteTokens: r.RewriteTokens,
		Duplicate:     r.Duplicate,
	}
	if r.Message != nil {
		out.Message = toMessageInView(r.Message)
	}
	if r.Returned != nil {
		out.Returned = &pb.Range{Start: r.Returned.First, End: r.Returned.End}
	}
	return out
}

func toExpandedChild(c engine.ExpandedChild) *pb.ExpandedChild {
	if c.Message != nil {
		return &pb.ExpandedChild{Child: &pb.ExpandedChild_Message{Message: toMessageInView(c.Message)}}
	}
	return &pb.ExpandedChild{
		Child:      &pb.ExpandedChild_SummaryId{SummaryId: toSummaryID(c.Summary)},
		FirstIndex: c.Range.First,
		LastIndex:  c.Range.End - 1,
	}
}

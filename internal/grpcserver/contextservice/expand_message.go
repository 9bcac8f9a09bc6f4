package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func expandMessageRules() rules.Table[*pb.ExpandMessageRequest] {
	span := schema.Span()
	return rules.Table[*pb.ExpandMessageRequest]{
		schema.ConversationID("conversation_id", (*pb.ExpandMessageRequest).GetConversationId),
		rules.Either("target", func(r *pb.ExpandMessageRequest) bool { return r.GetTarget() != nil }),
		rules.Number("message_index", schema.IndexLimit(), (*pb.ExpandMessageRequest).GetMessageIndex),
		rules.TextIf("message_id", rules.ByteRange(1, 128), rules.Alternative((*pb.ExpandMessageRequest).GetTarget, func(x *pb.ExpandMessageRequest_MessageId) string { return x.MessageId })),
		rules.TextIf("summary_id", schema.NameLimit(), rules.Alternative((*pb.ExpandMessageRequest).GetTarget, func(x *pb.ExpandMessageRequest_SummaryId) string { return x.SummaryId }), schema.SummaryID),
		rules.Text("reason", rules.AtMostBytes(1024), (*pb.ExpandMessageRequest).GetReason),
		expandMode(),
		rules.Message("chars", (*pb.ExpandMessageRequest).GetChars, span),
		rules.Message("lines", (*pb.ExpandMessageRequest).GetLines, span),
		rules.Message("items", (*pb.ExpandMessageRequest).GetItems, span),
		rules.Number("max_tokens", schema.TokensLimit(), (*pb.ExpandMessageRequest).GetMaxTokens),
		schema.RequestID((*pb.ExpandMessageRequest).GetRequestId),
		paging.PageSize((*pb.ExpandMessageRequest).GetPageSize),
		paging.NumberToken[*pb.ExpandMessageRequest](schema.MaxIndex),
		paging.ReplyBytes(func(r *pb.ExpandMessageRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// expandMode refuses to restore what can only be returned, if that was said by name.
func expandMode() rules.Rule[*pb.ExpandMessageRequest] {
	return rules.Enum("mode", (*pb.ExpandMessageRequest).GetMode).Also(func(c *rules.Checker, r *pb.ExpandMessageRequest) {
		if r.GetMode() == pb.ExpandMode_EXPAND_MODE_RESTORE && returnsOnly(r) {
			c.Fail("must not be EXPAND_MODE_RESTORE with a range, max_tokens, summary_id or page_token")
		}
	})
}

// returnsOnly says whether a request asks for what leaves the view as it is, whatever its mode.
func returnsOnly(r *pb.ExpandMessageRequest) bool {
	_, summary := r.GetTarget().(*pb.ExpandMessageRequest_SummaryId)
	return summary || r.GetRange() != nil || r.GetMaxTokens() > 0 || r.GetPageToken() != ""
}

// ExpandMessage brings back what left the view.
func (s *Service) ExpandMessage(ctx context.Context, req *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	result, err := s.engine.Expand(ctx, s.expansion(ctx, req))
	if err != nil {
		return nil, err
	}
	out := toExpandResponse(result)
	out.NextPageToken = paging.NextNumber(req, result.Next)
	if len(out.GetEvents()) > 0 {
		return out, nil // the engine weighed it before it changed the view
	}
	return out, paging.CheckReply(out, s.admission.ReplyLimit(req.MaxReplyBytes), 0)
}

func (s *Service) expansion(ctx context.Context, req *pb.ExpandMessageRequest) engine.ExpandRequest {
	request := convert.FromRequest(req)
	cursor := paging.OpenNumber[int32](req)
	if cursor != nil {
		// A further page changes nothing: it needs no identity, and must not be taken for another request under the same id.
		request = engine.Request{RPC: request.RPC}
	}
	out := engine.ExpandRequest{
		Key:        convert.Key(ctx, req.GetConversationId()),
		Request:    request,
		Reason:     req.GetReason(),
		ReturnOnly: req.GetMode() == pb.ExpandMode_EXPAND_MODE_RETURN_ONLY || returnsOnly(req),
		MaxTokens:  req.GetMaxTokens(),
		Limit:      paging.Limit(req),
		Cursor:     cursor,
		MaxBytes:   max(1, s.admission.ReplyLimit(req.MaxReplyBytes)-paging.PageTokenBytes),
		Size:       func(m *engine.MessageInView) int { return paging.ElementBytes(convert.ToMessageInView(m)) },
	}
	setTarget(&out, req)
	out.Unit, out.Range = fromSpan(req)
	return out
}

func setTarget(out *engine.ExpandRequest, req *pb.ExpandMessageRequest) {
	switch target := req.GetTarget().(type) {
	case *pb.ExpandMessageRequest_MessageIndex:
		out.Index = &target.MessageIndex
	case *pb.ExpandMessageRequest_MessageId:
		out.MessageID = target.MessageId
	case *pb.ExpandMessageRequest_SummaryId:
		out.Summary, _ = convert.ParseSummaryID(target.SummaryId)
	}
}

func fromSpan(req *pb.ExpandMessageRequest) (engine.RangeUnit, conversation.Range) {
	var unit engine.RangeUnit
	var span *pb.Span
	switch asked := req.GetRange().(type) {
	case *pb.ExpandMessageRequest_Chars:
		unit, span = engine.RangeChars, asked.Chars
	case *pb.ExpandMessageRequest_Lines:
		unit, span = engine.RangeLines, asked.Lines
	case *pb.ExpandMessageRequest_Items:
		unit, span = engine.RangeItems, asked.Items
	}
	// No text of a message reaches the largest position that its range can name.
	return unit, conversation.Range{First: int32(min(span.GetStartIndex(), schema.MaxIndex)), End: int32(min(convert.SpanEnd(span), schema.MaxIndex))}
}

func toExpandResponse(r *engine.ExpandResult) *pb.ExpandMessageResponse {
	out := &pb.ExpandMessageResponse{
		TotalChars:    r.TotalChars,
		Children:      convert.Each(r.Children, toExpandedChild),
		Events:        convert.Each(r.Events, convert.ToEvent),
		Revision:      r.Revision,
		RewriteTokens: r.RewriteTokens,
		Duplicate:     r.Duplicate,
	}
	if r.Message != nil {
		out.Message = convert.ToMessageInView(r.Message)
	}
	if r.Returned != nil {
		out.Returned = convert.ToSpan([2]int64{int64(r.Returned.First), int64(r.Returned.End)})
	}
	return out
}

func toExpandedChild(c engine.ExpandedChild) *pb.ExpandedChild {
	out := &pb.ExpandedChild{StartIndex: c.Range.First, EndIndex: c.Range.End}
	if c.Message != nil {
		out.Child = &pb.ExpandedChild_Message{Message: convert.ToMessageInView(c.Message)}
	} else {
		out.Child = &pb.ExpandedChild_SummaryId{SummaryId: convert.SummaryID(c.Summary)}
	}
	return out
}

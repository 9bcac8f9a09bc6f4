package contextservice

import (
	"context"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func correctMessageRules() rules.Table[*pb.CorrectMessageRequest] {
	return rules.Table[*pb.CorrectMessageRequest]{
		schema.ConversationID("conversation_id", (*pb.CorrectMessageRequest).GetConversationId),
		rules.Either("target", func(r *pb.CorrectMessageRequest) bool { return r.GetTarget() != nil }),
		rules.Number("message_index", schema.IndexLimit(), (*pb.CorrectMessageRequest).GetMessageIndex),
		rules.TextIf("message_id", rules.ByteRange(1, 128), rules.Alternative((*pb.CorrectMessageRequest).GetTarget, func(x *pb.CorrectMessageRequest_MessageId) string { return x.MessageId })),
		rules.List("corrections", rules.NumberRange(1, 256), (*pb.CorrectMessageRequest).GetCorrections, correctionRules()),
		rules.Text("reason", rules.AtMostBytes(1024), (*pb.CorrectMessageRequest).GetReason),
		schema.RequestID((*pb.CorrectMessageRequest).GetRequestId),
		paging.ReplyBytes(func(r *pb.CorrectMessageRequest) *int32 { return r.MaxReplyBytes }),
	}
}

func correctionRules() rules.Table[*pb.Correction] {
	return rules.Table[*pb.Correction]{
		rules.Number("part_index", schema.IndexLimit(), (*pb.Correction).GetPartIndex),
		rules.Either("content", func(c *pb.Correction) bool { return c.GetContent() != nil }),
		rules.TextIf("text", rules.AtMostBytes(schema.MaxContentBytes), rules.Alternative((*pb.Correction).GetContent, func(x *pb.Correction_Text) string { return x.Text }), notBlank),
		rules.TextIf("json", rules.AtMostBytes(schema.MaxContentBytes), rules.Alternative((*pb.Correction).GetContent, func(x *pb.Correction_Json) string { return x.Json }), rules.JSONValue),
	}
}

func notBlank(s string) string {
	if strings.TrimSpace(s) == "" {
		return "must not be blank"
	}
	return ""
}

// CorrectMessage gives texts and tool results of a message other words.
func (s *Service) CorrectMessage(ctx context.Context, req *pb.CorrectMessageRequest) (*pb.CorrectMessageResponse, error) {
	r := engine.CorrectRequest{
		Key:      convert.Key(ctx, req.GetConversationId()),
		Request:  convert.FromRequest(req),
		Parts:    convert.Each(req.GetCorrections(), fromCorrection),
		Reason:   req.GetReason(),
		MaxBytes: s.admission.ReplyLimit(req.MaxReplyBytes),
		Size:     func(m *engine.MessageInView) int { return paging.ElementBytes(convert.ToMessageInView(m)) },
	}
	r.MessageID = req.GetMessageId()
	if target, ok := req.GetTarget().(*pb.CorrectMessageRequest_MessageIndex); ok {
		r.Index = &target.MessageIndex
	}
	result, err := s.engine.Correct(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pb.CorrectMessageResponse{
		Message:            convert.ToMessageInView(result.Message),
		Events:             convert.Each(result.Events, convert.ToEvent),
		DissolvedSummaries: convert.Each(result.Dissolved, convert.SummaryID),
		Revision:           result.Revision,
		RewriteTokens:      result.RewriteTokens,
		Duplicate:          result.Duplicate,
	}, nil
}

func fromCorrection(c *pb.Correction) engine.CorrectedPart {
	out := engine.CorrectedPart{Part: c.GetPartIndex(), Text: c.GetText()}
	if set, ok := c.GetContent().(*pb.Correction_Json); ok {
		out.Output, out.Text = conversation.OutputJSON, set.Json
	}
	return out
}

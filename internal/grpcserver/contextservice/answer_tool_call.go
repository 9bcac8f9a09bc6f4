package contextservice

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func answerToolCallRules() rules.Table[*pb.AnswerToolCallRequest] {
	return rules.Table[*pb.AnswerToolCallRequest]{
		schema.ConversationID("conversation_id", (*pb.AnswerToolCallRequest).GetConversationId),
		rules.RequiredMessage("tool_call", (*pb.AnswerToolCallRequest).GetToolCall, schema.ToolCall()),
		answerTokens(),
	}
}

// answerTokens leaves an answer enough to say at least what is wrong.
func answerTokens() rules.Rule[*pb.AnswerToolCallRequest] {
	some := rules.NumberRange(100, 100_000_000)
	span := "0, or " + some.Span()
	return rules.Rule[*pb.AnswerToolCallRequest]{Facts: rules.Facts{Field: "max_tokens", Limits: []string{span}}, Check: func(c *rules.Checker, r *pb.AnswerToolCallRequest) {
		if n := r.GetMaxTokens(); n != 0 && !some.Holds(int64(n)) {
			c.Fail("must be %s", span)
		}
	}}
}

// AnswerToolCall answers a model's call of a tool that recalls.
func (s *Service) AnswerToolCall(ctx context.Context, req *pb.AnswerToolCallRequest) (*pb.AnswerToolCallResponse, error) {
	done, err := s.admission.Search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := s.engine.AnswerToolCall(ctx, engine.ToolCallRequest{
		Key:       convert.Key(ctx, req.GetConversationId()),
		Call:      *convert.FromCall(req.GetToolCall()),
		MaxTokens: req.GetMaxTokens(),
	})
	if err != nil {
		return nil, err
	}
	out := &pb.AnswerToolCallResponse{ToolResult: convert.ToResult(&result.Result), TokenCount: result.Tokens}
	if n := proto.Size(out); n > paging.DefaultReplyBytes {
		return nil, conversation.Errorf(conversation.ReplyTooLarge,
			"the answer has %d bytes and may have %d: ask with a lower max_tokens", n, paging.DefaultReplyBytes)
	}
	return out, nil
}

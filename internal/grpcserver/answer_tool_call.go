package grpcserver

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func answerToolCallRules() table[*pb.AnswerToolCallRequest] {
	return table[*pb.AnswerToolCallRequest]{
		conversationID("conversation_id", (*pb.AnswerToolCallRequest).GetConversationId),
		requiredMessage("tool_call", (*pb.AnswerToolCallRequest).GetToolCall, callRules()),
		answerTokens(),
	}
}

// answerTokens leaves an answer enough to say at least what is wrong.
func answerTokens() rule[*pb.AnswerToolCallRequest] {
	some := numberRange(100, 100_000_000)
	span := "0, or " + some.span()
	return rule[*pb.AnswerToolCallRequest]{facts{field: "max_tokens", limits: []string{span}}, func(c *checker, r *pb.AnswerToolCallRequest) {
		if n := r.GetMaxTokens(); n != 0 && !some.holds(int64(n)) {
			c.fail("must be %s", span)
		}
	}}
}

// AnswerToolCall answers a model's call of a tool that recalls.
func (s *service) AnswerToolCall(ctx context.Context, req *pb.AnswerToolCallRequest) (*pb.AnswerToolCallResponse, error) {
	done, err := s.admission.search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := s.engine.AnswerToolCall(ctx, engine.ToolCallRequest{
		Key:       s.key(req.GetConversationId()),
		Call:      *fromCall(req.GetToolCall()),
		MaxTokens: req.GetMaxTokens(),
	})
	if err != nil {
		return nil, err
	}
	out := &pb.AnswerToolCallResponse{ToolResult: toResult(&result.Result), TokenCount: result.Tokens}
	if n := proto.Size(out); n > defaultReplyBytes {
		return nil, conversation.Errorf(conversation.ReplyTooLarge,
			"the answer has %d bytes and may have %d: ask with a lower max_tokens", n, defaultReplyBytes)
	}
	return out, nil
}

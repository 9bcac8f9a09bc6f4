package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func buildContextRules() table[*pb.BuildContextRequest] {
	return table[*pb.BuildContextRequest]{
		conversationID("conversation_id", (*pb.BuildContextRequest).GetConversationId),
		turnRule(),
		anything[*pb.BuildContextRequest]("same_turn"),
		requestID((*pb.BuildContextRequest).GetRequestId),
		enum("format", (*pb.BuildContextRequest).GetFormat),
		text("model", optionalNameLimit(), (*pb.BuildContextRequest).GetModel),
		message("budget", (*pb.BuildContextRequest).GetBudget, budgetRules()),
		message("fixed_input", (*pb.BuildContextRequest).GetFixedInput, fixedInputRules()),
		message("last_usage", (*pb.BuildContextRequest).GetLastUsage, usageRules()),
		message("expiration_override", (*pb.BuildContextRequest).GetExpirationOverride, overrideRules()),
		message("policy_override", (*pb.BuildContextRequest).GetPolicyOverride, policyRules()),
		anything[*pb.BuildContextRequest]("dry_run"),
		anything[*pb.BuildContextRequest]("close_open_calls"),
		replyBytes(func(r *pb.BuildContextRequest) *int32 { return r.MaxReplyBytes }),
	}
}

func turnRule() rule[*pb.BuildContextRequest] {
	r := optionalNumber("turn", indexLimit(), func(r *pb.BuildContextRequest) *int32 { return r.Turn })
	return rule[*pb.BuildContextRequest]{r.facts, func(c *checker, m *pb.BuildContextRequest) {
		r.check(c, m)
		if m.Turn != nil && m.GetSameTurn() {
			c.fail("must not be set together with same_turn")
		}
	}}
}

// BuildContext answers what the model should see now.
func (s *service) BuildContext(ctx context.Context, req *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	request, err := requestOf("BuildContext", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	reply := buildReply{limit: replyLimit(req.MaxReplyBytes)}
	result, err := s.engine.Build(ctx, engine.BuildRequest{
		Key:            s.key(req.GetConversationId()),
		Request:        request,
		Turn:           req.Turn,
		SameTurn:       req.GetSameTurn(),
		Format:         conversation.Format(req.GetFormat()),
		Model:          req.GetModel(),
		Budget:         fromBudget(req.GetBudget()),
		Fixed:          fromFixedInput(req.GetFixedInput()),
		LastUsage:      fromUsage(req.GetLastUsage()),
		PolicyOverride: fromPolicy(req.GetPolicyOverride()),
		Override:       fromOverride(req.GetExpirationOverride()),
		DryRun:         req.GetDryRun(),
		CloseOpenCalls: req.GetCloseOpenCalls(),
		Check:          reply.check,
	})
	if err != nil {
		return nil, err
	}
	return reply.of(result)
}

// The coordinates that a commit adds to an answer take no more.
const coordinatesBytes = 64

// buildReply holds the answer as it was measured before the commit, so that it is not converted again after it.
type buildReply struct {
	limit    int
	result   *engine.BuildResult
	response *pb.BuildContextResponse
}

// check refuses an answer over the limit before it is committed.
func (b *buildReply) check(r *engine.BuildResult) error {
	b.result, b.response = r, toBuildResponse(r)
	return checkReply(b.response, b.limit, coordinatesBytes)
}

func (b *buildReply) of(r *engine.BuildResult) (*pb.BuildContextResponse, error) {
	if r != b.result {
		if err := b.check(r); err != nil {
			return nil, err
		}
	}
	setCoordinates(b.response, r)
	return b.response, nil
}

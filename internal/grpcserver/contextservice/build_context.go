package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func buildContextRules(messages rules.Table[*pb.Message]) rules.Table[*pb.BuildContextRequest] {
	return rules.Table[*pb.BuildContextRequest]{
		schema.ConversationID("conversation_id", (*pb.BuildContextRequest).GetConversationId),
		turnRule(),
		rules.Anything[*pb.BuildContextRequest]("same_turn"),
		schema.RequestID((*pb.BuildContextRequest).GetRequestId),
		rules.Enum("format", (*pb.BuildContextRequest).GetFormat),
		rules.Text("model", schema.OptionalNameLimit(), (*pb.BuildContextRequest).GetModel),
		rules.Message("budget", (*pb.BuildContextRequest).GetBudget, budgetRules()),
		rules.Message("fixed_input", (*pb.BuildContextRequest).GetFixedInput, fixedInputRules()),
		rules.Message("last_usage", (*pb.BuildContextRequest).GetLastUsage, usageRules()).Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
			if r.GetLastUsage() != nil && r.GetLastUsageJson() != "" {
				c.Fail("must not be set together with last_usage_json")
			}
		}),
		usageJSON("last_usage_json", (*pb.BuildContextRequest).GetLastUsageJson),
		rules.Message("expiration_override", (*pb.BuildContextRequest).GetExpirationOverride, schema.ExpirationOverride()),
		rules.Message("policy_override", (*pb.BuildContextRequest).GetPolicyOverride, schema.Policy()),
		rules.Anything[*pb.BuildContextRequest]("dry_run"),
		rules.Anything[*pb.BuildContextRequest]("close_open_calls"),
		rules.Message("append", (*pb.BuildContextRequest).GetAppend, buildAppendRules(messages)).Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
			if in := r.GetAppend().GetProviderInput(); in.GetHistory().GetByPlace() && in.GetFormat() != r.GetFormat() {
				c.Fail("provider_input.format must be the build's format where history.by_place is set")
			}
		}),
		completeRule(),
		onlyComplete("recall_tools", (*pb.BuildContextRequest).GetRecallTools),
		onlyComplete("prompt_cache", (*pb.BuildContextRequest).GetPromptCache),
		rules.Anything[*pb.BuildContextRequest]("passes").Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
			if r.GetPasses() && !r.GetDryRun() {
				c.Fail("requires dry_run")
			}
		}),
		paging.ReplyBytes(func(r *pb.BuildContextRequest) *int32 { return r.MaxReplyBytes }),
	}
}

func turnRule() rules.Rule[*pb.BuildContextRequest] {
	turn := rules.OptionalNumber("turn", schema.IndexLimit(), func(r *pb.BuildContextRequest) *int32 { return r.Turn })
	return turn.Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
		if r.Turn != nil && r.GetSameTurn() {
			c.Fail("must not be set together with same_turn")
		}
	})
}

func completeRule() rules.Rule[*pb.BuildContextRequest] {
	return rules.Anything[*pb.BuildContextRequest]("complete").Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
		neutral := r.GetFormat() == pb.ContextFormat_CONTEXT_FORMAT_UNSPECIFIED || r.GetFormat() == pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL
		if r.GetComplete() && neutral {
			c.Fail("must not be set for NEUTRAL, which is no provider's")
		}
	})
}

// onlyComplete is the rule of a field that says more of a complete request.
func onlyComplete(field string, get func(*pb.BuildContextRequest) bool) rules.Rule[*pb.BuildContextRequest] {
	return rules.Anything[*pb.BuildContextRequest](field).Also(func(c *rules.Checker, r *pb.BuildContextRequest) {
		if get(r) && !r.GetComplete() {
			c.Fail("requires complete")
		}
	})
}

// BuildContext answers what the model should see now.
func (s *Service) BuildContext(ctx context.Context, req *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	usage, err := s.usageOf("last_usage_json", req.GetLastUsage(), req.GetLastUsageJson())
	if err != nil {
		return nil, err
	}
	reply := buildReply{limit: s.admission.ReplyLimit(req.MaxReplyBytes)}
	r := engine.BuildRequest{
		Key:            convert.Key(ctx, req.GetConversationId()),
		Request:        convert.FromRequest(req),
		Turn:           req.Turn,
		SameTurn:       req.GetSameTurn(),
		Format:         conversation.Format(req.GetFormat()),
		Model:          req.GetModel(),
		Budget:         fromBudget(req.GetBudget()),
		Fixed:          fromFixedInput(req.GetFixedInput()),
		LastUsage:      usage,
		PolicyOverride: convert.FromPolicy(req.GetPolicyOverride()),
		Override:       fromOverride(req.GetExpirationOverride()),
		DryRun:         req.GetDryRun(),
		Passes:         req.GetPasses(),
		CloseOpenCalls: req.GetCloseOpenCalls(),
		Complete:       engine.Completion{On: req.GetComplete(), RecallTools: req.GetRecallTools(), PromptCache: req.GetPromptCache()},
		Check:          reply.check,
		Waiting:        admission.ExchangeOf(ctx).WithoutReply,
	}
	if req.GetAppend() != nil {
		return s.step(ctx, req.GetAppend(), r, &reply)
	}
	result, err := s.engine.Build(ctx, r)
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
	appended *engine.AppendResult
	result   *engine.BuildResult
	response *pb.BuildContextResponse
}

// check refuses an answer over the limit before it is committed.
func (b *buildReply) check(r *engine.BuildResult) error {
	b.result, b.response = r, toBuildResponse(r)
	setAppended(b.response, b.appended)
	return paging.CheckReply(b.response, b.limit, coordinatesBytes)
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

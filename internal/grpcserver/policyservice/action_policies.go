package policyservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PutActionPolicy creates or replaces an action policy.
func (s *Service) PutActionPolicy(ctx context.Context, req *pb.PutActionPolicyRequest) (*pb.PutActionPolicyResponse, error) {
	policy := fromActionPolicy(req.GetPolicy())
	err := s.engine.PutActionPolicy(ctx, convert.Namespace(ctx), policy, convert.FromRequest(req))
	return &pb.PutActionPolicyResponse{Policy: toActionPolicy(policy)}, err
}

// GetActionPolicy returns an action policy.
func (s *Service) GetActionPolicy(ctx context.Context, req *pb.GetActionPolicyRequest) (*pb.GetActionPolicyResponse, error) {
	found, err := s.engine.ActionPolicy(ctx, convert.Namespace(ctx), fromActionKey(req))
	if err != nil {
		return nil, err
	}
	return &pb.GetActionPolicyResponse{Policy: toActionPolicy(*found)}, nil
}

// ListActionPolicies lists the action policies by key.
func (s *Service) ListActionPolicies(ctx context.Context, req *pb.ListActionPoliciesRequest) (*pb.ListActionPoliciesResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.ActionPolicies(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	return &pb.ListActionPoliciesResponse{Policies: convert.Each(found, toActionPolicy), NextPageToken: paging.Next(req, next)}, err
}

// DeleteActionPolicy removes an action policy.
func (s *Service) DeleteActionPolicy(ctx context.Context, req *pb.DeleteActionPolicyRequest) (*pb.DeleteActionPolicyResponse, error) {
	return &pb.DeleteActionPolicyResponse{}, s.engine.DeleteActionPolicy(ctx, convert.Namespace(ctx), fromActionKey(req), convert.FromRequest(req))
}

// actionKeyed names what an action policy is for.
type actionKeyed interface {
	GetAgentActionId() string
	GetActionId() string
	GetToolName() string
}

func actionKeyRules[M actionKeyed]() rules.Table[M] {
	return rules.Table[M]{
		rules.Either("key", func(m M) bool { return fromActionKey(m) != (conversation.ActionKey{}) }),
		rules.OptionalText("agent_action_id", schema.NameLimit(), M.GetAgentActionId),
		rules.OptionalText("action_id", schema.NameLimit(), M.GetActionId),
		rules.OptionalText("tool_name", schema.NameLimit(), M.GetToolName),
	}
}

func fromActionKey(m actionKeyed) conversation.ActionKey {
	return conversation.ActionKey{AgentActionID: m.GetAgentActionId(), ActionID: m.GetActionId(), ToolName: m.GetToolName()}
}

func actionPolicyRules() rules.Table[*pb.ActionPolicy] {
	return append(actionKeyRules[*pb.ActionPolicy](),
		rules.Message("expiration", (*pb.ActionPolicy).GetExpiration, schema.Expiration()),
		rules.Text("default_compact_prompt_id", schema.OptionalNameLimit(), (*pb.ActionPolicy).GetDefaultCompactPromptId),
		rules.Message("citations", (*pb.ActionPolicy).GetCitations, rules.Table[*pb.ActionCitations]{
			rules.Anything[*pb.ActionCitations]("enabled"),
			rules.OptionalNumber("threshold_chars", schema.ThresholdLimit(), func(c *pb.ActionCitations) *int32 { return c.ThresholdChars }),
		}),
		rules.Enum("importance", (*pb.ActionPolicy).GetImportance))
}

func fromActionPolicy(p *pb.ActionPolicy) conversation.ActionPolicy {
	out := conversation.ActionPolicy{
		Key: fromActionKey(p), DefaultPromptID: p.GetDefaultCompactPromptId(), Importance: conversation.Importance(p.GetImportance()),
	}
	if e := convert.FromExpiration(p.GetExpiration()); e != nil {
		out.Expiration = *e
	}
	if c := p.GetCitations(); c != nil {
		out.Citations = conversation.ActionCitations{On: c.Enabled, ThresholdChars: c.ThresholdChars}
	}
	return out
}

func toActionPolicy(p conversation.ActionPolicy) *pb.ActionPolicy {
	out := &pb.ActionPolicy{
		Expiration: convert.ToExpiration(&p.Expiration), DefaultCompactPromptId: p.DefaultPromptID, Importance: pb.Importance(p.Importance),
	}
	if c := p.Citations; c != (conversation.ActionCitations{}) {
		out.Citations = &pb.ActionCitations{Enabled: c.On, ThresholdChars: c.ThresholdChars}
	}
	switch {
	case p.Key.AgentActionID != "":
		out.Key = &pb.ActionPolicy_AgentActionId{AgentActionId: p.Key.AgentActionID}
	case p.Key.ActionID != "":
		out.Key = &pb.ActionPolicy_ActionId{ActionId: p.Key.ActionID}
	default:
		out.Key = &pb.ActionPolicy_ToolName{ToolName: p.Key.ToolName}
	}
	return out
}

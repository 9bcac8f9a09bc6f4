package grpcserver

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// actionKeyed names what an action policy is for.
type actionKeyed interface {
	GetAgentActionId() string
	GetActionId() string
	GetToolName() string
}

func actionKeyRules[M actionKeyed]() table[M] {
	return table[M]{
		either("key", func(m M) bool { return fromActionKey(m) != (conversation.ActionKey{}) }),
		optionalText("agent_action_id", nameLimit(), M.GetAgentActionId),
		optionalText("action_id", nameLimit(), M.GetActionId),
		optionalText("tool_name", nameLimit(), M.GetToolName),
	}
}

func fromActionKey(m actionKeyed) conversation.ActionKey {
	return conversation.ActionKey{AgentActionID: m.GetAgentActionId(), ActionID: m.GetActionId(), ToolName: m.GetToolName()}
}

func actionPolicyRules() table[*pb.ActionPolicy] {
	return append(actionKeyRules[*pb.ActionPolicy](),
		message("expiration", (*pb.ActionPolicy).GetExpiration, expirationRules()),
		text("default_compact_prompt_id", optionalNameLimit(), (*pb.ActionPolicy).GetDefaultCompactPromptId),
		message("citations", (*pb.ActionPolicy).GetCitations, table[*pb.ActionCitations]{
			anything[*pb.ActionCitations]("enabled"),
			optionalNumber("threshold_chars", thresholdLimit(), func(c *pb.ActionCitations) *int32 { return c.ThresholdChars }),
		}))
}

func fromActionPolicy(p *pb.ActionPolicy) conversation.ActionPolicy {
	out := conversation.ActionPolicy{Key: fromActionKey(p), DefaultPromptID: p.GetDefaultCompactPromptId()}
	if e := fromExpiration(p.GetExpiration()); e != nil {
		out.Expiration = *e
	}
	if c := p.GetCitations(); c != nil {
		out.Citations = conversation.ActionCitations{On: c.Enabled, ThresholdChars: c.ThresholdChars}
	}
	return out
}

func toActionPolicy(p conversation.ActionPolicy) *pb.ActionPolicy {
	out := &pb.ActionPolicy{Expiration: toExpiration(&p.Expiration), DefaultCompactPromptId: p.DefaultPromptID}
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

package expiry

import (
	"cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Importance returns the importance of a tool result or of a message's words: the first that is given, else that of its actions, the
// highest of several, else that of its tool. It is unspecified if nothing sets one.
func (o *Origin) Importance(policies Policies, given ...conversation.Importance) conversation.Importance {
	if own := cmp.Or(given...); own != conversation.ImportanceUnspecified {
		return own
	}
	highest := conversation.ImportanceUnspecified
	for _, a := range o.Actions {
		agent, action, _ := policies.of(a)
		highest = max(highest, cmp.Or(agent.Importance, action.Importance))
	}
	return cmp.Or(highest, o.tool(policies).Importance)
}

// importanceOf returns the stored importance of a tool result or of a message's words.
func importanceOf(m *conversation.Message, part int32) conversation.Importance {
	if part == MessageText {
		return m.Importance
	}
	return m.Parts[part].Result.Importance
}

// policyFor returns the conversation's policy as it holds for something of an importance: what is low has half of the policy's turns, what
// is high never expires by them. Turns that are set by name are as they were set.
func policyFor(importance conversation.Importance, policy conversation.Expiration) conversation.Expiration {
	switch {
	case policy.Turns == nil:
	case importance == conversation.ImportanceLow:
		half := *policy.Turns / 2
		policy.Turns = &half
	case importance == conversation.ImportanceHigh:
		policy.Turns = nil
	}
	return policy
}

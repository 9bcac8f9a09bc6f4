package conversation

import "slices"

// Who says something in a user's or a tool's message without being either (behaviour §1).
const (
	speakerPlugin   = "plugin"
	speakerRetold   = "shortened" // in other words than the user's, or mixed with a plugin's
	speakerAction   = "action_result"
	speakerSubAgent = "sub_agent_result"
	speakerRetry    = "retry_context"
)

// SaidByUser says whether a shown part is words that the user typed, or the beginning of them: not what actions, other agents,
// retries or plugins gave back in the user's role, nothing cited, and nothing that a model or an extract tells in their place.
func (it *Item) SaidByUser(shown int) bool {
	return it.Parts[shown].Kind == PartText && it.Speaker(shown) == RoleUser.String()
}

// Speaker names who says a shown part: the message's role, but for what stands in a role that is not its own.
func (it *Item) Speaker(shown int) string {
	p, m := &it.Parts[shown], it.Message
	switch {
	case p.Plugin != "", p.Recalled != nil:
		return speakerPlugin
	case m.Role != RoleUser:
		return m.Role.String()
	case m.isTyped() && it.isRetold(p):
		return speakerRetold
	case m.isTyped():
		return m.Role.String()
	case m.Type == TypeSubAgentResult:
		return speakerSubAgent
	case m.Type == TypeRetryContext:
		return speakerRetry
	default:
		return speakerAction
	}
}

// isRetold says whether a part of what a user typed is shown in other words than the user's. Expiry shortens a message's words as
// one: with a plugin's among them, nobody can tell any more whose they are.
func (it *Item) isRetold(p *Part) bool {
	if p.Citation != nil {
		return true
	}
	if it.Level == Full {
		return false
	}
	return it.Reason != ReasonExpiredFirstChars || slices.ContainsFunc(it.Message.Parts, func(p Part) bool { return p.Plugin != "" })
}

package conversation

import "slices"

// Speakers in a user's or a tool's message that are neither of these (behaviour §1).
const (
	speakerPlugin   = "plugin"
	speakerRetold   = "shortened" // the user's words shortened to other words, or mixed with a plugin's
	speakerAction   = "action_result"
	speakerSubAgent = "sub_agent_result"
	speakerRetry    = "retry_context"
)

// SaidByUser reports whether a shown part is text that the user typed, or the beginning of it. It is false for what actions,
// other agents, retries or plugins put in the user's role, for citations, and for what a model or an extract says in place of the
// user's words.
func (it *Item) SaidByUser(shown int) bool {
	return it.Parts[shown].Kind == PartText && it.Speaker(shown) == RoleUser.String()
}

// Speaker returns who says a shown part: the message's role, or another speaker for text that does not belong to that role.
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

// isRetold reports whether a part that a user typed is shown in other words than the user's. Expiry shortens the words of a
// message together: if a plugin's words are among them, it is not known whose the result is.
func (it *Item) isRetold(p *Part) bool {
	if p.Citation != nil {
		return true
	}
	if it.Level == Full {
		return false
	}
	return it.Reason != ReasonExpiredFirstChars || slices.ContainsFunc(it.Message.Parts, func(p Part) bool { return p.Plugin != "" })
}

package provider

import (
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Fixed texts for what the record does not contain.
const (
	OpenerText     = "[Conversation continues.]"                 // user text before a context that another role begins
	ContinueText   = "Continue."                                 // user text after a context that another role ends
	UnansweredText = "[No result: the call was never answered.]" // in place of a call's result
	SystemHeader   = "[System message]\n"                        // before a system message that is shown as user text
	SilentError    = "[The call failed without a message.]"      // in an error without a text: Anthropic requires one
)

// LateHeader is put before a result that is shown as user text, because it answers no call of its unit.
func LateHeader(r *conversation.ToolResult) string {
	call := CleanName(r.Name)
	switch id := WordID.takes(r.CallID); {
	case r.Name == "" && id:
		call = r.CallID
	case r.Name == "":
		call = "a call"
	case id:
		call += " (" + r.CallID + ")"
	}
	return "[Late result of " + call + "]\n"
}

// SummaryHeader is put before the text of a summary.
func SummaryHeader(e *conversation.Edit) string {
	return fmt.Sprintf("[Summary of messages %d-%d. What it stands for: expand_message(\"s%d\")]\n\n", e.Range.First, e.Range.End-1, e.Summary.ID)
}

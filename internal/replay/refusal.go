package replay

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// The reasons that a replay judges; see ErrorReason in the contract.
const (
	reasonNoCall    = "RESULT_WITHOUT_CALL"
	reasonPending   = "PENDING_TOOL_CALLS"
	reasonEmpty     = "EMPTY_CONTEXT"
	reasonNone      = "NO_MESSAGES"
	reasonCannotFit = "CONTEXT_CANNOT_FIT"
	reasonNotFound  = "CONVERSATION_NOT_FOUND"
	reasonTooLarge  = "REPLY_TOO_LARGE"
	reasonNotEdited = "NOT_EDITED"
)

// describe names an error without its text, which is the server's to word.
func describe(err error) string {
	return fmt.Sprintf("%v %s", status.Code(err), dial.Reason(err))
}

// refused judges a build at a budget that was not answered, and counts it by its
// reason.
func (c *conversation) refused(err error, room int, byReason map[string]int) {
	reason := dial.Reason(err)
	if status.Code(err) == codes.NotFound && reason == reasonNotFound && c.history.Len() == 0 {
		// Before anything is appended there is no conversation, so no message:
		// the same refusal by another name.
		reason = reasonNone
	}
	wrong := ""
	switch reason {
	case reasonPending:
		if !c.history.Pending() || c.closing {
			wrong = "no call waits at the end"
		}
	case reasonNone:
		if c.history.Len() > 0 {
			wrong = "there are messages"
		}
	case reasonEmpty:
		if !c.history.Blank() && c.history.BoneSpoken()+c.fixed <= room {
			wrong = "there is something to show"
		}
	case reasonCannotFit:
		if bone := c.history.Bone() + c.fixed; bone <= room {
			wrong = fmt.Sprintf("the least is %d tokens of %d", bone, room)
		}
	default:
		c.fail("errors", &c.Errors, "build: "+describe(err))
		return
	}
	byReason[reason]++
	if wrong != "" {
		c.fail("wrong_refusals", &c.WrongRefusals, reason+", but "+wrong)
	}
}

// checkAnswered judges that a build was answered at all.
func (c *conversation) checkAnswered() {
	switch {
	case c.history.Pending() && !c.closing:
		c.fail("wrong_refusals", &c.WrongRefusals, "answered while calls wait at the end")
	case c.history.SystemOnly():
		c.fail("wrong_refusals", &c.WrongRefusals, "answered with nothing but system messages")
	}
}

package summarize

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// spent is what a call counts against limits in tokens, cached or not.
func spent(t conversation.CallTokens) int64 { return t.Input + t.Output }

// Caps on what a provider may report, so that a wrong report cannot use up everybody's budget. A token is at least one byte of what was
// sent, except for the frame around it.
const (
	maxFrameTokens  = 4_096
	maxOutputTokens = 1 << 20
)

// actualCost returns what a call cost: what the provider reports, or the estimate. A call that the provider rejected or never received is
// free; one that timed out may still be billed.
func actualCost(call *Call, answer Answer, failure *Failure, estimated conversation.CallTokens) conversation.CallTokens {
	if failure != nil {
		switch failure.Reason {
		case Unreachable, RateLimited, Status, BreakerOpen:
			return conversation.CallTokens{}
		default:
			return estimated
		}
	}
	if answer.InputTokens <= 0 && answer.OutputTokens <= 0 {
		return estimated
	}
	input := min(max(answer.InputTokens, 0), int64(call.bytes())+maxFrameTokens)
	read := min(max(answer.CacheReadTokens, 0), input)
	return conversation.CallTokens{
		Input: input, CacheRead: read, CacheWrite: min(max(answer.CacheWriteTokens, 0), input-read),
		Output: min(max(answer.OutputTokens, 0), maxOutputTokens),
	}
}

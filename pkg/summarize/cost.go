package summarize

// cost is what a call costs, in tokens.
type cost struct{ input, output int64 }

func (c cost) sum() int64 { return c.input + c.output }

// Caps on what a provider may report, so that a wrong report cannot use up everybody's budget. A token is at least one byte of what was
// sent, except for the frame around it.
const (
	maxFrameTokens  = 4_096
	maxOutputTokens = 1 << 20
)

// actualCost returns what a call cost: what the provider reports, or the estimate. A call that the provider rejected or never received is
// free; one that timed out may still be billed.
func actualCost(call *Call, answer Answer, failure *Failure, estimated cost) cost {
	if failure != nil {
		switch failure.Reason {
		case Unreachable, RateLimited, Status, BreakerOpen:
			return cost{}
		default:
			return estimated
		}
	}
	if answer.InputTokens <= 0 && answer.OutputTokens <= 0 {
		return estimated
	}
	most := int64(len(call.System)+len(call.Prompt)) + maxFrameTokens
	return cost{
		input:  min(max(answer.InputTokens, 0), most),
		output: min(max(answer.OutputTokens, 0), maxOutputTokens),
	}
}

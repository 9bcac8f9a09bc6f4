package summarize

// cost is what a call costs, in tokens.
type cost struct{ input, output int64 }

func (c cost) sum() int64 { return c.input + c.output }

// What a provider may report at most: it is not trusted to empty everybody's minute. A token is a byte of what was sent or more,
// but for the frame around it.
const (
	maxFrameTokens  = 4_096
	maxOutputTokens = 1 << 20
)

// actualCost returns what a call cost: what the provider reports, or what was estimated. A call that the provider turned away, or that
// did not reach it, is free; one whose answer did not come in time may have been paid.
func actualCost(call *Call, answer Answer, failure *Failure, reckoned cost) cost {
	if failure != nil {
		switch failure.Reason {
		case Unreachable, RateLimited, Status, BreakerOpen:
			return cost{}
		default:
			return reckoned
		}
	}
	if answer.InputTokens <= 0 && answer.OutputTokens <= 0 {
		return reckoned
	}
	most := int64(len(call.System)+len(call.Prompt)) + maxFrameTokens
	return cost{
		input:  min(max(answer.InputTokens, 0), most),
		output: min(max(answer.OutputTokens, 0), maxOutputTokens),
	}
}

package conversation

// perMillion: prices are for a million tokens.
const perMillion = 1e6

// The prices per million tokens that a profile does not say. Where it says none, costs count in plain input tokens.
const (
	defaultInputPrice  = 1
	defaultOutputPrice = 5
)

// IsPriced says whether the profile has a price of what every call takes, input and output.
func (p *ModelProfile) IsPriced() bool { return p.InputPrice != nil || p.OutputPrice != nil }

// CallCost is what input and output tokens cost, in the currency of the profile's prices.
func (p *ModelProfile) CallCost(input, output int64) float64 {
	return (float64(input)*ValueOr(p.InputPrice, defaultInputPrice) + float64(output)*ValueOr(p.OutputPrice, defaultOutputPrice)) / perMillion
}

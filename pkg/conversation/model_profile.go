package conversation

import "time"

// ModelProfile is what is known of a model. Nil means not set.
type ModelProfile struct {
	Model                string
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	Counter              string
	Factor               *float64
	MediaTokens          *int32
	InputPrice           *float64 // per million tokens, as the others
	CacheReadPrice       *float64
	CacheWritePrice      *float64
	OutputPrice          *float64
	LivePrefix           *bool // whole contexts may be sent to it to be summarized
	CacheLifetime        *time.Duration
	ReasoningBinding     ReasoningBinding
}

// ReasoningBinding says what a provider does with reasoning that stands behind other text than it was produced behind.
type ReasoningBinding int8

// The bindings. The numbers are those of the API.
const (
	BindingUnknown ReasoningBinding = iota
	BindingNone
	BindingDrops
	BindingRefuses
)

// DefaultCounter counts the tokens of conversations that name no counter.
const DefaultCounter = "o200k"

// perMillion: prices are for a million tokens.
const perMillion = 1e6

// The prices per million tokens that a profile does not say. Where it says none, costs count in plain input tokens. Those of cached input
// are shares of the price of input.
const (
	defaultInputPrice  = 1
	defaultOutputPrice = 5
	cacheReadShare     = 0.1
	cacheWriteShare    = 1.25
)

// CallTokens are the tokens of calls to a model. Output holds what the model thought before it wrote.
type CallTokens struct {
	// Input is all that was sent. CacheRead and CacheWrite are parts of it.
	Input, CacheRead, CacheWrite, Output int64
}

// Plus returns the sum of two counts.
func (t CallTokens) Plus(o CallTokens) CallTokens {
	return CallTokens{t.Input + o.Input, t.CacheRead + o.CacheRead, t.CacheWrite + o.CacheWrite, t.Output + o.Output}
}

// IsPriced says whether the profile has a price of what every call takes, input and output.
func (p *ModelProfile) IsPriced() bool { return p.InputPrice != nil || p.OutputPrice != nil }

// CachePrices are the prices of a million tokens that are read from the provider's cache, and written to it.
func (p *ModelProfile) CachePrices() (read, write float64) {
	input := ValueOr(p.InputPrice, defaultInputPrice)
	return ValueOr(p.CacheReadPrice, cacheReadShare*input), ValueOr(p.CacheWritePrice, cacheWriteShare*input)
}

// CallCost is what calls cost, in the currency of the profile's prices.
func (p *ModelProfile) CallCost(t CallTokens) float64 {
	read, write := p.CachePrices()
	plain := float64(t.Input - t.CacheRead - t.CacheWrite)
	return (plain*ValueOr(p.InputPrice, defaultInputPrice) + float64(t.CacheRead)*read + float64(t.CacheWrite)*write +
		float64(t.Output)*ValueOr(p.OutputPrice, defaultOutputPrice)) / perMillion
}

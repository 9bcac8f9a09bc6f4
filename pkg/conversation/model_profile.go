package conversation

import "time"

// ModelProfile describes a model. Nil means not set.
type ModelProfile struct {
	Model                string
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	Counter              string
	Factor               *float64
	MediaTokens          *int32
	InputPrice           *float64 // per million tokens, like the other prices
	CacheReadPrice       *float64
	CacheWritePrice      *float64
	OutputPrice          *float64
	LivePrefix           *bool // whole contexts may be sent to the model to be summarized
	CacheLifetime        *time.Duration
	ReasoningBinding     ReasoningBinding
}

// ReasoningBinding says what a provider does with reasoning that follows a text other than the one it was produced after.
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

// perMillion: prices are per million tokens.
const perMillion = 1e6

// The default prices per million tokens, for what a profile does not price. If it has no price at all, costs are in plain input tokens.
// The defaults for cached input are shares of the input price.
const (
	defaultInputPrice  = 1
	defaultOutputPrice = 5
	cacheReadShare     = 0.1
	cacheWriteShare    = 1.25
)

// CallTokens are the tokens of model calls. Output includes the model's thinking.
type CallTokens struct {
	// Input is everything that was sent. CacheRead and CacheWrite are parts of it.
	Input, CacheRead, CacheWrite, Output int64
}

// Plus returns the sum of two counts.
func (t CallTokens) Plus(o CallTokens) CallTokens {
	return CallTokens{t.Input + o.Input, t.CacheRead + o.CacheRead, t.CacheWrite + o.CacheWrite, t.Output + o.Output}
}

// IsPriced reports whether the profile has a price for input or output, which every call uses.
func (p *ModelProfile) IsPriced() bool { return p.InputPrice != nil || p.OutputPrice != nil }

// CachePrices returns the prices per million tokens read from the provider's cache, and written to it.
func (p *ModelProfile) CachePrices() (read, write float64) {
	input := ValueOr(p.InputPrice, defaultInputPrice)
	return ValueOr(p.CacheReadPrice, cacheReadShare*input), ValueOr(p.CacheWritePrice, cacheWriteShare*input)
}

// CallCost is the cost of calls in the currency of the profile's prices.
func (p *ModelProfile) CallCost(t CallTokens) float64 {
	read, write := p.CachePrices()
	plain := float64(t.Input - t.CacheRead - t.CacheWrite)
	return (plain*ValueOr(p.InputPrice, defaultInputPrice) + float64(t.CacheRead)*read + float64(t.CacheWrite)*write +
		float64(t.Output)*ValueOr(p.OutputPrice, defaultOutputPrice)) / perMillion
}

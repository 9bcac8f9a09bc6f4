package replay

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// prices are those of a million tokens.
type prices struct{ read, write float64 }

// defaultPrices are those of behaviour §8's simulations, where uncached input
// costs 1.
var defaultPrices = prices{read: 0.1, write: 1.25}

// pricesOf returns the prices of the model's profile, if the sidecar has one.
// Prices that it leaves out follow from the price of input.
func pricesOf(ctx context.Context, policies pb.PolicyServiceClient, model string) (prices, error) {
	if model == "" {
		return defaultPrices, nil
	}
	response, err := policies.GetModelProfile(ctx, &pb.GetModelProfileRequest{Model: model})
	if status.Code(err) == codes.NotFound {
		return defaultPrices, nil
	}
	if err != nil {
		return prices{}, fmt.Errorf("replay: the profile of the model: %s", describe(err))
	}
	input, out := 1.0, defaultPrices
	if p := response.GetProfile(); p.InputPrice != nil {
		input = p.GetInputPrice()
	}
	out.read, out.write = out.read*input, out.write*input
	if p := response.GetProfile().CacheReadPrice; p != nil {
		out.read = *p
	}
	if p := response.GetProfile().CacheWritePrice; p != nil {
		out.write = *p
	}
	return out, nil
}

// of is what a context costs of which so many tokens are read from the cache
// and so many written to it, in millionths.
func (p prices) of(read, written int) float64 {
	return p.read*float64(read) + p.write*float64(written)
}

// OwnCalls is what the sidecar's own model calls took, as its last builds say.
type OwnCalls struct {
	Calls        int64 `json:"calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CacheReadTokens is the part of InputTokens that came from the prompt cache.
	CacheReadTokens int64 `json:"cache_read_tokens"`
	// Cost is in millionths, as that of contexts is, and part of cost_with.
	Cost float64 `json:"cost"`
}

// own takes over what a build says of all own calls for the conversation. They
// only grow.
func (c *conversation) own(said *pb.ModelUsage) {
	if said.GetCalls() < c.OwnCalls.Calls {
		return
	}
	now := OwnCalls{Calls: said.GetCalls(), InputTokens: said.GetInputTokens(), OutputTokens: said.GetOutputTokens(), Cost: 1e6 * said.GetCost()}
	now.CacheReadTokens = said.GetCacheReadTokens()
	c.CostWith += now.Cost - c.OwnCalls.Cost
	c.OwnCalls = now
}

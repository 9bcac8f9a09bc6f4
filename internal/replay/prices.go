package replay

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// pricesOf returns the prices of the model's profile, if the sidecar has one.
// Prices that it leaves out follow from the price of input.
func pricesOf(ctx context.Context, policies pb.PolicyServiceClient, model string) (report.Prices, error) {
	if model == "" {
		return report.DefaultPrices, nil
	}
	response, err := policies.GetModelProfile(ctx, &pb.GetModelProfileRequest{Model: model})
	if status.Code(err) == codes.NotFound {
		return report.DefaultPrices, nil
	}
	if err != nil {
		return report.Prices{}, fmt.Errorf("replay: the profile of the model: %s", describe(err))
	}
	input, out := 1.0, report.DefaultPrices
	if p := response.GetProfile(); p.InputPrice != nil {
		input = p.GetInputPrice()
	}
	out.Read, out.Write = out.Read*input, out.Write*input
	if p := response.GetProfile().CacheReadPrice; p != nil {
		out.Read = *p
	}
	if p := response.GetProfile().CacheWritePrice; p != nil {
		out.Write = *p
	}
	return out, nil
}

// own takes over what a build says of all own calls for the conversation. They
// only grow.
func (c *conversation) own(said *pb.ModelUsage) {
	if said.GetCalls() < c.OwnCalls.Calls {
		return
	}
	now := report.OwnCalls{Calls: said.GetCalls(), InputTokens: said.GetInputTokens(), OutputTokens: said.GetOutputTokens(), Cost: 1e6 * said.GetCost()}
	now.CacheReadTokens = said.GetCacheReadTokens()
	c.CostWith += now.Cost - c.OwnCalls.Cost
	c.OwnCalls = now
}

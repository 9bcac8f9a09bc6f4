package replay

import (
	"context"
	"fmt"
	"maps"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// referenceRecall measures how many of the next message's references, of those that
// the conversation had already made, the context still holds.
func (c *conversation) referenceRecall(next *pb.Message, blocks []validate.Block) {
	for word := range recall.ReferencesOf(recall.Message(next).Items) {
		if _, ok := c.said[word]; ok {
			c.Recall.References.Count(recall.Holds(c.words, recall.ReferencesOf, blocks, word))
		}
	}
}

// contentRecall measures how much of what the next message repeats of the conversation, word by word, the context still holds.
func (c *conversation) contentRecall(next *pb.Message, blocks []validate.Block) {
	for s := range c.shingler.Of(recall.Message(next).Items) {
		_, foreign := c.othersSaid[s]
		_, own := c.agentSaid[s]
		if !own && !foreign {
			continue
		}
		held := recall.Holds(c.blockShingles, c.shingler.Of, blocks, s)
		c.Recall.Content.Count(held)
		if foreign {
			c.Recall.ForeignContent.Count(held)
		}
	}
}

// remember takes in what a message says: the assistant's words are the agent's own, all others are not.
func (c *conversation) remember(m validate.Message) {
	maps.Copy(c.said, recall.ReferencesOf(m.Items))
	into := c.othersSaid
	if m.Role == "assistant" {
		into = c.agentSaid
	}
	maps.Copy(into, c.shingler.Of(m.Items))
}

// refilled is by how much a view must grow before it is compacted again, as
// a share of B: less often than once per window filled would be 0.5.
const refilled = 0.25

// filling is how full a view is between two compactions.
type filling struct {
	start    int32 // of the window
	whole    int   // the history's weight at the last build
	view     int   // the view's weight then
	after    int   // the view's weight after the last compaction
	happened bool
}

// compaction measures a build that made the view smaller. Total is what its
// context weighs.
func (c *conversation) compaction(response *pb.BuildContextResponse, total int) {
	f, history := &c.filling, c.history.Tokens+c.fixed
	made := summariesOf(response)
	start := response.GetCompaction().GetWindowStartIndex()
	if made > 0 || start > f.start {
		c.Compactions.Count++
		c.Compactions.Summaries += made
		share := float64(total) / float64(c.budget())
		c.Compactions.Largest = max(c.Compactions.Largest, share)
		if share > report.Compacted {
			c.Compactions.Over++
		}
		grown := f.view + history - f.whole - f.after
		if f.happened && float64(grown) < refilled*float64(c.budget()) {
			c.Compactions.Early++
		}
		f.happened, f.after = true, total
	}
	f.start, f.whole, f.view = max(f.start, start), history, total
}

// summariesOf counts the summaries that a build made.
func summariesOf(response *pb.BuildContextResponse) (n int) {
	for _, e := range response.GetEvents() {
		if e.GetType() == pb.EventType_EVENT_TYPE_SUMMARIZED {
			n++
		}
	}
	return n
}

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

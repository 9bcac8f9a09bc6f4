package build

import (
	"context"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// outputPrice is the price of output per million tokens where a model's profile says none.
const outputPrice = 5

const perMillion = 1e6

// ownModelUsage is what the sidecar's own model calls for a conversation took, by the prices of the models' profiles.
func (b *Service) ownModelUsage(ctx context.Context, key store.Key) (plan.ModelUsage, error) {
	var out plan.ModelUsage
	for _, s := range b.summaries.Spent(summarize.Scope{Namespace: key.Namespace, Conversation: key.Conversation}) {
		_, model, _ := strings.Cut(s.Model, "/")
		p, err := b.catalogues.Profile(ctx, key.Namespace, model)
		if err != nil {
			return out, err
		}
		out.Calls, out.Input, out.Output = out.Calls+s.Calls, out.Input+s.Input, out.Output+s.Output
		out.Cost += (float64(s.Input)*conversation.ValueOr(p.InputPrice, 1) + float64(s.Output)*conversation.ValueOr(p.OutputPrice, outputPrice)) / perMillion
	}
	return out, nil
}

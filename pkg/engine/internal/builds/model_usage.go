package builds

import (
	"context"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// ownModelUsage is what the sidecar's own model calls for a conversation took, by the prices of the models' profiles.
func (b *Service) ownModelUsage(ctx context.Context, key store.Key) (report.ModelUsage, error) {
	var out report.ModelUsage
	for _, s := range b.Summaries.Spent(summarize.Scope{Namespace: key.Namespace, Conversation: key.Conversation}) {
		_, model, _ := strings.Cut(s.Model, "/")
		p, err := b.Catalogues.Profile(ctx, key.Namespace, model)
		if err != nil {
			return out, err
		}
		out.Calls, out.Tokens = out.Calls+s.Calls, out.Tokens.Plus(s.Tokens)
		out.Cost += p.CallCost(s.Tokens)
	}
	return out, nil
}

// ModelCost is what a call of a model costs by its profile in a namespace; priced is false if that has no prices.
func (b *Service) ModelCost(ctx context.Context, namespace, model string, took conversation.CallTokens) (cost float64, priced bool, err error) {
	p, err := b.Catalogues.Profile(ctx, namespace, model)
	if err != nil || !p.IsPriced() {
		return 0, false, err
	}
	return p.CallCost(took), true, nil
}

package builds

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/claims"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// HasRoom refuses to restore a unit, by edits of which the first has its beginning, that the next build would have no room for (behaviour §10):
// as the last build was, with nothing new.
func (b *Service) HasRoom(ctx context.Context, w *view.Loaded, last *conversation.Manifest, edits []conversation.Edit) error {
	restore := &edits[0]
	window, none, fixed := int32(last.Budget), int32(0), int32(last.FixedTokens)
	given, _, err := b.prepare(ctx, w, &plan.Request{
		Key: w.Key, SameTurn: true, Format: last.Format, Model: last.Model, Fixed: view.FixedInput{Tokens: &fixed}, DryRun: true,
		Budget: settings.BudgetOverride{ContextWindow: &window, ReservedOutput: &none},
	})
	if err != nil {
		return err
	}
	var d *plan.Decided
	var c *claims.Claims
	err = b.Views.RunPlan(ctx, w, func() (err error) {
		d, c, err = plan.Restore(given, edits)
		return err
	})
	if c == nil {
		return err
	}
	r := compaction.Fit(c.FitInput)
	switch conversation.KindOf(err) {
	case conversation.ContextCannotFit, conversation.EmptyContext:
	default:
		if err != nil || d.Composed.Whole(restore.Range) {
			return err
		}
	}
	return conversation.Errorf(conversation.ExpansionTooLarge,
		"the unit of messages %d-%d weighs %d tokens in full, and would displace what must stay: beside fixed input, system and pinned messages %d, newest unit %d, and what the user's request %d and opening %d take, %d tokens are left: ask with RETURN_ONLY for ranges",
		restore.Range.First, restore.Range.End-1, restore.After, c.Fixed, c.Newest.Whole, r.Request, r.Opening,
		max(0, c.Limit-c.Fixed-c.Newest.Whole-r.Request-r.Opening))
}

package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// hasRoom refuses a restoration that the next build would have no room for (behaviour §10): as the last build was, with nothing new.
func (e *Engine) hasRoom(ctx context.Context, l *listing, restore *conversation.Edit) error {
	blank, err := e.decidingAgain(ctx, l)
	if err != nil {
		return err
	}
	var c *claims
	d, err := e.runBuild(ctx, blank, func(d *deciding) (err error) {
		d.edits = []conversation.Edit{*restore}
		d.view, c = d.view.Fold(d.edits), nil
		if d.out, err = d.Compose(d.view, d.complete(d.start)); err != nil || d.over() <= 0 {
			return err
		}
		if c, err = d.claims(d.settings.limit, true); err != nil {
			return err
		}
		return d.fit()
	})
	if c == nil {
		return err
	}
	r := compaction.Fit(c.FitInput)
	switch conversation.KindOf(err) {
	case conversation.ContextCannotFit, conversation.EmptyContext:
	default:
		if err != nil || d.out.Whole(restore.Range) {
			return err
		}
	}
	return conversation.Errorf(conversation.ExpansionTooLarge,
		"the unit of messages %d-%d weighs %d tokens in full, and would displace what must stay: beside fixed input, system and pinned messages %d, newest unit %d, and what the user's request %d and opening %d take, %d tokens are left: ask with RETURN_ONLY for ranges",
		restore.Range.First, restore.Range.End-1, restore.After, c.Fixed, c.Newest.Whole, r.Request, r.Opening,
		max(0, c.Limit-c.Fixed-c.Newest.Whole-r.Request-r.Opening))
}

// decidingAgain decides on the view as the last build did.
func (e *Engine) decidingAgain(ctx context.Context, l *listing) (*deciding, error) {
	m, w := l.last, l.window
	window, none, fixed := int32(m.Budget), int32(0), int32(m.FixedTokens)
	d, _, err := e.prepare(ctx, w, &BuildRequest{
		Key: w.Key, SameTurn: true, Format: m.Format, Model: m.Model, Fixed: view.FixedInput{Tokens: &fixed}, DryRun: true,
		Budget: BudgetOverride{ContextWindow: &window, ReservedOutput: &none},
	})
	return d, err
}

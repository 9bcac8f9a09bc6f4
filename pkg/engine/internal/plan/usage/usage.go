// Package usage says how a build stands to what it knows of its model, and to what the provider reported.
package usage

import (
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
)

// Known is what the other passes take from reports.
type Known struct {
	pass.Result
	Compaction settings.Compaction // with what a compaction aims at
}

// Usage says what of the model had to be assumed, and what a report shows that nobody told us of. What else is sent lowers what a compaction
// aims at: shares are of what is left of the budget.
func Usage(g *pass.Given, d pass.Draft) Known {
	k := Known{Compaction: g.Settings.Compaction}
	k.Notes.Degradations = slices.Concat(unknown(g), jump(g))
	c, room, limit := &k.Compaction, max(0, g.Settings.Limit-g.UncountedTokens(d.Composed)), max(1, g.Settings.Limit)
	c.Target, c.Tail = c.Target*room/limit, c.Tail*room/limit
	return k
}

// The codes of degradations that say what a build did not know of its model. Each says another thing: a profile may lack the window, and a
// window may be said for a model without a profile.
const (
	ModelUnknown  = "MODEL_UNKNOWN"  // no profile says anything of the model that is named
	BudgetAssumed = "BUDGET_ASSUMED" // nobody says the window that the budget is made of
)

// unknown says what of the model had to be assumed, and what to do about it.
func unknown(g *pass.Given) (out []conversation.Degradation) {
	if _, known := g.Settings.Catalogue.Profile(g.Model); !known && g.Model != "" {
		out = append(out, conversation.Degradation{
			Code: ModelUnknown, Asked: "the profile of the model", Reason: "none was put for it, and none ships",
			Done: "defaults serve for its prices and the weight of its media: put a profile",
		})
	}
	room := g.Settings.Room
	if !room.Assumed || room.Tokens() == room.MaxContext {
		return out
	}
	why, cure := "the request names no model", "name the model"
	if g.Model != "" {
		why, cure = "no profile of the model says it", "put a profile of the model"
	}
	return append(out, conversation.Degradation{
		Code: BudgetAssumed, Asked: "the model's window", Reason: "neither the request nor a policy says it, and " + why,
		Done: fmt.Sprintf("%d tokens are assumed, %d of them for the answer: %s, or set context_window_tokens in the request's budget or in policy.fit",
			room.ContextWindow, room.ReservedOutput, cure),
	})
}

// UsageJump is the code of a degradation: a provider reported more than twice what was counted for the same context.
const UsageJump = "USAGE_JUMP"

// usageJump is how many times our count a report may be before it is named.
const usageJump = 2

// jump says that the last report is far beyond our count: something is sent that the sidecar was not told of.
func jump(g *pass.Given) []conversation.Degradation {
	r, ok, err := g.Loaded.Slots.LastUsage()
	if err != nil || !ok || r.Model != g.Model || r.Context <= usageJump*g.Settings.Scaled(r.Counted) {
		return nil
	}
	return []conversation.Degradation{{
		Code: UsageJump, Asked: fmt.Sprintf("the count of build b%d", r.Manifest),
		Reason: fmt.Sprintf("the provider reported %d tokens where %d were counted: something is sent that fixed_input does not name", r.Context, g.Settings.Scaled(r.Counted)),
		Done:   "the report counts: what it exceeds the count by is kept free",
	}}
}

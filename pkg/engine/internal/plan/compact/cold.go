package compact

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// coldTrigger says whether the view is to become smaller because that spoils nothing in the provider's cache: a draft is ready, or the view
// has grown over its share of the budget.
func coldTrigger(g *pass.Given, out *view.Composition) (conversation.Reason, error) {
	r, _, err := drafts.Of(g.Loaded)
	if err == nil && (r.State == drafts.Ready && g.CacheIsCold() || isColdCut(g, out)) {
		return conversation.ReasonCacheCold, nil
	}
	return conversation.ReasonUnspecified, err
}

// isColdCut says whether the view is cut although it is within its budget: it has grown over its share, and nobody has built for so long
// that no provider has anything of it. Another model or format alone says less: it may be a call on the side, of an agent whose own cache
// is warm.
func isColdCut(g *pass.Given, out *view.Composition) bool {
	used, _ := g.UsedTokens(out)
	return g.NewTurn && used > g.Settings.ColdCut && isForgotten(g)
}

// isForgotten says whether the last build in any format is so long ago that providers have nothing cached any more.
func isForgotten(g *pass.Given) bool {
	m := g.Previous.Manifest
	return m != nil && m.Seq == g.Loaded.Head.ManifestSeq && g.Now.Sub(m.Time) >= g.Settings.ColdAfter
}

// coldCutPays says whether a cut behind a cold cache is worth what its summary costs. A model's counts although it may not be asked in the
// end: a dry run decides as the build does.
func (d *compacting) coldCutPays(w *drafts.Job) bool {
	now := d.Weight()
	c := compaction.ColdCut{
		Before: now, Saved: now - mostAfter(d.planner(), w), Shrink: d.goal.Shrink,
		Turns: d.Given.Settings.ExpectTurns, Read: d.Given.Settings.Read, Write: d.Given.Settings.Write,
	}
	if d.Given.Summaries.CanAsk(&w.Prompt) {
		c.Call = summaryCost(d.Given, d.goal, w)
	}
	return c.Pays()
}

// mostAfter is what the view weighs behind a plan's summaries at most: if these are as long as they may be.
func mostAfter(planner *spans.Planner, w *drafts.Job) int64 {
	n := -planner.SummaryRoom(&w.Plan, 0) + int64(len(w.Steps))*(w.Summary+w.Losses)
	for _, e := range planner.View.Summaries() {
		if !w.TakesUp(e.Summary.ID) {
			n += int64(e.Summary.Tokens)
		}
	}
	return n
}

// summaryCost is what a model is paid for a plan's summaries, by the profile of the first that would be asked, in the unit of prices: a
// millionth of their currency. Where not both that model and the agent's have prices, it is as if they had the same: a price in a currency
// cannot be held against a count of tokens.
func summaryCost(g *pass.Given, goal settings.Compaction, w *drafts.Job) float64 {
	profile, _ := g.Settings.Catalogue.Profile(g.Model)
	if models := g.Summaries.ModelsOf(&w.Prompt); g.Settings.Priced && len(models) > 0 {
		_, model, _ := strings.Cut(models[0], "/")
		if asked, _ := g.Settings.Catalogue.Profile(model); asked.IsPriced() {
			profile = asked
		}
	}
	input := int64(0)
	for _, units := range w.Units {
		for i := range units {
			input += units[i].Tokens()
		}
	}
	input = min(input, int64(len(w.Steps))*goal.Input)
	return profile.CallCost(conversation.CallTokens{Input: input, Output: int64(len(w.Steps)) * w.Summary}) * settings.TokensPerPrice
}

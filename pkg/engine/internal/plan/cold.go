package plan

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
)

// coldTrigger says whether the view is to become smaller because that spoils nothing in the provider's cache: a draft is ready, or the view
// has grown over its share of the budget.
func (d compacting) coldTrigger() (conversation.Reason, error) {
	r, _, err := drafts.Of(d.Loaded)
	if err == nil && (r.State == drafts.Ready && d.lifetimes().cacheIsCold() || d.isColdCut()) {
		return conversation.ReasonCacheCold, nil
	}
	return conversation.ReasonUnspecified, err
}

// isColdCut says whether the view is cut although it is within its budget: it has grown over its share, and nobody has built for so long
// that no provider has anything of it. Another model or format alone says less: it may be a call on the side, of an agent whose own cache
// is warm.
func (d compacting) isColdCut() bool {
	used, _ := d.UsedTokens()
	return d.NewTurn && used > d.Settings.ColdCut && d.lifetimes().isForgotten()
}

// cacheIsCold says whether the provider has nothing cached of the context: the last build is too long ago, was another model's, or stood
// behind another system prompt or other tools.
func (d lifetimes) cacheIsCold() bool {
	m := d.Previous.Manifest
	return m == nil || d.Now.Sub(m.Time) >= d.Settings.ColdAfter || m.Model != d.Model || m.FixedHash != d.Loaded.Fixed.Hash
}

// isForgotten says whether the last build in any format is so long ago that providers have nothing cached any more.
func (d lifetimes) isForgotten() bool {
	m := d.Previous.Manifest
	return m != nil && m.Seq == d.Loaded.Head.ManifestSeq && d.Now.Sub(m.Time) >= d.Settings.ColdAfter
}

// coldCutPays says whether a cut behind a cold cache is worth what its summary costs. A model's counts although it may not be asked in the
// end: a dry run decides as the build does.
func (d compacting) coldCutPays(w *drafts.Job) bool {
	now := d.Fixed + d.Composed.Tokens()
	c := compaction.ColdCut{
		Before: now, Saved: now - d.mostAfter(w), Shrink: d.Settings.Compaction.Shrink,
		Turns: d.Settings.ExpectTurns, Read: d.Settings.Read, Write: d.Settings.Write,
	}
	if d.Summaries.CanAsk(&w.Prompt) {
		c.Call = d.summaryCost(w)
	}
	return c.Pays()
}

// mostAfter is what the view weighs behind a plan's summaries at most: if these are as long as they may be.
func (d compacting) mostAfter(w *drafts.Job) int64 {
	n := -d.spans().SummaryRoom(&w.Plan, 0) + int64(len(w.Steps))*(w.Summary+w.Losses)
	for _, e := range d.View.Summaries() {
		if !w.TakesUp(e.Summary.ID) {
			n += int64(e.Summary.Tokens)
		}
	}
	return n
}

// summaryCost is what a model is paid for a plan's summaries, by the profile of the first that would be asked, in the unit of prices: a
// millionth of their currency. Where not both that model and the agent's have prices, it is as if they had the same: a price in a currency
// cannot be held against a count of tokens.
func (d compacting) summaryCost(w *drafts.Job) float64 {
	profile, _ := d.Settings.Catalogue.Profile(d.Model)
	if models := d.Summaries.ModelsOf(&w.Prompt); d.Settings.Priced && len(models) > 0 {
		_, model, _ := strings.Cut(models[0], "/")
		if asked, _ := d.Settings.Catalogue.Profile(model); asked.IsPriced() {
			profile = asked
		}
	}
	input := int64(0)
	for _, units := range w.Units {
		for i := range units {
			input += units[i].Tokens()
		}
	}
	input = min(input, int64(len(w.Steps))*d.Settings.Compaction.Input)
	return profile.CallCost(conversation.CallTokens{Input: input, Output: int64(len(w.Steps)) * w.Summary}) * tokensPerPrice
}

// tokensPerPrice is how many tokens a price is for.
const tokensPerPrice = 1e6

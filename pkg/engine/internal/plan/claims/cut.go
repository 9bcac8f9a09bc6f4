package claims

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// CutSlack is how much smaller a cut may be than what it is granted, as a divisor of the budget: what it exceeds is hidden by that.
const CutSlack = 128

// Cut adds to a window how it cuts what is granted less than it wants.
func (c *Claims) Cut(win *conversation.Window, r *compaction.FitResult) error {
	for i, claim := range []*compaction.Claim{c.Request, c.Opening} {
		granted := []int64{r.Request, r.Opening}[i]
		if claim == nil || claim.First >= win.Start || granted >= claim.Whole {
			continue
		}
		cut, err := c.cutMessage(claim.First, granted)
		if err != nil {
			return err
		}
		win.Cuts = append(win.Cuts, cut)
	}
	for _, claim := range slices.Concat(c.System[r.System:], c.Verbatim[r.Verbatim:]) {
		if !compaction.HasClaim(c.Restored[:r.Restored], claim.First) {
			win.Cuts = append(win.Cuts, conversation.Cut{Message: claim.First})
		}
	}
	for i, g := range r.Summaries {
		s := &c.summaries[i]
		if g.Stands && g.Text >= c.Summaries[i].Text && g.List >= c.Summaries[i].List {
			continue
		}
		cut, ok := compaction.CutSummary(s.text, s.body, s.id, g.Text+g.List, g.List, c.g.Settings.Counter)
		if !ok {
			cut = conversation.Cut{Summary: s.id}
		}
		win.Cuts = append(win.Cuts, cut)
	}
	return nil
}

// cutMessage is how much of a message's words is shown in so many tokens.
func (c *Claims) cutMessage(index int32, granted int64) (conversation.Cut, error) {
	m, err := c.g.Message(index)
	if err != nil {
		return conversation.Cut{}, err
	}
	words, err := c.g.UserWords(c.draft.View, m)
	if err != nil {
		return conversation.Cut{}, err
	}
	cut, ok := compaction.CutWords(words, index, granted-int64(m.Overhead()), c.g.Settings.Counter)
	if !ok {
		cut = conversation.Cut{Message: index}
	}
	return cut, nil
}

// FixTail makes all of the tail what is sent whatever the window, so that the start stays, and what a smaller window shows before it beside
// the request and the opening: an earlier request that keeps its place, system messages, and important units.
func (c *Claims) FixTail(smaller *conversation.Window) {
	for i := range c.draft.Composed.Units[:c.draft.Composed.Tail] {
		if u := &c.draft.Composed.Units[i]; u.Summary == nil && u.First() == c.draft.Composed.Window.Request && c.draft.Asked.IsEarlier(u.First()) && !c.g.Kept.IsPinned(u.First()) {
			c.Fixed += c.draft.Composed.Weights[i]
		}
	}
	isShown := func(s compaction.Claim) bool {
		if _, cut := smaller.CutOf(s.First, 0); cut || compaction.HasClaim(c.Restored, s.First) {
			return false
		}
		c.Fixed += s.Whole
		return true
	}
	c.System, c.Verbatim = slices.DeleteFunc(c.System, isShown), slices.DeleteFunc(c.Verbatim, isShown)
	for i := range c.Units {
		if !c.Units[i].Claimed { // what is claimed is weighed already
			c.Fixed += c.Units[i].Tokens
		}
	}
	c.Units = nil
	for _, claim := range []**compaction.Claim{&c.Request, &c.Opening} {
		if *claim != nil && (*claim).First >= c.Start {
			*claim = nil
		}
	}
}

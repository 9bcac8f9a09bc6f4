// Package claims says what of a view has a claim on the budget, in what order (behaviour §4), and cuts what is granted less than it wants.
package claims

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/results"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Claims is what a build's view is made of, in the order of its claims on the budget (behaviour §4), with what is needed to cut it.
type Claims struct {
	compaction.FitInput
	Restorations []int64 // the edits of Restored

	g         *pass.Given
	draft     pass.Draft
	summaries []shownSummary
}

// shownSummary is a summary in words: the text, and how many bytes of it are not the list behind it.
type shownSummary struct {
	id   int64
	text string
	body int
}

// Describe describes a draft to the policy. over says that it exceeds its budget.
func Describe(g *pass.Given, draft pass.Draft, limit int64, over bool) (*Claims, error) {
	out := draft.Composed
	rest := max(0, limit-g.UncountedTokens(out))
	c := &Claims{g: g, draft: draft, FitInput: compaction.FitInput{
		Fixed: g.Fixed, Start: out.Window.Start, Limit: limit, Rest: rest, Target: g.Settings.Target * rest / max(1, g.Settings.Limit),
		Over: over || len(out.Window.Cuts) > 0,
	}}
	c.Newest.First = c.Start
	newest := out.Newest()
	for i := range out.Units[:newest+1] {
		switch u := &out.Units[i]; {
		case i == newest && i >= out.Tail:
			c.Newest = compaction.Claim{First: u.First(), Whole: out.Weights[i], Least: out.Weights[i]}
		case i < out.Tail:
			c.addKept(i)
		default:
			c.addTail(i)
		}
	}
	returns := c.addReturns()
	if err := c.addRequests(); err != nil {
		return nil, err
	}
	c.addRestored()
	c.addSystem()
	if err := c.addSummaries(); err != nil {
		return nil, err
	}
	c.addVerbatim()
	return c, c.minimizeNewest(newest, returns)
}

// OfRequests describes the request in force and the opening alone, for a window that starts where the draft's does.
func OfRequests(g *pass.Given, draft pass.Draft) (*Claims, error) {
	c := &Claims{g: g, draft: draft}
	c.Newest.First = draft.Composed.Window.Start
	return c, c.addRequests()
}

// BesideSummaries describes what a window shows again beside summaries: system messages, and units of high importance.
func BesideSummaries(g *pass.Given, draft pass.Draft) []compaction.Claim {
	c := &Claims{g: g, draft: draft}
	c.addSystem()
	c.addVerbatim()
	return slices.Concat(c.System, c.Verbatim)
}

// addKept adds a unit before the tail, unless it is weighed apart: the opening, the request, a summary, what was brought back, the system's.
func (c *Claims) addKept(i int) {
	u := &c.draft.Composed.Units[i]
	if u.Summary == nil && c.g.Kept.Has(u.First()) {
		c.Fixed += c.draft.Composed.Weights[i]
	}
}

// addTail adds a unit of the tail before the newest one.
func (c *Claims) addTail(i int) {
	p := c.draft.Composed.TailUnit(i)
	if c.g.Kept.IsPinned(p.First) {
		c.Fixed += p.Tokens
		p.Claimed = true
	}
	p.Claimed = p.Claimed || c.isProtected(p.First)
	c.Units = append(c.Units, p)
}

// addReturns adds what comes back to units where the window starts behind copies that they name. The newest unit counts as if it came to
// that: it returns what of its weight is that.
func (c *Claims) addReturns() (newest int64) {
	for _, r := range copies.Gains(c.draft.Composed, c.g.Kept, c.lapses) {
		if r.Unit >= c.Newest.First {
			newest += r.Tokens
		} else {
			c.Returns = append(c.Returns, r)
		}
	}
	c.Newest.Whole, c.Newest.Least = c.Newest.Whole+newest, c.Newest.Least+newest
	return newest
}

// addRequests adds the request in force and the opening, where the newest unit and pins do not show them.
func (c *Claims) addRequests() error {
	var err error
	if c.Request, err = c.requestClaim(c.draft.Asked.Request); err != nil {
		return err
	}
	if c.draft.Asked.Opening != c.draft.Asked.Request {
		c.Opening, err = c.requestClaim(c.draft.Asked.Opening)
	}
	return err
}

func (c *Claims) requestClaim(index int32) (*compaction.Claim, error) {
	if index < 0 || index >= c.Newest.First && c.Newest.Whole > 0 || c.g.Kept.IsPinned(index) {
		return nil, nil
	}
	m, err := c.g.Message(index)
	if err != nil {
		return nil, err
	}
	it, ok := c.draft.View.Beside(m)
	if !ok {
		return nil, nil
	}
	claim := &compaction.Claim{First: index, Whole: c.weightAt(index, it.Tokens())}
	claim.Least = claim.Whole
	if claim.Whole <= compaction.MinCutChars/4 { // as short as a cut
		return claim, nil
	}
	words, err := c.g.UserWords(c.draft.View, m)
	if err != nil {
		return nil, err
	}
	n, _ := c.g.Settings.Counter.Count(compaction.RenderCut(words, compaction.MinCut(words, index)))
	claim.Least = min(claim.Whole, int64(n)+int64(m.Overhead()))
	claim.Words = withoutMedia(&it)
	return claim, nil
}

// aroundWords is more than what stands between two texts of a message, or around all of them, weighs in tokens.
const aroundWords = 4

// withoutMedia is about what a message would weigh without its media; 0 if it has none.
func withoutMedia(it *conversation.Item) int64 {
	words, media := int64(it.Message.Overhead())+aroundWords, false
	for i := range it.Parts {
		if p := &it.Parts[i]; p.Kind == conversation.PartMedia {
			media = true
		} else {
			words += int64(p.Tokens) + aroundWords
		}
	}
	if !media {
		return 0
	}
	return words
}

// weightAt is what a message weighs as it is written, if the composition shows it whole as a unit of its own.
func (c *Claims) weightAt(index int32, otherwise int64) int64 {
	if _, cut := c.draft.Composed.Window.CutOf(index, 0); cut {
		return otherwise
	}
	for i := range c.draft.Composed.Units {
		if u := &c.draft.Composed.Units[i]; u.Summary == nil && u.First() == index {
			return c.draft.Composed.Weights[i]
		}
	}
	return otherwise
}

// isProtected says whether a unit was brought back recently enough to stay in view wherever the window starts.
func (c *Claims) isProtected(index int32) bool {
	return c.g.IsProtected(c.draft.View, &c.draft.Composed.Window, index)
}

// lapses says whether a message before the window is shown because it was brought back, and no longer once the window's start moves.
func (c *Claims) lapses(index int32) bool {
	edit, _, ok := c.draft.View.Restored(index)
	return ok && edit > c.draft.Composed.Window.Restored && !c.isProtected(index)
}

// addRestored adds what was brought back lately, the latest first.
func (c *Claims) addRestored() {
	type restoration struct {
		compaction.Claim
		edit int64
	}
	var all []restoration
	for i := range c.draft.Composed.Units[:c.draft.Composed.Newest()] {
		u := &c.draft.Composed.Units[i]
		if u.Summary != nil || c.g.Kept.Has(u.First()) || !c.isProtected(u.First()) {
			continue
		}
		edit, _, _ := c.draft.View.Restored(u.First())
		all = append(all, restoration{compaction.Claim{First: u.First(), Whole: c.draft.Composed.Weights[i], Least: c.draft.Composed.Weights[i]}, edit})
	}
	slices.SortStableFunc(all, func(a, b restoration) int { return cmp.Compare(b.edit, a.edit) })
	for _, r := range all {
		c.Restored, c.Restorations = append(c.Restored, r.Claim), append(c.Restorations, r.edit)
	}
}

// aroundSummary is about what stands around a summary's text, in tokens, where it is not in view.
const aroundSummary = 40

// addSummaries adds the summaries that stand in the window, whether they are shown now or not.
func (c *Claims) addSummaries() error {
	for _, e := range c.draft.View.In(c.draft.Composed.Window).Summaries() {
		s := shownSummary{id: e.Summary.ID}
		claim := compaction.SummaryClaim{Around: aroundSummary, Text: int64(e.Summary.Tokens)}
		for i := range c.draft.Composed.Units[:c.draft.Composed.Tail] {
			if u := &c.draft.Composed.Units[i]; u.Summary != nil && u.Summary.Summary.ID == s.id {
				if _, cut := c.draft.Composed.Window.CutOf(0, s.id); !cut {
					claim.Around = c.draft.Composed.Weights[i] - claim.Text
				}
			}
		}
		if c.Over {
			var err error
			if s, err = c.summaryText(e.Summary); err != nil {
				if err := view.IgnoreMissing(err); err != nil {
					return err
				}
				continue
			}
			n, _ := c.g.Settings.Counter.Count(s.text[:s.body])
			claim.Text, claim.List = int64(n), max(0, claim.Text-int64(n))
		}
		c.Summaries, c.summaries = append(c.Summaries, claim), append(c.summaries, s)
	}
	return c.g.Loaded.Extras.Incomplete()
}

// summaryText reads a summary. Without what is stored beside it, none of it is known to be the list.
func (c *Claims) summaryText(s *conversation.Summary) (shownSummary, error) {
	contents, err := c.g.Loaded.Extras.Texts(s.Text)
	if err != nil {
		return shownSummary{}, err
	}
	out := shownSummary{id: s.ID, text: contents[0], body: len(contents[0])}
	k, err := c.g.Loaded.Extras.Facts(s)
	if k.Body > 0 {
		out.body = min(k.Body, out.body)
	}
	return out, err
}

// minimizeNewest says what the newest unit weighs with its results at their shortest, if its results may have to give.
func (c *Claims) minimizeNewest(newest int, returns int64) error {
	asked := int64(0)
	for _, claim := range []*compaction.Claim{c.Request, c.Opening} {
		if claim != nil {
			asked += claim.Whole
		}
	}
	if newest < c.draft.Composed.Tail || c.Fixed+c.Newest.Whole+asked <= c.Limit {
		return nil
	}
	c.Newest.Least -= returns // what is at its shortest names nothing
	for _, t := range results.Of(c.draft.Composed.Units[newest : newest+1]) {
		n, err := c.minimumWeight(t)
		if err := view.IgnoreMissing(err); err != nil {
			return err
		}
		c.Newest.Least -= max(0, t.Weight-n)
	}
	return c.g.Loaded.Extras.Incomplete()
}

// minimumWeight is what a tool result weighs at its shortest.
func (c *Claims) minimumWeight(t results.Target) (int64, error) {
	e, err := results.ClipMessage(c.g, c.draft.Erased, []results.Target{t}, conversation.ReasonNewestUnitOverBudget)
	if err != nil || len(e.Parts) == 0 {
		return t.Weight, err
	}
	return e.After, nil
}

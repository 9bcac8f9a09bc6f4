package plan

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
)

// Claims is what a build's view is made of, in the order of its claims on the budget (behaviour §4), with what is needed to cut it.
type Claims struct {
	compaction.FitInput
	restorations []int64 // the edits of Restored
	summaries    []shownSummary
}

// shownSummary is a summary in words: the text, and how many bytes of it are not the list behind it.
type shownSummary struct {
	id   int64
	text string
	body int
}

// DescribeClaims describes the composition to the policy. over says that it exceeds its budget.
func (d *Attempt) DescribeClaims(limit int64, over bool) (*Claims, error) {
	rest := max(0, limit-d.reporting().uncountedTokens())
	c := &Claims{FitInput: compaction.FitInput{
		Fixed: d.Fixed, Start: d.Composed.Window.Start, Limit: limit, Rest: rest, Target: d.Settings.Target * rest / max(1, d.Settings.Limit),
		Over: over || len(d.Composed.Window.Cuts) > 0,
	}}
	c.Newest.First = c.Start
	newest := d.Composed.Newest()
	for i := range d.Composed.Units[:newest+1] {
		switch u := &d.Composed.Units[i]; {
		case i == newest && i >= d.Composed.Tail:
			c.Newest = compaction.Claim{First: u.First(), Whole: d.Composed.Weights[i], Least: d.Composed.Weights[i]}
		case i < d.Composed.Tail:
			d.fitting().addKept(c, i)
		default:
			d.fitting().addTail(c, i)
		}
	}
	returns := d.fitting().addReturns(c)
	if err := d.fitting().addRequests(c); err != nil {
		return nil, err
	}
	d.fitting().addRestored(c)
	d.fitting().addSystem(c)
	if err := d.fitting().addSummaries(c); err != nil {
		return nil, err
	}
	d.fitting().addVerbatim(c)
	return c, d.fitting().minimizeNewest(c, newest, returns)
}

// addKept adds a unit before the tail, unless it is weighed apart: the opening, the request, a summary, what was brought back, the system's.
func (d fitting) addKept(c *Claims, i int) {
	u := &d.Composed.Units[i]
	if u.Summary == nil && d.Kept.Has(u.First()) {
		c.Fixed += d.Composed.Weights[i]
	}
}

// addSystem adds the system messages that are shown again beside a summary, newest first, whether they are shown now or not.
func (d fitting) addSystem(c *Claims) {
	view := d.View.In(d.Composed.Window)
	for i := range d.Loaded.Messages {
		m := &d.Loaded.Messages[i]
		if m.Role != conversation.RoleSystem || m.Index >= d.Composed.Window.Start || d.Kept.Has(m.Index) || !view.ShownAgain(m) {
			continue
		}
		if it, ok := view.Item(m); ok {
			n := d.weightAt(m.Index, it.Tokens())
			c.System = append([]compaction.Claim{{First: m.Index, Whole: n, Least: n}}, c.System...)
		}
	}
}

// addVerbatim adds the units of high importance that stand beside a summary, newest first, whether they are shown now or not. The request and
// the opening have claims of their own.
func (d fitting) addVerbatim(c *Claims) {
	view := d.View.In(d.Composed.Window)
	for _, r := range view.Verbatim() {
		if r.First >= d.Composed.Window.Start || d.Kept.IsPinned(r.First) || c.Request.Is(r.First) || c.Opening.Is(r.First) {
			continue
		}
		n := int64(0)
		for i := range d.Loaded.Messages {
			if m := &d.Loaded.Messages[i]; r.Contains(m.Index) {
				if it, ok := view.Item(m); ok {
					n += it.Tokens()
				}
			}
		}
		if n > 0 {
			n = d.weightAt(r.First, n)
			c.Verbatim = append(c.Verbatim, compaction.Claim{First: r.First, Whole: n, Least: n})
		}
	}
	slices.SortFunc(c.Verbatim, func(a, b compaction.Claim) int { return int(b.First) - int(a.First) })
}

// addTail adds a unit of the tail before the newest one.
func (d fitting) addTail(c *Claims, i int) {
	p := d.Composed.TailUnit(i)
	if d.Kept.IsPinned(p.First) {
		c.Fixed += p.Tokens
		p.Claimed = true
	}
	p.Claimed = p.Claimed || d.isProtected(p.First)
	c.Units = append(c.Units, p)
}

// addReturns adds what comes back to units where the window starts behind copies that they name. The newest unit counts as if it came to
// that: it returns what of its weight is that.
func (d fitting) addReturns(c *Claims) (newest int64) {
	for _, r := range copies.Gains(d.Composed, d.Kept, d.lapses) {
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
func (d fitting) addRequests(c *Claims) error {
	var err error
	if c.Request, err = d.requestClaim(c, d.request); err != nil {
		return err
	}
	if d.opening != d.request {
		c.Opening, err = d.requestClaim(c, d.opening)
	}
	return err
}

func (d fitting) requestClaim(c *Claims, index int32) (*compaction.Claim, error) {
	if index < 0 || index >= c.Newest.First && c.Newest.Whole > 0 || d.Kept.IsPinned(index) {
		return nil, nil
	}
	m, err := d.message(index)
	if err != nil {
		return nil, err
	}
	it, ok := d.View.Beside(m)
	if !ok {
		return nil, nil
	}
	claim := &compaction.Claim{First: index, Whole: d.weightAt(index, it.Tokens())}
	claim.Least = claim.Whole
	if claim.Whole <= compaction.MinCutChars/4 { // as short as a cut
		return claim, nil
	}
	words, err := d.userWords(m)
	if err != nil {
		return nil, err
	}
	n, _ := d.Settings.Counter.Count(compaction.RenderCut(words, compaction.MinCut(words, index)))
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
func (d fitting) weightAt(index int32, otherwise int64) int64 {
	if _, cut := d.Composed.Window.CutOf(index, 0); cut {
		return otherwise
	}
	for i := range d.Composed.Units {
		if u := &d.Composed.Units[i]; u.Summary == nil && u.First() == index {
			return d.Composed.Weights[i]
		}
	}
	return otherwise
}

// addRestored adds what was brought back lately, the latest first.
func (d fitting) addRestored(c *Claims) {
	type restoration struct {
		compaction.Claim
		edit int64
	}
	var all []restoration
	for i := range d.Composed.Units[:d.Composed.Newest()] {
		u := &d.Composed.Units[i]
		if u.Summary != nil || d.Kept.Has(u.First()) || !d.isProtected(u.First()) {
			continue
		}
		edit, _, _ := d.View.Restored(u.First())
		all = append(all, restoration{compaction.Claim{First: u.First(), Whole: d.Composed.Weights[i], Least: d.Composed.Weights[i]}, edit})
	}
	slices.SortStableFunc(all, func(a, b restoration) int { return cmp.Compare(b.edit, a.edit) })
	for _, r := range all {
		c.Restored, c.restorations = append(c.Restored, r.Claim), append(c.restorations, r.edit)
	}
}

// aroundSummary is about what stands around a summary's text, in tokens, where it is not in view.
const aroundSummary = 40

// addSummaries adds the summaries that stand in the window, whether they are shown now or not.
func (d fitting) addSummaries(c *Claims) error {
	for _, e := range d.View.In(d.Composed.Window).Summaries() {
		s := shownSummary{id: e.Summary.ID}
		claim := compaction.SummaryClaim{Around: aroundSummary, Text: int64(e.Summary.Tokens)}
		for i := range d.Composed.Units[:d.Composed.Tail] {
			if u := &d.Composed.Units[i]; u.Summary != nil && u.Summary.Summary.ID == s.id {
				if _, cut := d.Composed.Window.CutOf(0, s.id); !cut {
					claim.Around = d.Composed.Weights[i] - claim.Text
				}
			}
		}
		if c.Over {
			var err error
			if s, err = d.summaryText(e.Summary); err != nil {
				if err := d.Loaded.IgnoreMissing(err); err != nil {
					return err
				}
				continue
			}
			n, _ := d.Settings.Counter.Count(s.text[:s.body])
			claim.Text, claim.List = int64(n), max(0, claim.Text-int64(n))
		}
		c.Summaries, c.summaries = append(c.Summaries, claim), append(c.summaries, s)
	}
	return d.Loaded.Incomplete()
}

// summaryText reads a summary. Without what is stored beside it, none of it is known to be the list.
func (d fitting) summaryText(s *conversation.Summary) (shownSummary, error) {
	contents, err := d.Loaded.Texts(s.Text)
	if err != nil {
		return shownSummary{}, err
	}
	out := shownSummary{id: s.ID, text: contents[0], body: len(contents[0])}
	k, err := d.Loaded.Facts(s)
	if k.Body > 0 {
		out.body = min(k.Body, out.body)
	}
	return out, err
}

// minimizeNewest says what the newest unit weighs with its results at their shortest, if its results may have to give.
func (d fitting) minimizeNewest(c *Claims, newest int, returns int64) error {
	asked := int64(0)
	for _, claim := range []*compaction.Claim{c.Request, c.Opening} {
		if claim != nil {
			asked += claim.Whole
		}
	}
	if newest < d.Composed.Tail || c.Fixed+c.Newest.Whole+asked <= c.Limit {
		return nil
	}
	c.Newest.Least -= returns // what is at its shortest names nothing
	for _, t := range d.results(d.Composed.Units[newest : newest+1]) {
		n, err := d.minimumWeight(t)
		if err := d.Loaded.IgnoreMissing(err); err != nil {
			return err
		}
		c.Newest.Least -= max(0, t.weight-n)
	}
	return d.Loaded.Incomplete()
}

// minimumWeight is what a tool result weighs at its shortest.
func (d fitting) minimumWeight(t clipTarget) (int64, error) {
	e, err := d.clipMessage([]clipTarget{t}, conversation.ReasonNewestUnitOverBudget)
	if err != nil || len(e.Parts) == 0 {
		return t.weight, err
	}
	return e.After, nil
}

// fixTail makes all of the tail what is sent whatever the window, so that the start stays, and what a smaller window shows before it beside
// the request and the opening: an earlier request that keeps its place, system messages, and important units.
func (d fitting) fixTail(c *Claims, smaller *conversation.Window) {
	for i := range d.Composed.Units[:d.Composed.Tail] {
		if u := &d.Composed.Units[i]; u.Summary == nil && u.First() == d.Composed.Window.Request && d.windowing().isEarlierRequest(u.First()) && !d.Kept.IsPinned(u.First()) {
			c.Fixed += d.Composed.Weights[i]
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

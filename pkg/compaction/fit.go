package compaction

import "slices"

// TailUnit is a unit as Fit sees it.
type TailUnit struct {
	First    int32
	Messages int32 // number of messages in the unit
	Tokens   int64
	// Claimed is set if the unit is shown wherever the window starts, and weighed separately.
	Claimed bool
	// User is set if the unit is a user message.
	User bool
}

// Claim is something that is shown before the rest of a view: whole if it fits its grant, or else cut down to it. For what cannot be cut,
// Least equals Whole. A cut shows only words, so it never takes more than Words, if that is not 0.
type Claim struct {
	First               int32 // its first message
	Whole, Least, Words int64
}

// Is reports whether the claim is for the unit that begins with a message. It is false for a nil claim.
func (c *Claim) Is(first int32) bool { return c != nil && c.First == first }

// SummaryClaim is a summary: its text, the list after it, and the frame around both.
type SummaryClaim struct {
	Around, Text, List int64
}

// SummaryGrant is what a summary may weigh. If Stands is false, the summary is dropped with its frame; one that stands may have a Text of
// 0.
type SummaryGrant struct {
	Text, List int64
	Stands     bool
}

// FitInput is the input of Fit. Tokens and limits are before the factor. Claims are in the order of behaviour §4.
type FitInput struct {
	Fixed    int64 // (1) what is sent in any window: fixed input, leading system messages, pinned units
	Newest   Claim // (2) the newest unit: Least is its words and calls, with its results at their shortest
	Request  *Claim
	Opening  *Claim
	Restored []Claim // units that were brought back and are still protected, newest first
	// System are system messages that are shown again beside a summary, newest first, including those that were brought back.
	System    []Claim
	Summaries []SummaryClaim
	// Verbatim are units of high importance beside a summary, newest first, including those that were brought back.
	Verbatim []Claim
	Units    []TailUnit // the rest: units of the tail before the newest one, oldest first
	Returns  []Return   // what units gain if the window starts behind something they need

	Start  int32 // start of the window in force
	Limit  int64 // the budget
	Rest   int64 // limit up to which the rest may fill it: the budget, or less
	Target int64 // where a cut aims
	// Over is set if the view exceeds its budget, so that shares apply. Otherwise everything but the rest is shown in full.
	Over bool
}

// FitResult is what a window may show. Fits is false if claims (1) and (2) alone exceed the limit.
type FitResult struct {
	Start            int32
	Request, Opening int64 // granted
	Newest           int64 // what the newest unit may weigh
	Restored         int   // how many of the restored units stay
	System           int   // how many of the system messages stay
	Summaries        []SummaryGrant
	Verbatim         int // how many of the important units stay
	Fits             bool
}

// Fit grants the claims on a budget in their order, and chooses where the window starts (behaviour §4, §8). The start moves forward by
// whole units until the context weighs about the target, because rare deep cuts cost less than frequent shallow ones. The newest unit
// always stays. The work is linear in the number of pieces.
func Fit(in FitInput) FitResult {
	g := &budgetGrants{in: &in, room: in.Limit - in.Fixed - in.Newest.Least}
	r := FitResult{Fits: g.room >= 0}
	g.room = max(g.room, 0)
	r.Request = g.share(in.Request, RequestShare)
	r.Opening = g.share(in.Opening, OpeningShare)
	r.Newest = in.Newest.Least + g.take(min(in.Newest.Whole-in.Newest.Least, g.room))
	r.Restored = g.restored(&r)
	r.System = g.beside(in.System, in.Restored[:r.Restored])
	r.Summaries = g.summaries()
	r.Verbatim = g.beside(in.Verbatim, in.Restored[:r.Restored])
	r.Start = in.start(&r, in.Limit-g.room)
	return r
}

// budgetGrants tracks how much of the budget is left while claims are granted.
type budgetGrants struct {
	in   *FitInput
	room int64
}

func (g *budgetGrants) take(n int64) int64 {
	g.room -= n
	return n
}

// share grants a claim up to its share of the budget or what is left of it; nothing if it cannot be cut to that.
func (g *budgetGrants) share(c *Claim, divisor int64) int64 {
	if c == nil {
		return 0
	}
	most := g.room
	if g.in.Over {
		most = min(most, max(g.in.Limit/divisor, c.Least))
	}
	switch {
	case c.Whole <= most:
		return g.take(c.Whole)
	case c.Least <= most:
		if c.Words > 0 {
			most = min(most, max(c.Words, c.Least))
		}
		return g.take(most)
	default:
		return 0
	}
}

// restored grants the units that were brought back, the latest first. One that does not fit is dropped with all older ones. The request and
// the opening are shown whole once they were brought back.
func (g *budgetGrants) restored(r *FitResult) int {
	for i, c := range g.in.Restored {
		had, need := r.granted(g.in, c.First), c.Whole
		if had != nil {
			need -= *had
		}
		if need > g.room {
			return i
		}
		if g.take(need); had != nil {
			*had = c.Whole
		}
	}
	return len(g.in.Restored)
}

// granted returns the grant of the request or the opening if the message is one of them, or nil.
func (r *FitResult) granted(in *FitInput, first int32) *int64 {
	switch {
	case in.Request.Is(first):
		return &r.Request
	case in.Opening.Is(first):
		return &r.Opening
	default:
		return nil
	}
}

// HasClaim reports whether there is a claim for the unit that begins with a message.
func HasClaim(claims []Claim, first int32) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return c.First == first })
}

// beside grants what is shown again beside a summary, newest first: system messages, or important units. Those that were brought back are
// already granted.
func (g *budgetGrants) beside(claims, restored []Claim) int {
	room := g.room
	if g.in.Over {
		room = min(room, g.in.Limit/besideShare)
	}
	for i, c := range claims {
		if HasClaim(restored, c.First) {
			continue
		}
		if room -= c.Whole; room < 0 {
			return i
		}
		g.take(c.Whole)
	}
	return len(claims)
}

// summaries grants summaries: all texts share one part of the budget, and all lists another. If less is left, texts shrink first. The
// oldest are dropped if not even their frames fit.
func (g *budgetGrants) summaries() []SummaryGrant {
	out := make([]SummaryGrant, len(g.in.Summaries))
	around, from := int64(0), len(out)
	for ; from > 0; from-- {
		n := g.in.Summaries[from-1].Around
		if around+n > g.room {
			break
		}
		around += n
	}
	texts, lists := make([]int64, 0, len(out)), make([]int64, 0, len(out))
	for _, s := range g.in.Summaries[from:] {
		texts, lists = append(texts, s.Text), append(lists, s.List)
	}
	share := g.room
	if g.in.Over {
		share = g.in.Limit / summaryShare
	}
	left := g.room - around
	lists = Allowances(lists, min(share, left))
	texts = Allowances(texts, min(share, left-sum(lists)))
	for i := range texts {
		out[from+i] = SummaryGrant{Text: texts[i], List: lists[i], Stands: true}
	}
	g.take(around + sum(texts) + sum(lists))
	return out
}

func sum(list []int64) int64 {
	n := int64(0)
	for _, v := range list {
		n += v
	}
	return n
}

// start returns the first message of the window: of the first piece that brings the context down to the target and the piece before it, the
// one nearer to the target. It never moves back, nor past the newest unit. If shares bind, what precedes the tail changes anyway, so the
// start stays only if the target is met.
func (in *FitInput) start(r *FitResult, granted int64) int32 {
	totals, from := in.totals(r, granted), 0
	for from < len(in.Units) && in.Units[from].First < in.Start {
		from++
	}
	target := min(max(in.Target, granted+in.Limit/tailShare), in.Rest)
	if totals[from] <= target || !in.Over && totals[from] <= in.Rest {
		return in.Start
	}
	at := from + 1
	for at < len(in.Units) && totals[at] > target {
		at++
	}
	if at-1 > from && at < len(totals) && totals[at-1] <= in.Rest && totals[at-1]-target < target-totals[at] {
		at--
	}
	if at < len(in.Units) {
		return in.Units[at].First
	}
	return max(in.Start, in.Newest.First)
}

// totals returns the weight of a context for each piece it may start at; the last is that of the newest unit alone. What has a claim counts
// as granted before the start, and whole after it.
func (in *FitInput) totals(r *FitResult, granted int64) []int64 {
	gaveWay := make(map[int32]bool)
	for _, c := range in.Restored[r.Restored:] {
		gaveWay[c.First] = true
	}
	out := make([]int64, len(in.Units)+1)
	out[len(in.Units)] = granted
	for i := len(in.Units) - 1; i >= 0; i-- {
		p := &in.Units[i]
		out[i] = out[i+1]
		if has := r.granted(in, p.First); has != nil {
			out[i] += p.Tokens - *has
		} else if !p.Claimed || gaveWay[p.First] {
			out[i] += p.Tokens
		}
	}
	for i, n := range returned(in.Units, in.Returns) {
		out[i] += n
	}
	return out
}

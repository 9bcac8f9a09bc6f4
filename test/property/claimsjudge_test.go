package property

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// claims judges one context.
type claims struct {
	*stage
	sight  *sight
	budget int
	before *sight // the last at this budget
}

// frame is more than a format writes around a message, in tokens.
const frame = 24

func (c *claims) judge() {
	c.newest()
	req := c.request()
	c.opening(req)
	c.unforced()
	c.stands()
	c.order()
	c.summaries()
}

// rightly demands that a refusal is right: nothing is refused that the least of claims (1) and (2) leaves room for.
func (s *stage) rightly(err error, budget int32) {
	switch kind := conversation.KindOf(err); kind {
	case conversation.ContextCannotFit:
		if n := s.least(); n <= int(budget) {
			s.t.Fatalf("refused (%v), but %d tokens fit %d", err, n, budget)
		}
	case conversation.EmptyContext:
		if h := s.history(); !h.SystemOnly() && s.least() <= int(budget) {
			s.t.Fatalf("refused (%v), but there is something to show", err)
		}
	default:
		s.t.Fatalf("not a documented refusal: %v", err)
	}
}

// least is what is sent whatever the window, and the newest unit with its results at their shortest; rather more than less.
func (s *stage) least() int {
	n := bone(s.history()) + int(s.fixed)
	for _, e := range s.visible() {
		if e.pinned {
			n += s.weight(e) + frame
		}
		if e.leading {
			n += frame
		}
	}
	return n
}

// newest demands the newest unit: words and calls whole, results whole or head and tail.
func (c *claims) newest() {
	h := c.history().Newest()
	visible := c.visible()
	unit := visible[len(visible)-len(h):]
	for _, e := range unit {
		if e.message.Role != conversation.RoleTool {
			if !c.sight.whole(e) {
				c.t.Fatalf("message %d, of the newest unit, is shown as %s", e.index, flatAll(c.sight.parts(e)))
			}
			continue
		}
		for i := range e.message.Parts {
			c.result(e, &e.message.Parts[i])
		}
	}
	c.clippedInNeed(unit)
}

// result demands that a result of the newest unit is shown whole, or head and tail. One that was pruned stays so when a rewind makes its
// unit the newest again.
func (c *claims) result(e *entry, p *conversation.Part) {
	whole := blockText(p)
	for _, o := range c.sight.parts(e) {
		if o.Kind != conversation.PartToolResult {
			continue
		}
		if head, tail := ends(blockText(&o), whole); blockText(&o) == whole || head >= 20 && tail >= 10 && len(blockText(&o)) >= 190 {
			return
		}
		if c.sight.moves > 0 && strings.HasPrefix(blockText(&o), "[Old tool result content cleared.") {
			return
		}
	}
	for _, o := range c.sight.late[e.index] {
		if text := o.Text.Inline; strings.Contains(text, whole) || strings.Contains(text, "Clipped") && strings.HasSuffix(text, whole[max(0, len(whole)-10):]) {
			return
		}
	}
	c.t.Fatalf("a result in message %d, of the newest unit, is not shown: %s", e.index, flatAll(c.sight.parts(e)))
}

// ends says how much a shortened text has in common with the whole at both ends.
func ends(shown, whole string) (head, tail int) {
	most := min(len(shown), len(whole))
	for head < most && shown[head] == whole[head] {
		head++
	}
	for tail < most && shown[len(shown)-1-tail] == whole[len(whole)-1-tail] {
		tail++
	}
	return head, tail
}

// clippedInNeed demands that this build clipped the newest unit's results for stronger claims alone, and no further than these need.
func (c *claims) clippedInNeed(unit []*entry) {
	clips := func(e conversation.Edit) bool { return e.Reason == conversation.ReasonNewestUnitOverBudget }
	if !slices.ContainsFunc(c.sight.edits, clips) {
		return
	}
	need, takes := int(c.fixed), int(c.fixed)
	for _, e := range c.visible() {
		switch {
		case slices.Contains(unit, e):
			need += c.enters(e) + 2*frame + 16*len(e.message.Parts) // calls that wait have a placeholder
			takes += c.shownWeight(e)
		case e.leading || e.pinned:
			need += c.weight(e) + frame
			takes += c.shownWeight(e)
		case e == c.asked() || e == c.first():
			need += min(c.weight(e), c.share(e)+100) + frame
			takes += c.shownWeight(e)
		}
	}
	if need < c.budget {
		c.t.Fatalf("the newest unit's results are clipped, and %d tokens are all that is claimed of %d", need, c.budget)
	}
	if rest := c.budget - takes; rest > c.budget/10+150 && !c.atBone(unit) {
		c.t.Fatalf("the newest unit's results are clipped, and %d of %d tokens are left for weaker claims", rest, c.budget)
	}
}

// shared is the most that a message of results may weigh once each of them is clipped to its share, unless it was brought back.
func (c *claims) shared(e *entry) int {
	if e.restored >= 0 || e.message.Role != conversation.RoleTool {
		return c.weight(e)
	}
	return 4 + len(e.message.Parts)*(int(c.own)/4+frame)
}

// enters is what a message weighs when it first enters a view. One that a rewind has made the newest again, and that no view has shown, is
// not new: no share clips it.
func (c *claims) enters(e *entry) int {
	if c.before != nil && e.index < c.before.build.count && c.before.parts(e) == nil {
		return c.weight(e)
	}
	return min(c.weight(e), c.shared(e))
}

// atBone says whether no result of a unit is shown longer than it must be.
func (c *claims) atBone(unit []*entry) bool {
	for _, e := range unit {
		for _, p := range c.sight.parts(e) {
			if p.Kind == conversation.PartToolResult && len(blockText(&p)) > 260 {
				return false
			}
		}
	}
	return true
}

// shownWeight is what a context shows of a message, in tokens.
func (c *claims) shownWeight(e *entry) int {
	n := 0
	for _, p := range slices.Concat(c.sight.parts(e), c.sight.late[e.index]) {
		n += tokensOf(&p)
	}
	return n + 4
}

// asked is the request in force, first the opening; nil for none.
func (c *claims) asked() *entry {
	if own := c.sight.own(); len(own) > 0 {
		return own[len(own)-1]
	}
	return nil
}

func (c *claims) first() *entry {
	own := c.sight.own()
	if len(own) == 0 || c.policy.Fit.KeepOpening != nil && !*c.policy.Fit.KeepOpening {
		return nil
	}
	return own[0]
}

// share is what the request or the opening may weigh at most where the context is over its budget.
func (c *claims) share(e *entry) int {
	if e == c.asked() {
		return c.budget / 2
	}
	return c.budget / 10
}

// request holds the request in force to its claim, and returns what it may weigh.
func (c *claims) request() int {
	e := c.asked()
	if e == nil {
		return 0
	}
	c.claimed(e, c.budget-c.least())
	return min(c.weight(e)+frame, c.budget/2)
}

func (c *claims) opening(request int) {
	if e := c.first(); e != nil && e != c.asked() {
		c.claimed(e, c.budget-c.least()-request)
	}
}

// claimed holds one of the two to its share: whole if it weighs no more, or head and tail, as long as the share and the room are, or, with
// not even room for 200 characters, a decision. What was cut before stands as it is.
func (c *claims) claimed(e *entry, room int) {
	if c.sight.whole(e) || c.stood(e) {
		return
	}
	weight, share := c.weight(e)+frame, c.share(e)
	if weight <= share && weight <= room {
		c.t.Fatalf("message %d weighs %d of a share of %d, beside which %d are left, and is shown as %q", e.index, weight, share, room, brief(c.words(e)))
	}
	if c.sight.parts(e) == nil {
		if room >= leastCut {
			c.t.Fatalf("message %d, of the user's, is left out, and has room for %d tokens", e.index, room)
		}
		c.noRoom(e)
		return
	}
	head, tail := ends(c.words(e), ownText(e))
	if n := len(ownText(e)); head+tail < min(200, n) || n > 200 && tail < 50 {
		c.t.Fatalf("message %d shows %d characters of its head and %d of its tail: %q", e.index, head, tail, brief(c.words(e)))
	}
	if least := min(share, room)*4/5 - 60; c.shownWeight(e) < least {
		c.t.Fatalf("message %d weighs %d where it has %d of a share of %d", e.index, c.shownWeight(e), room, share)
	}
}

// leastCut is more than 200 characters of a message weigh with what is said of the rest, in tokens.
const leastCut = 140

// words are what a context shows of a message's texts.
func (c *claims) words(e *entry) string { return textOf(c.sight.parts(e)) }

func ownText(e *entry) string { return textOf(e.message.Parts) }

// textOf joins the texts that no plugin added.
func textOf(parts []conversation.Part) string {
	var out []string
	for i := range parts {
		if parts[i].Kind == conversation.PartText && parts[i].Plugin == "" {
			out = append(out, parts[i].Text.Inline)
		}
	}
	return strings.Join(out, "\n")
}

func brief(text string) string {
	if len(text) > 500 {
		return text[:250] + " (...) " + text[len(text)-250:]
	}
	return text
}

// noRoom demands the decision that says that a message has no room.
func (c *claims) noRoom(e *entry) {
	if !slices.ContainsFunc(c.sight.build.Decisions, func(d conversation.Decision) bool {
		return d.Kind == conversation.DecisionLeftOut && d.Reason == conversation.ReasonNoRoom && d.First <= e.index && e.index <= d.Last
	}) {
		c.t.Fatalf("message %d is left out, and nothing says that it has no room: %+v", e.index, c.sight.build.Decisions)
	}
}

// stood says whether a message is shown as the last build at this budget showed it, from the same start.
func (c *claims) stood(e *entry) bool {
	if c.before == nil || c.before.build.Manifest.Window.Start != c.sight.build.Manifest.Window.Start || e.index >= c.before.build.count {
		return false
	}
	return textOf(c.before.parts(e)) == c.words(e)
}

package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// compacting is how a view that outgrows its budget becomes smaller (behaviour §8). Tokens are before the factor.
type compacting struct {
	conversation.CompactionPolicy
	strategy  conversation.Strategy
	threshold int32 // messages since the last summary; 0 for no such limit
	prepare   int64 // used tokens, after the factor, from which on a summary is prepared
	keep      int32
	tail      int64
	target    int64
	shrink    int64 // percent
	fanOut    int
	summary   int64 // what a summary may weigh, without the list beside it
	losses    int64 // what the list may weigh
	system    int64 // what system messages that are shown again may weigh
	chunk     int64 // what a leaf of the hierarchy stands for
}

// What summaries and what stands beside them may take, as parts of the budget.
const (
	summaryPart = 10
	lossesPart  = 8
	systemPart  = 10
	leafPart    = 4

	maxLosses = 2500 // tokens
	minLeaf   = 1000 // tokens
)

func (s *settings) compacting(p conversation.CompactionPolicy) compacting {
	of := func(share *int32, otherwise int64) int64 { return s.limit * percent(share, otherwise) / 100 }
	c := compacting{
		CompactionPolicy: p, strategy: p.Strategy,
		threshold: int32(first(0, p.ThresholdMessages)),
		prepare:   s.budget * percent(p.PreparePercent, conversation.DefaultPreparePercent) / 100,
		keep:      int32(first(conversation.DefaultKeepRecent, p.KeepRecent)),
		tail:      of(p.TailPercent, conversation.DefaultTailPercent),
		target:    of(p.TargetPercent, conversation.DefaultCompactPercent),
		shrink:    percent(p.MinShrinkPercent, conversation.DefaultMinShrinkPercent),
		fanOut:    int(first(conversation.DefaultFanOut, p.FanOut)),
		summary:   min(first(conversation.DefaultSummaryTokens, p.SummaryTokens), s.limit/summaryPart),
		losses:    min(maxLosses, s.limit/lossesPart),
		system:    s.limit / systemPart,
		chunk:     max(minLeaf, s.limit/leafPart),
	}
	if c.strategy == conversation.StrategyUnspecified {
		c.strategy = conversation.StrategySummarize
	}
	if c.strategy == conversation.StrategyHierarchical { // several stand beside each other
		c.summary, c.losses = c.summary/int64(c.fanOut), c.losses/int64(c.fanOut)
	}
	return c
}

// leastSummary is the room that is set aside for a summary at least, with the list beside it, in tokens.
const leastSummary = 500

// within bounds a summary and the list beside it.
func (c *compacting) within(room int64) {
	if room = max(room, leastSummary); c.summary+c.losses > room {
		c.losses = min(c.losses, room/2)
		c.summary = min(c.summary, room-c.losses)
	}
}

// ownBudget says whether a budget is the conversation's own: that of the window that its policy, or the server's, sets, or else the
// largest of those that are remembered. Builds for smaller ones fit for themselves: a summary would take from the others what has
// room there.
func (e *Engine) ownBudget(w *view.Loaded, tokens int64, profile conversation.ModelProfile) (bool, error) {
	if w.Info.Policy.Or(e.defaults).Fit.ContextWindowTokens != nil {
		return tokens >= budget(BudgetOverride{}, profile, w.Info.Policy.Fit, e.defaults.Fit).Tokens(), nil
	}
	known, err := w.BudgetWindows()
	if err != nil {
		return false, err
	}
	for _, f := range known {
		if f.Budget > tokens {
			return false, nil
		}
	}
	return true, nil
}

// summarizes says whether this build may make summaries.
func (d *deciding) summarizes() bool {
	return d.settings.own && d.settings.compact.strategy != conversation.StrategySlidingWindow
}

// trigger says why the view is to become smaller; unspecified if it is not.
func (d *deciding) trigger() conversation.Reason {
	c := &d.settings.compact
	used, _ := d.used()
	switch {
	case scaled(d.fixed+d.out.Tokens(), d.settings.factor) > d.settings.budget:
		return conversation.ReasonOverflow
	case used > d.settings.budget && !d.reportSpent():
		d.spent = true
		return conversation.ReasonOverflow
	case c.threshold > 0 && d.sinceSummary() > c.threshold:
		return conversation.ReasonMessageThreshold
	default:
		return conversation.ReasonUnspecified
	}
}

// sinceSummary counts the messages of the tail since the last summary.
func (d *deciding) sinceSummary() int32 {
	n, done := int32(0), d.view.SummarizedTo()
	for i := range d.out.Units[d.out.Tail:] {
		if u := &d.out.Units[d.out.Tail+i]; u.First() >= done {
			n += int32(len(u.Items))
		}
	}
	return n
}

// slideIfFull moves the window's start where a sliding window shows more messages than it may.
func (d *deciding) slideIfFull() error {
	most, shown := d.settings.compact.threshold, int32(0)
	for i := range d.out.Units {
		if u := &d.out.Units[i]; u.Summary == nil && u.First() >= d.Kept.LeadingSystem {
			shown += int32(len(u.Items))
		}
	}
	if most == 0 || shown <= most || d.out.Tail == len(d.out.Units) {
		return nil
	}
	return d.move(d.startingAt(d.slideTo(most)))
}

// slideTo is where a window starts that shows at most so many messages: the newest of them, as many as the policy names or as a cut
// leaves, beside the opening, the request and what is pinned.
func (d *deciding) slideTo(most int32) int32 {
	keep := most * int32(percent(d.settings.policy.Fit.TargetPercent, conversation.DefaultTargetPercent)) / 100
	if set := d.settings.policy.Compaction.KeepRecent; set != nil {
		keep = *set
	}
	before := int32(2)
	for _, p := range d.Kept.Pins {
		before += p.Len()
	}
	at := d.out.Newest()
	keep = min(keep, most-before) - int32(len(d.out.Units[at].Items))
	for at > d.out.Tail && keep >= int32(len(d.out.Units[at-1].Items)) {
		at--
		keep -= int32(len(d.out.Units[at].Items))
	}
	return d.out.Units[at].First()
}

// shrunk says whether the view has become smaller by enough for a summary to be worth its loss.
func (d *deciding) shrunk(before int64) bool {
	return compaction.Shrinks(before, d.fixed+d.out.Tokens(), d.settings.compact.shrink)
}

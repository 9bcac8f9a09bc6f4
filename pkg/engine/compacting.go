package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
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
	anchor    int64 // what the newest user message may weigh to be shown beside a summary
	chunk     int64 // what a leaf of the hierarchy stands for
}

// What summaries and what stands beside them may take, as parts of the budget.
const (
	summaryPart = 10
	lossesPart  = 8
	systemPart  = 10
	anchorPart  = 4
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
		anchor:    s.limit / anchorPart,
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

// ownBudget says whether a budget is the conversation's own: that of the window that its policy, or the server's, sets, or else the
// largest of those that are remembered. Builds for smaller ones fit for themselves: a summary would take from the others what has
// room there.
func (e *Engine) ownBudget(w *window, tokens int64, profile conversation.ModelProfile) (bool, error) {
	standing := w.info.Policy.Or(e.defaults).Fit
	if standing.ContextWindowTokens != nil {
		return tokens >= budget(BudgetOverride{}, standing, profile).Tokens(), nil
	}
	known, err := w.fits()
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

// summarises says whether this build may make summaries.
func (d *deciding) summarises() bool {
	return d.settings.own && d.settings.compact.strategy != conversation.StrategySlidingWindow
}

// trigger says why the view is to become smaller; unspecified if it is not.
func (d *deciding) trigger() conversation.Reason {
	c := &d.settings.compact
	used, _ := d.used()
	switch {
	case used > d.settings.budget:
		return conversation.ReasonOverflow
	case c.threshold > 0 && d.sinceSummary() > c.threshold:
		return conversation.ReasonMessageThreshold
	default:
		return conversation.ReasonUnspecified
	}
}

// sinceSummary counts the messages of the tail.
func (d *deciding) sinceSummary() int32 {
	n := 0
	for i := range d.out.units[d.out.tail:] {
		n += len(d.out.units[d.out.tail+i].Items)
	}
	return int32(n)
}

// shrunk says whether the view has become smaller by enough for a summary to be worth its loss.
func (d *deciding) shrunk(before int64) bool {
	return compaction.Shrinks(before, d.fixed+d.out.tokens(), d.settings.compact.shrink)
}

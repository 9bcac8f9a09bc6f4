package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// compactionLimits is how a view that outgrows its budget becomes smaller (behaviour §8). Tokens are before the factor.
type compactionLimits struct {
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
	verbatim  int64 // what units of high importance that stay beside summaries may weigh
	chunk     int64 // what a leaf of the hierarchy stands for
}

// What summaries and what stands beside them may take, as parts of the budget.
const (
	summaryPart = 10
	systemPart  = 10
	highPart    = 10
	leafPart    = 4

	minLeaf = 1000 // tokens
)

// The most that the list beside a summary may take: a tenth of the budget; of a small one an eighth, because open calls and rules alone take
// most of a tenth there, and names that were mentioned twice would go.
const (
	listPart      = 10
	smallListPart = 8
	smallList     = 2_500 // tokens
)

func mostListed(limit int64) int64 { return max(limit/listPart, min(smallList, limit/smallListPart)) }

func (s *settings) compacting(p conversation.CompactionPolicy) compactionLimits {
	of := func(share *int32, otherwise int64) int64 { return s.Limit * percent(share, otherwise) / 100 }
	c := compactionLimits{
		CompactionPolicy: p, strategy: p.Strategy,
		threshold: int32(FirstSet(0, p.ThresholdMessages)),
		prepare:   s.budget * percent(p.PreparePercent, conversation.DefaultPreparePercent) / 100,
		keep:      int32(FirstSet(conversation.DefaultKeepRecent, p.KeepRecent)),
		tail:      of(p.TailPercent, conversation.DefaultTailPercent),
		target:    of(p.TargetPercent, percent(s.policy.Fit.TargetPercent, conversation.DefaultCompactPercent)),
		shrink:    percent(p.MinShrinkPercent, conversation.DefaultMinShrinkPercent),
		fanOut:    int(FirstSet(conversation.DefaultFanOut, p.FanOut)),
		summary:   min(FirstSet(conversation.DefaultSummaryTokens, p.SummaryTokens), s.Limit/summaryPart),
		losses:    min(FirstSet(conversation.DefaultListTokens, p.ListTokens), mostListed(s.Limit)),
		system:    s.Limit / systemPart,
		verbatim:  s.Limit / highPart,
		chunk:     max(minLeaf, s.Limit/leafPart),
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
func (c *compactionLimits) within(room int64) {
	if room = max(room, leastSummary); c.summary+c.losses > room {
		c.losses = min(c.losses, room/2)
		c.summary = min(c.summary, room-c.losses)
	}
}

// trigger says why the view is to become smaller; unspecified if it is not.
func (d compacting) trigger() conversation.Reason {
	c := &d.Settings.compact
	used, _ := d.UsedTokens()
	switch {
	case Scaled(d.Fixed+d.Composed.Tokens(), d.Settings.factor) > d.Settings.budget:
		return conversation.ReasonOverflow
	case used > d.Settings.budget && !d.reporting().reportAnswered():
		d.answersReport = true
		return conversation.ReasonOverflow
	case c.threshold > 0 && d.sinceSummary() > c.threshold:
		return conversation.ReasonMessageThreshold
	default:
		return conversation.ReasonUnspecified
	}
}

// sinceSummary counts the messages of the tail since the last summary.
func (d compacting) sinceSummary() int32 {
	n, done := int32(0), d.View.SummarizedTo()
	for i := range d.Composed.Units[d.Composed.Tail:] {
		if u := &d.Composed.Units[d.Composed.Tail+i]; u.First() >= done {
			n += int32(len(u.Items))
		}
	}
	return n
}

// slideIfFull moves the window's start where a sliding window shows more messages than it may.
func (d compacting) slideIfFull() error {
	most, shown := d.Settings.compact.threshold, int32(0)
	for i := range d.Composed.Units {
		if u := &d.Composed.Units[i]; u.Summary == nil && u.First() >= d.Kept.LeadingSystem {
			shown += int32(len(u.Items))
		}
	}
	if most == 0 || shown <= most || d.Composed.Tail == len(d.Composed.Units) {
		return nil
	}
	start := d.slideTo(most)
	if start == d.Composed.Window.Start { // it can show no less, and what it cuts stays cut
		return nil
	}
	return d.moveWindow(d.windowing().startingAt(start))
}

// slideTo is where a window starts that shows at most so many messages: the newest of them, as many as the policy names or as a cut
// leaves, beside the opening, the request and what is pinned.
func (d compacting) slideTo(most int32) int32 {
	keep := most * int32(percent(d.Settings.policy.Fit.TargetPercent, conversation.DefaultTargetPercent)) / 100
	if set := d.Settings.policy.Compaction.KeepRecent; set != nil {
		keep = *set
	}
	before := int32(2)
	for _, p := range d.Kept.Pins {
		before += p.Len()
	}
	at := d.Composed.Newest()
	keep = min(keep, most-before) - int32(len(d.Composed.Units[at].Items))
	for at > d.Composed.Tail && keep >= int32(len(d.Composed.Units[at-1].Items)) {
		at--
		keep -= int32(len(d.Composed.Units[at].Items))
	}
	return d.Composed.Units[at].First()
}

// shrankEnough says whether the view has become smaller by enough for a summary to be worth its loss.
func (d compacting) shrankEnough(before int64) bool {
	return compaction.Shrinks(before, d.Fixed+d.Composed.Tokens(), d.Settings.compact.shrink)
}

// CompactNow summarizes, or moves the window's start.
func (d *Attempt) CompactNow(r *CompactRequest) error {
	c := &d.Settings.compact
	target, keep := c.target, conversation.ValueOr(r.KeepRecent, c.keep)
	if r.TargetTokens != nil {
		target = unscaled(int64(*r.TargetTokens), d.Settings.factor)
		c.within(target / summaryPart)
	}
	if r.TargetTokens != nil || r.KeepRecent != nil {
		c.tail = target // what is asked for by name holds as far as the target allows
	}
	if len(d.Composed.Units) == 0 {
		return nothingToCompact()
	}
	if c.strategy == conversation.StrategySlidingWindow {
		return d.compacting().slide(target, keep)
	}
	done, err := d.compacting().summarizeOlder(conversation.ReasonCompactRequest, target, keep)
	if err == nil && !done {
		return nothingToCompact()
	}
	return err
}

// slide moves the window's start to the newest messages.
func (d compacting) slide(target int64, keep int32) error {
	cut := d.summarizing().cutBeside(max(0, min(d.Settings.compact.tail, target-d.Fixed)), keep)
	if cut <= d.Composed.Window.Start {
		return nothingToCompact()
	}
	before := d.Fixed + d.Composed.Tokens()
	if err := d.moveWindow(d.windowing().startingAt(cut)); err != nil {
		return err
	}
	if !d.shrankEnough(before) { // the request may weigh more than what has left
		return nothingToCompact()
	}
	return nil
}

func nothingToCompact() error {
	return conversation.Errorf(conversation.NothingToCompact, "nothing lies between the last summary and the newest messages that would make the view smaller by enough")
}

package settings

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Compaction is how a view that outgrows its budget becomes smaller (behaviour §8). Tokens are before the factor.
type Compaction struct {
	Strategy  conversation.Strategy
	Threshold int32 // messages since the last summary; 0 for no such limit
	Prepare   int64 // used tokens, after the factor, from which on a summary is prepared
	Keep      int32
	Tail      int64
	Target    int64
	Shrink    int64 // percent
	FanOut    int
	Summary   int64 // what a summary may weigh, without the list beside it
	Losses    int64 // what the list may weigh
	System    int64 // what system messages that are shown again may weigh
	Verbatim  int64 // what units of high importance that stay beside summaries may weigh
	Chunk     int64 // what a leaf of the hierarchy stands for
	Input     int64 // what a model is given for one summary at most
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

// compaction resolves how a view becomes smaller.
func (s *Settings) compaction() Compaction {
	p := s.Policy.Compaction
	of := func(percent int64) int64 { return s.Limit * percent / 100 }
	c := Compaction{
		Strategy:  p.Strategy,
		Threshold: conversation.ValueOr(p.ThresholdMessages, 0),
		Prepare:   s.Budget * FirstSet(conversation.DefaultPreparePercent, p.PreparePercent) / 100,
		Keep:      conversation.ValueOr(p.KeepRecent, conversation.DefaultKeepRecent),
		Tail:      of(FirstSet(conversation.DefaultTailPercent, p.TailPercent)),
		Target:    of(FirstSet(conversation.DefaultCompactPercent, p.TargetPercent, s.Policy.Fit.TargetPercent)),
		Shrink:    FirstSet(conversation.DefaultMinShrinkPercent, p.MinShrinkPercent),
		FanOut:    int(FirstSet(conversation.DefaultFanOut, p.FanOut)),
		Summary:   min(FirstSet(conversation.DefaultSummaryTokens, p.SummaryTokens), s.Limit/summaryPart),
		Losses:    min(FirstSet(conversation.DefaultListTokens, p.ListTokens), mostListed(s.Limit)),
		System:    s.Limit / systemPart,
		Verbatim:  s.Limit / highPart,
		Chunk:     max(minLeaf, s.Limit/leafPart),
		Input:     FirstSet(conversation.DefaultSummaryInput, p.SummaryInputTokens),
	}
	if c.Strategy == conversation.StrategyUnspecified {
		c.Strategy = conversation.StrategySummarize
	}
	if c.Strategy == conversation.StrategyHierarchical { // several stand beside each other
		c.Summary, c.Losses = c.Summary/int64(c.FanOut), c.Losses/int64(c.FanOut)
	}
	return c
}

// leastSummary is the room that is set aside for a summary at least, with the list beside it, in tokens.
const leastSummary = 500

// Within bounds a summary and the list beside it, for a view of so many tokens.
func (c *Compaction) Within(target int64) {
	if room := max(target/summaryPart, leastSummary); c.Summary+c.Losses > room {
		c.Losses = min(c.Losses, room/2)
		c.Summary = min(c.Summary, room-c.Losses)
	}
}

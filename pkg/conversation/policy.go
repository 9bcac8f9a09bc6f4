package conversation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"time"
)

// Policy says how a conversation's view is kept. A field that is nil is taken from the next policy in line (request,
// conversation, server default).
type Policy struct {
	Expiration    ExpirationPolicy
	Retention     RetentionPolicy
	Rewrite       RewritePolicy
	Fit           FitPolicy
	Pruning       PruningPolicy
	Compaction    CompactionPolicy
	Citations     CitationsPolicy
	Memory        MemoryPolicy
	MaxWait       *time.Duration // total wait for summarizers in one build
	Deduplication DeduplicationPolicy
	TTL           *time.Duration // 0: no ttl

	TTLWithoutTombstone *bool // after the ttl, an append begins the conversation anew

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// ExpirationPolicy is the expiry of a whole conversation.
type ExpirationPolicy struct {
	Off *bool // nothing expires, whatever other settings say; erasures still happen
	// Results applies to tool results, and to messages of the types ACTION_RESULT and SUB_AGENT_RESULT, if nothing else says
	// how long they live.
	Results Expiration
}

// RetentionPolicy says which messages count toward the age of plugins' blocks.
type RetentionPolicy struct {
	AllInputs *bool // every message of the user and of tools counts
}

// RewriteMode says when edits that are due are made.
type RewriteMode int8

// The modes. The numbers are those of the API.
const (
	RewriteUnspecified RewriteMode = iota
	RewriteEager
	RewriteCoalesced
)

// RewritePolicy says when edits that are due are made: after a change of old text, the provider must read everything behind it
// anew.
type RewritePolicy struct {
	Mode             RewriteMode
	MinGainTokens    *int32         // tokens that due edits must free together
	MaxDeferralTurns *int32         // turns that an edit waits at most
	ColdAfter        *time.Duration // time without a build after which the provider no longer caches the prefix
	ExpectTurns      *int32         // turns for which the conversation is expected to go on; 0 for no expectation
	ColdCutPercent   *int32         // percent of the budget from which a view is cut when nothing is cached; 100 for never
}

// FitPolicy keeps a view inside its budget.
type FitPolicy struct {
	MaxContextTokens     *int32
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	TargetPercent        *int32 // in percent of the budget: the target of a cut of the window
	MaxResultPercent     *int32 // in percent of the budget: what one tool result may weigh when it first enters a view
	KeepOpening          *bool  // the user's first message always stays in view
}

// PruningPolicy says when old tool results are cleared.
type PruningPolicy struct {
	Off               *bool
	ProtectTokens     *int32    // tokens of the newest parts, which are left alone
	MinimumTokens     *int32    // tokens that clearing must free in all
	MaxPartTokens     *int32    // tokens that a part counts at most
	ProtectedTools    *[]string // by name
	ProtectedPrefixes *[]string // by prefix of the name
	EraseAfter        *time.Duration

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Strategy says how a view shrinks when it outgrows its budget.
type Strategy int8

// The strategies. The numbers are those of the API.
const (
	StrategyUnspecified Strategy = iota
	StrategySummarize
	StrategyHierarchical
	StrategySlidingWindow
)

// CompactionPolicy says how a view shrinks when it outgrows its budget.
type CompactionPolicy struct {
	Strategy          Strategy
	ThresholdMessages *int32 // messages in the view since the last summary; 0: no threshold
	PreparePercent    *int32 // in percent of the budget: from here on a summary is prepared
	KeepRecent        *int32 // number of newest messages that are left alone
	TailPercent       *int32 // in percent of the budget: what these may weigh
	TargetPercent     *int32 // in percent of the budget: what the view weighs afterwards
	MinShrinkPercent  *int32
	FanOut            *int32
	SummaryTokens     *int32
	PromptID          *string
	CountReasoning    *bool
	ListTokens        *int32 // tokens for the list of names after a summary; 0 for no list
	// LivePrefix lets the agent's own model write summaries, after the prefix that its provider has cached.
	LivePrefix         *bool
	SummaryInputTokens *int32 // tokens that a model gets for one summary, except after a live prefix

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// CitationsPolicy says which results enter the view as citations (behaviour §9).
type CitationsPolicy struct {
	On              *bool
	ThresholdChars  *int32 // in Unicode code points: longer results are cited
	ReleaseOnEndRun *bool  // the originals of what a run cited are erased after the run
	// RecallTools are recall tools besides those known by name: their results are never cited or searched.
	RecallTools *[]string

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// DeduplicationPolicy says which results are shown without lines that the view already shows (behaviour §21).
type DeduplicationPolicy struct {
	On            *bool
	ExcludedTools *[]string // by name
	MinLines      *int32    // minimum number of adjacent lines

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// DefaultMinLines is how many adjacent lines are deduplicated at least.
const DefaultMinLines = 3

// DefaultThresholdChars is the length of the longest result that is shown in full if citations are on (behaviour §9).
const DefaultThresholdChars = 1_000

// The defaults of behaviour §7, §8 and §14.
const (
	DefaultProtectTokens    = 40_000
	DefaultMinimumTokens    = 20_000
	DefaultMaxPartTokens    = 50_000
	DefaultPreparePercent   = 80
	DefaultKeepRecent       = 20
	DefaultTailPercent      = 25
	DefaultCompactPercent   = 50
	DefaultMinShrinkPercent = 10
	DefaultFanOut           = 4
	DefaultSummaryTokens    = 4_000
	DefaultListTokens       = 4_500
	DefaultSummaryInput     = 16_000
)

// The defaults of behaviour §14.
const (
	DefaultContextWindow    = 128_000
	DefaultReservedOutput   = 16_384
	DefaultTargetPercent    = 50
	DefaultMaxResultPercent = 25
	DefaultMinGainTokens    = 5_000
	DefaultMaxDeferralTurns = 10
	DefaultColdAfter        = 5 * time.Minute
	DefaultExpectTurns      = 30
	DefaultColdCutPercent   = 50
	DefaultMaxWait          = 3 * time.Second
)

// Or fills fields that are not set from next.
func (p Policy) Or(next Policy) Policy {
	return Policy{
		Expiration: ExpirationPolicy{
			Off:     cmp.Or(p.Expiration.Off, next.Expiration.Off),
			Results: p.Expiration.Results.Or(next.Expiration.Results),
		},
		Retention: RetentionPolicy{AllInputs: cmp.Or(p.Retention.AllInputs, next.Retention.AllInputs)},
		Rewrite: RewritePolicy{
			Mode:             cmp.Or(p.Rewrite.Mode, next.Rewrite.Mode),
			MinGainTokens:    cmp.Or(p.Rewrite.MinGainTokens, next.Rewrite.MinGainTokens),
			MaxDeferralTurns: cmp.Or(p.Rewrite.MaxDeferralTurns, next.Rewrite.MaxDeferralTurns),
			ColdAfter:        cmp.Or(p.Rewrite.ColdAfter, next.Rewrite.ColdAfter),
			ExpectTurns:      cmp.Or(p.Rewrite.ExpectTurns, next.Rewrite.ExpectTurns),
			ColdCutPercent:   cmp.Or(p.Rewrite.ColdCutPercent, next.Rewrite.ColdCutPercent),
		},
		Fit: FitPolicy{
			MaxContextTokens:     cmp.Or(p.Fit.MaxContextTokens, next.Fit.MaxContextTokens),
			ContextWindowTokens:  cmp.Or(p.Fit.ContextWindowTokens, next.Fit.ContextWindowTokens),
			ReservedOutputTokens: cmp.Or(p.Fit.ReservedOutputTokens, next.Fit.ReservedOutputTokens),
			TargetPercent:        cmp.Or(p.Fit.TargetPercent, next.Fit.TargetPercent),
			MaxResultPercent:     cmp.Or(p.Fit.MaxResultPercent, next.Fit.MaxResultPercent),
			KeepOpening:          cmp.Or(p.Fit.KeepOpening, next.Fit.KeepOpening),
		},
		Pruning:    p.Pruning.or(next.Pruning),
		Compaction: p.Compaction.or(next.Compaction),
		Citations: CitationsPolicy{
			On:              cmp.Or(p.Citations.On, next.Citations.On),
			ThresholdChars:  cmp.Or(p.Citations.ThresholdChars, next.Citations.ThresholdChars),
			ReleaseOnEndRun: cmp.Or(p.Citations.ReleaseOnEndRun, next.Citations.ReleaseOnEndRun),
			RecallTools:     cmp.Or(p.Citations.RecallTools, next.Citations.RecallTools),
		},
		Deduplication: DeduplicationPolicy{
			On:            cmp.Or(p.Deduplication.On, next.Deduplication.On),
			ExcludedTools: cmp.Or(p.Deduplication.ExcludedTools, next.Deduplication.ExcludedTools),
			MinLines:      cmp.Or(p.Deduplication.MinLines, next.Deduplication.MinLines),
		},
		Memory:  p.Memory.or(next.Memory),
		MaxWait: cmp.Or(p.MaxWait, next.MaxWait),
		TTL:     cmp.Or(p.TTL, next.TTL),

		TTLWithoutTombstone: cmp.Or(p.TTLWithoutTombstone, next.TTLWithoutTombstone),
	}
}

func (p PruningPolicy) or(next PruningPolicy) PruningPolicy {
	return PruningPolicy{
		Off:               cmp.Or(p.Off, next.Off),
		ProtectTokens:     cmp.Or(p.ProtectTokens, next.ProtectTokens),
		MinimumTokens:     cmp.Or(p.MinimumTokens, next.MinimumTokens),
		MaxPartTokens:     cmp.Or(p.MaxPartTokens, next.MaxPartTokens),
		ProtectedTools:    cmp.Or(p.ProtectedTools, next.ProtectedTools),
		ProtectedPrefixes: cmp.Or(p.ProtectedPrefixes, next.ProtectedPrefixes),
		EraseAfter:        cmp.Or(p.EraseAfter, next.EraseAfter),
	}
}

func (p CompactionPolicy) or(next CompactionPolicy) CompactionPolicy {
	return CompactionPolicy{
		Strategy:           cmp.Or(p.Strategy, next.Strategy),
		ThresholdMessages:  cmp.Or(p.ThresholdMessages, next.ThresholdMessages),
		PreparePercent:     cmp.Or(p.PreparePercent, next.PreparePercent),
		KeepRecent:         cmp.Or(p.KeepRecent, next.KeepRecent),
		TailPercent:        cmp.Or(p.TailPercent, next.TailPercent),
		TargetPercent:      cmp.Or(p.TargetPercent, next.TargetPercent),
		MinShrinkPercent:   cmp.Or(p.MinShrinkPercent, next.MinShrinkPercent),
		FanOut:             cmp.Or(p.FanOut, next.FanOut),
		SummaryTokens:      cmp.Or(p.SummaryTokens, next.SummaryTokens),
		PromptID:           cmp.Or(p.PromptID, next.PromptID),
		CountReasoning:     cmp.Or(p.CountReasoning, next.CountReasoning),
		ListTokens:         cmp.Or(p.ListTokens, next.ListTokens),
		LivePrefix:         cmp.Or(p.LivePrefix, next.LivePrefix),
		SummaryInputTokens: cmp.Or(p.SummaryInputTokens, next.SummaryInputTokens),
	}
}

// Hash returns 16 hexadecimal digits that differ if the policies differ. A policy that uses no newer setting keeps the hash it
// had in earlier versions.
func (p Policy) Hash() string {
	h := fnv.New64a()
	for _, v := range []*int32{p.Fit.MaxContextTokens, p.Fit.ContextWindowTokens, p.Fit.ReservedOutputTokens,
		p.Fit.TargetPercent, p.Fit.MaxResultPercent} {
		writeSetting(h.Write, v)
	}
	writeSetting(h.Write, p.TTL)
	p.writeLater(h, Policy.lifecycle)
	p.writeLater(h, Policy.window)
	p.writeLater(h, Policy.citations)
	writeNamed(h, "opening", p.Fit.KeepOpening)
	if p.Citations.RecallTools != nil {
		_, _ = fmt.Fprintln(h, "recall", names(p.Citations.RecallTools))
	}
	writeNamed(h, "list", p.Compaction.ListTokens)
	writeNamed(h, "ttl without tombstone", p.TTLWithoutTombstone)
	p.writeLater(h, Policy.memory)
	writeNamed(h, "expect turns", p.Rewrite.ExpectTurns)
	writeNamed(h, "cold cut percent", p.Rewrite.ColdCutPercent)
	if c := p.Compaction; c.LivePrefix != nil || c.SummaryInputTokens != nil {
		_, _ = fmt.Fprintln(h, "summaries", value(c.LivePrefix), value(c.SummaryInputTokens))
	}
	p.writeLater(h, Policy.deduplication)
	return fmt.Sprintf("%016x", h.Sum64())
}

// writeLater writes a group of settings that were added later, if any of them is set.
func (p Policy) writeLater(h io.Writer, settings func(Policy) string) {
	if s := settings(p); s != settings(Policy{}) {
		_, _ = io.WriteString(h, s)
	}
}

// writeNamed writes a single setting, if it is set.
func writeNamed[T any](h io.Writer, name string, v *T) {
	if v != nil {
		_, _ = fmt.Fprintln(h, name, *v)
	}
}

// lifecycle returns the settings of expiry, retention and rewriting as text, each at a fixed position.
func (p Policy) lifecycle() string {
	e, r := p.Expiration, p.Rewrite
	return fmt.Sprint(value(e.Off), value(e.Results.Turns), e.Results.Mode, e.Results.CompactMode, value(e.Results.CompactLength),
		strconv.Quote(e.Results.CompactPromptID), value(e.Results.PreserveOriginal), value(p.Retention.AllInputs),
		r.Mode, value(r.MinGainTokens), value(r.MaxDeferralTurns), value(r.ColdAfter), value(p.MaxWait))
}

// window returns the settings of pruning and compaction as text, each at a fixed position.
func (p Policy) window() string {
	r, c := p.Pruning, p.Compaction
	prompt := "-"
	if c.PromptID != nil {
		prompt = strconv.Quote(*c.PromptID)
	}
	return fmt.Sprintln(value(r.Off), value(r.ProtectTokens), value(r.MinimumTokens), value(r.MaxPartTokens),
		names(r.ProtectedTools), names(r.ProtectedPrefixes), value(r.EraseAfter),
		c.Strategy, value(c.ThresholdMessages), value(c.PreparePercent), value(c.KeepRecent), value(c.TailPercent),
		value(c.TargetPercent), value(c.MinShrinkPercent), value(c.FanOut), value(c.SummaryTokens), prompt, value(c.CountReasoning))
}

// citations returns the settings of citations as text, each at a fixed position.
func (p Policy) citations() string {
	c := p.Citations
	return fmt.Sprintln("citations", value(c.On), value(c.ThresholdChars), value(c.ReleaseOnEndRun))
}

// deduplication returns the settings of deduplication as text, each at a fixed position.
func (p Policy) deduplication() string {
	d := p.Deduplication
	return fmt.Sprintln("deduplication", value(d.On), names(d.ExcludedTools), value(d.MinLines))
}

func names(list *[]string) string {
	if list == nil {
		return "-"
	}
	return fmt.Sprintf("%q", *list)
}

// value returns what a setting points to; nil if it is not set.
func value[T any](v *T) any {
	if v == nil {
		return "-"
	}
	return *v
}

func writeSetting[T ~int32 | ~int64](write func([]byte) (int, error), v *T) {
	if v == nil {
		_, _ = write([]byte{'-', ';'})
		return
	}
	_, _ = write(append(strconv.AppendInt(nil, int64(*v), 10), ';'))
}

// Budget is the room of a build, in tokens.
type Budget struct {
	ContextWindow  int64
	ReservedOutput int64
	MaxContext     int64 // 0: no limit of its own
	Assumed        bool  // the context window is the default, because nothing sets it
}

// Tokens is B: min(max context, window - reserved output).
func (b Budget) Tokens() int64 {
	room := b.ContextWindow - b.ReservedOutput
	if b.MaxContext > 0 && b.MaxContext < room {
		return b.MaxContext
	}
	return room
}

// ValueOr returns the value of a setting; otherwise if it is not set.
func ValueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// RecallTools returns the recall tools that the policy names.
func (p Policy) RecallTools() RecallTools { return ValueOr(p.Citations.RecallTools, nil) }

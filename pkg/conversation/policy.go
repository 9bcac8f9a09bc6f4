package conversation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"time"
)

// Policy says how a conversation's view is kept. A nil field is not set: it comes from the next policy in line (request,
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
	MaxWait       *time.Duration // for summarizers, in all of one build
	Deduplication DeduplicationPolicy
	TTL           *time.Duration // 0 switches it off

	TTLWithoutTombstone *bool // an append begins the conversation anew once the ttl is over

	// Unknown is what a newer version wrote.
	Unknown string
}

// ExpirationPolicy is expiry for a whole conversation.
type ExpirationPolicy struct {
	Off *bool // nothing expires, whatever says so; erasures are made all the same
	// Results is for tool results, and messages of the types ACTION_RESULT and SUB_AGENT_RESULT, of which nothing else says
	// how long they live.
	Results Expiration
}

// RetentionPolicy says which messages count when blocks of plugins age.
type RetentionPolicy struct {
	AllInputs *bool // every message of the user's and the tools' counts
}

// RewriteMode says when due edits are made.
type RewriteMode int8

// The modes. The numbers are those of the API.
const (
	RewriteUnspecified RewriteMode = iota
	RewriteEager
	RewriteCoalesced
)

// RewritePolicy says when due edits are made: changing old text makes the provider read all that follows it anew.
type RewritePolicy struct {
	Mode             RewriteMode
	MinGainTokens    *int32         // that due edits free together before they are made
	MaxDeferralTurns *int32         // that one waits at most
	ColdAfter        *time.Duration // without a build: the provider has forgotten the prefix by then
	ExpectTurns      *int32         // for how many the conversation is expected to go on; 0 for no expectation
	ColdCutPercent   *int32         // of the budget, beyond which a view is cut behind a cold cache; 100 for never
}

// FitPolicy keeps a view inside its budget.
type FitPolicy struct {
	MaxContextTokens     *int32
	ContextWindowTokens  *int32
	ReservedOutputTokens *int32
	TargetPercent        *int32 // of the budget: where a cut of the window aims
	MaxResultPercent     *int32 // of the budget: the most one tool result may take when it first enters a view
	KeepOpening          *bool  // the first message that the user wrote stays in view for good
}

// PruningPolicy says when old tool results are cleared.
type PruningPolicy struct {
	Off               *bool
	ProtectTokens     *int32    // of the newest parts, which are left alone
	MinimumTokens     *int32    // that must go together
	MaxPartTokens     *int32    // what a part counts at most
	ProtectedTools    *[]string // by name
	ProtectedPrefixes *[]string // by the beginning of the name
	EraseAfter        *time.Duration

	// Unknown is what a newer version wrote.
	Unknown string
}

// Strategy says how a view that outgrows its budget becomes smaller.
type Strategy int8

// The strategies. The numbers are those of the API.
const (
	StrategyUnspecified Strategy = iota
	StrategySummarize
	StrategyHierarchical
	StrategySlidingWindow
)

// CompactionPolicy says how a view that outgrows its budget becomes smaller.
type CompactionPolicy struct {
	Strategy          Strategy
	ThresholdMessages *int32 // in the view since the last summary; 0 switches it off
	PreparePercent    *int32 // of the budget, from which on a summary is prepared
	KeepRecent        *int32 // messages that are left alone
	TailPercent       *int32 // of the budget: what these may take
	TargetPercent     *int32 // of the budget: what the view weighs afterwards
	MinShrinkPercent  *int32
	FanOut            *int32
	SummaryTokens     *int32
	PromptID          *string
	CountReasoning    *bool
	ListTokens        *int32 // of the list of names beside a summary; 0 for none
	// LivePrefix has the agent's own model write summaries, behind the bytes that its provider has cached.
	LivePrefix         *bool
	SummaryInputTokens *int32 // that a model is given for one summary, except behind a live prefix

	// Unknown is what a newer version wrote.
	Unknown string
}

// CitationsPolicy says which results enter the view as a citation (behaviour §9).
type CitationsPolicy struct {
	On              *bool
	ThresholdChars  *int32 // Unicode code points up to which a result is shown in full
	ReleaseOnEndRun *bool  // the originals of what a run's messages cite go when the run has ended
	// RecallTools are tools that recall beside those that are told by their names: what they answer is never cited or searched.
	RecallTools *[]string

	// Unknown is what a newer version wrote.
	Unknown string
}

// DeduplicationPolicy says which results are shown without lines that stand in the view already (behaviour §21).
type DeduplicationPolicy struct {
	On            *bool
	ExcludedTools *[]string // by name
	MinLines      *int32    // that stand in a row

	// Unknown is what a newer version wrote.
	Unknown string
}

// DefaultMinLines is how many lines must stand in a row to be deduplicated.
const DefaultMinLines = 3

// DefaultThresholdChars is the longest result that is shown in full, with citations on (behaviour §9).
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

// Or returns the policy with what is not set taken from next, field by field.
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

// Hash is 16 hexadecimal digits that differ where the policy differs. A policy that sets nothing new since an earlier version
// of this code has the hash that it had then.
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

// writeLater writes settings that came after the first, if any of them is set.
func (p Policy) writeLater(h io.Writer, settings func(Policy) string) {
	if s := settings(p); s != settings(Policy{}) {
		_, _ = io.WriteString(h, s)
	}
}

// writeNamed writes a setting that came by itself, if it is set.
func writeNamed[T any](h io.Writer, name string, v *T) {
	if v != nil {
		_, _ = fmt.Fprintln(h, name, *v)
	}
}

// lifecycle writes the settings of expiry, retention and rewriting down, each in its place.
func (p Policy) lifecycle() string {
	e, r := p.Expiration, p.Rewrite
	return fmt.Sprint(value(e.Off), value(e.Results.Turns), e.Results.Mode, e.Results.CompactMode, value(e.Results.CompactLength),
		strconv.Quote(e.Results.CompactPromptID), value(e.Results.PreserveOriginal), value(p.Retention.AllInputs),
		r.Mode, value(r.MinGainTokens), value(r.MaxDeferralTurns), value(r.ColdAfter), value(p.MaxWait))
}

// window writes the settings of pruning and compaction down, each in its place.
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

// citations writes the settings of citations down, each in its place.
func (p Policy) citations() string {
	c := p.Citations
	return fmt.Sprintln("citations", value(c.On), value(c.ThresholdChars), value(c.ReleaseOnEndRun))
}

// deduplication writes the settings of deduplication down, each in its place.
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

// value is what a setting is set to, for writing it down.
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

// Budget is the room of one build.
type Budget struct {
	ContextWindow  int64
	ReservedOutput int64
	MaxContext     int64 // 0: no limit of its own
	Assumed        bool  // nobody said the window: it is the default one
}

// Tokens is B: min(max context, window - reserved output).
func (b Budget) Tokens() int64 {
	room := b.ContextWindow - b.ReservedOutput
	if b.MaxContext > 0 && b.MaxContext < room {
		return b.MaxContext
	}
	return room
}

// ValueOr is what a setting points to, or the default where it is not set.
func ValueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// RecallTools are the tools that recall, as the policy names them.
func (p Policy) RecallTools() RecallTools { return ValueOr(p.Citations.RecallTools, nil) }

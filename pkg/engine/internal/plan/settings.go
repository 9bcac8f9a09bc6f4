package plan

import (
	"math"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// settings is what one build is decided with, resolved field by field: request, conversation, server default.
type settings struct {
	policy  conversation.Policy
	hash    string
	budget  int64 // B
	Limit   int64 // B before the factor: what counts may add up to
	target  int64 // where a cut aims, before the factor
	share   int64 // the most a tool result may weigh when it first enters a view, before the factor
	Counter tokens.Counter
	factor  float64

	catalogue   *catalogue.Entries
	override    *conversation.ExpirationOverride
	eager       bool
	minGain     int64
	maxDeferral int32
	coldAfter   time.Duration
	expectTurns int32
	coldCut     int64 // tokens beyond which a view is cut behind a cold cache
	maxWait     time.Duration
	compact     compactionLimits
	own         bool    // the budget is the conversation's own: its builds make summaries
	read, write float64 // prices of a token from the provider's cache, and into it
	priced      bool    // the model's profile says one of them, or that of input
}

// settingsOf resolves the settings of a build over a view: field by field from the request, the conversation and the server's defaults.
func settingsOf(w *view.Loaded, r *Request, defaults conversation.Policy, counter tokens.Counter, known *catalogue.Entries) (*settings, error) {
	profile, _ := known.Profile(r.Model)
	policy := r.PolicyOverride.Or(w.Info.Policy).Or(defaults)
	s := &settings{policy: policy, hash: policy.Hash(), Counter: counter, catalogue: known}
	s.budget = budget(r.Budget, profile, r.PolicyOverride.Fit, w.Info.Policy.Fit, defaults.Fit).Tokens()
	if s.budget <= 0 {
		return nil, noRoom()
	}
	var err error
	if s.factor, err = w.Factor(r.Model, profile); err != nil {
		return nil, err
	}
	s.Limit = unscaled(s.budget, s.factor)
	s.target = s.Limit * percent(policy.Fit.TargetPercent, conversation.DefaultTargetPercent) / 100
	s.share = s.Limit * percent(policy.Fit.MaxResultPercent, conversation.DefaultMaxResultPercent) / 100
	s.override = r.Override
	s.rewrite(policy, profile)
	s.compact = s.compacting(policy.Compaction)
	s.own, err = ownBudget(w, defaults, s.budget, profile)
	return s, err
}

// rewrite sets when due edits are made, and what reading anew costs.
func (s *settings) rewrite(policy conversation.Policy, profile conversation.ModelProfile) {
	p := policy.Rewrite
	s.eager = p.Mode == conversation.RewriteEager
	s.minGain = FirstSet(conversation.DefaultMinGainTokens, p.MinGainTokens)
	s.maxDeferral = int32(FirstSet(conversation.DefaultMaxDeferralTurns, p.MaxDeferralTurns))
	s.coldAfter = conversation.ValueOr(p.ColdAfter, conversation.DefaultColdAfter)
	s.expectTurns = conversation.ValueOr(p.ExpectTurns, conversation.DefaultExpectTurns)
	s.coldCut = s.budget * percent(p.ColdCutPercent, conversation.DefaultColdCutPercent) / 100
	s.maxWait = conversation.ValueOr(policy.MaxWait, conversation.DefaultMaxWait)
	s.read, s.write = profile.CachePrices()
	s.priced = profile.InputPrice != nil || profile.CacheReadPrice != nil
}

func noRoom() error {
	err := conversation.Errorf(conversation.InvalidField, "the budget leaves no room")
	err.Violations = []conversation.Violation{{Field: "budget", Text: "the context window must be larger than the reserved output"}}
	return err
}

// budget resolves the room: request, policies with the most specific first, model profile, default. What is set for all windows, or
// for larger ones, must not leave a window without room: a reserve that comes from further down than the window does is a default,
// and at most a quarter of it (behaviour §14).
func budget(o BudgetOverride, p conversation.ModelProfile, policies ...conversation.FitPolicy) conversation.Budget {
	b := conversation.Budget{MaxContext: FirstSet(0, o.MaxContext)}
	windows, reserves := make([]*int32, 0, len(policies)+2), make([]*int32, 0, len(policies)+2)
	windows, reserves = append(windows, o.ContextWindow), append(reserves, o.ReservedOutput)
	for _, fit := range policies {
		windows, reserves = append(windows, fit.ContextWindowTokens), append(reserves, fit.ReservedOutputTokens)
		if b.MaxContext == 0 {
			b.MaxContext = FirstSet(0, fit.MaxContextTokens)
		}
	}
	windows, reserves = append(windows, p.ContextWindowTokens), append(reserves, p.ReservedOutputTokens)
	b.ContextWindow = FirstSet(conversation.DefaultContextWindow, windows...)
	b.ReservedOutput = FirstSet(conversation.DefaultReservedOutput, reserves...)
	isSet := func(n *int32) bool { return n != nil }
	if from := slices.IndexFunc(windows, isSet); from >= 0 && !slices.ContainsFunc(reserves[:from+1], isSet) {
		b.ReservedOutput = min(b.ReservedOutput, b.ContextWindow/defaultReserveShare)
	}
	return b
}

// defaultReserveShare: a default reserve is at most this part of the window.
const defaultReserveShare = 4

// FirstSet is the first value that is set, or the default.
func FirstSet(otherwise int64, values ...*int32) int64 {
	for _, v := range values {
		if v != nil {
			return int64(*v)
		}
	}
	return otherwise
}

func percent(p *int32, otherwise int64) int64 { return FirstSet(otherwise, p) }

// unscaled is the largest count that is within the budget once the factor is applied.
func unscaled(budget int64, factor float64) int64 {
	n := int64(math.Floor(float64(budget) / factor))
	for n > 0 && Scaled(n, factor) > budget {
		n--
	}
	return n
}

// Scaled is a count of tokens times the factor.
func Scaled(n int64, factor float64) int64 { return int64(tokens.Scale(int(n), factor)) }

// Package settings resolves what a build is decided with, field by field: from its request, the conversation and the server's defaults.
package settings

import (
	"cmp"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Settings is what one build is decided with.
type Settings struct {
	Policy  conversation.Policy
	Hash    string // of the policy
	Room    conversation.Budget
	Budget  int64 // B, which Room makes
	Limit   int64 // B before the factor: what counts may add up to
	Target  int64 // where a cut aims, before the factor
	Share   int64 // the most a tool result may weigh when it first enters a view, before the factor
	Counter tokens.Counter
	Factor  float64

	Catalogue   *catalogue.Entries
	Override    *conversation.ExpirationOverride
	Eager       bool
	MinGain     int64
	MaxDeferral int32
	ColdAfter   time.Duration
	ExpectTurns int32
	ColdCut     int64 // tokens beyond which a view is cut behind a cold cache
	MaxWait     time.Duration
	Compaction  Compaction
	Own         bool    // the budget is the conversation's own: its builds make summaries
	Read, Write float64 // prices of a token from the provider's cache, and into it
	Priced      bool    // the model's profile says one of them, or that of input
}

// Input is what settings are resolved from.
type Input struct {
	Loaded   *view.Loaded
	Model    string
	Budget   BudgetOverride
	Policy   conversation.Policy // the request's
	Override *conversation.ExpirationOverride
	Defaults conversation.Policy // the server's
	Counter  tokens.Counter
	Known    *catalogue.Entries
}

// Resolve resolves the settings of a build over a view.
func Resolve(in *Input) (*Settings, error) {
	own := in.Loaded.Info.Policy
	profile, _ := in.Known.Profile(in.Model)
	policy := in.Policy.Or(own).Or(in.Defaults)
	s := &Settings{Policy: policy, Hash: policy.Hash(), Counter: in.Counter, Catalogue: in.Known, Override: in.Override}
	s.Room = Budget(in.Budget, profile, in.Policy.Fit, own.Fit, in.Defaults.Fit)
	s.Budget = s.Room.Tokens()
	if s.Budget <= 0 {
		return nil, noRoom()
	}
	var err error
	if s.Factor, err = in.Loaded.Slots.Factor(in.Model, profile); err != nil {
		return nil, err
	}
	s.Limit = s.Unscaled(s.Budget)
	s.Target = s.Limit * FirstSet(conversation.DefaultTargetPercent, policy.Fit.TargetPercent) / 100
	s.Share = s.Limit * FirstSet(conversation.DefaultMaxResultPercent, policy.Fit.MaxResultPercent) / 100
	s.rewrite(profile)
	s.Compaction = s.compaction()
	s.Own, err = ownBudget(in, s.Budget, profile)
	return s, err
}

// rewrite sets when due edits are made, and what reading anew costs.
func (s *Settings) rewrite(profile conversation.ModelProfile) {
	p := s.Policy.Rewrite
	s.Eager = p.Mode == conversation.RewriteEager
	s.MinGain = FirstSet(conversation.DefaultMinGainTokens, p.MinGainTokens)
	s.MaxDeferral = conversation.ValueOr(p.MaxDeferralTurns, conversation.DefaultMaxDeferralTurns)
	s.ColdAfter = conversation.ValueOr(cmp.Or(p.ColdAfter, profile.CacheLifetime), conversation.DefaultColdAfter)
	s.ExpectTurns = conversation.ValueOr(p.ExpectTurns, conversation.DefaultExpectTurns)
	s.ColdCut = s.Budget * FirstSet(conversation.DefaultColdCutPercent, p.ColdCutPercent) / 100
	s.MaxWait = conversation.ValueOr(s.Policy.MaxWait, conversation.DefaultMaxWait)
	s.Read, s.Write = profile.CachePrices()
	s.Priced = profile.InputPrice != nil || profile.CacheReadPrice != nil
}

// ownBudget says whether a budget is the conversation's own: that of the window that its policy, or the server's, sets, or else the
// largest of those that are remembered. Builds for smaller ones fit for themselves: a summary would take from the others what has
// room there.
func ownBudget(in *Input, tokens int64, profile conversation.ModelProfile) (bool, error) {
	own := in.Loaded.Info.Policy
	if own.Or(in.Defaults).Fit.ContextWindowTokens != nil {
		return tokens >= Budget(BudgetOverride{}, profile, own.Fit, in.Defaults.Fit).Tokens(), nil
	}
	known, err := in.Loaded.Slots.BudgetWindows()
	return tokens >= known.Largest(), err
}

// TokensPerPrice is how many tokens a price is for.
const TokensPerPrice = 1e6

package settings

import (
	"math"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// BudgetOverride is a request's budget; nil fields are not set.
type BudgetOverride struct {
	ContextWindow, ReservedOutput, MaxContext *int32
}

// Budget resolves the room: request, policies with the most specific first, model profile, default. What is set for all windows, or
// for larger ones, must not leave a window without room: a reserve that comes from further down than the window does is a default,
// and at most a quarter of it (behaviour §14).
func Budget(o BudgetOverride, p conversation.ModelProfile, policies ...conversation.FitPolicy) conversation.Budget {
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
	from := slices.IndexFunc(windows, isSet)
	if from >= 0 && !slices.ContainsFunc(reserves[:from+1], isSet) {
		b.ReservedOutput = min(b.ReservedOutput, b.ContextWindow/defaultReserveShare)
	}
	b.Assumed = from < 0
	return b
}

// defaultReserveShare: a default reserve is at most this part of the window.
const defaultReserveShare = 4

func noRoom() error {
	return conversation.Errorf(conversation.InvalidField, "the budget leaves no room").
		At("budget", "the context window must be larger than the reserved output")
}

// FirstSet is the first value that is set, or the default.
func FirstSet(otherwise int64, values ...*int32) int64 {
	for _, v := range values {
		if v != nil {
			return int64(*v)
		}
	}
	return otherwise
}

// Scaled is a count of tokens times the factor.
func (s *Settings) Scaled(n int64) int64 { return int64(tokens.Scale(int(n), s.Factor)) }

// Unscaled is the largest count that is within a budget once the factor is applied.
func (s *Settings) Unscaled(budget int64) int64 {
	n := int64(math.Floor(float64(budget) / s.Factor))
	for n > 0 && s.Scaled(n) > budget {
		n--
	}
	return n
}

package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// ownBudget says whether a budget is the conversation's own: that of the window that its policy, or the server's, sets, or else the
// largest of those that are remembered. Builds for smaller ones fit for themselves: a summary would take from the others what has
// room there.
func ownBudget(w *view.Loaded, defaults conversation.Policy, tokens int64, profile conversation.ModelProfile) (bool, error) {
	if w.Info.Policy.Or(defaults).Fit.ContextWindowTokens != nil {
		return tokens >= budget(BudgetOverride{}, profile, w.Info.Policy.Fit, defaults.Fit).Tokens(), nil
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
func (d compacting) summarizes() bool {
	return d.Settings.own && d.Settings.compact.strategy != conversation.StrategySlidingWindow
}

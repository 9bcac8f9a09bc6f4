package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// BudgetWindowsSlot holds the windows of the budgets that were used last.
const BudgetWindowsSlot = BuildSlots + "fit"

// MaxBudgetWindows is how many budgets have their window remembered (behaviour §8).
const MaxBudgetWindows = 4

// BudgetWindows are the windows of the budgets that were used last, the least recently used first.
type BudgetWindows []record.Fit

// BudgetWindows reads the remembered windows.
func (s Slots) BudgetWindows() (BudgetWindows, error) {
	return ReadSlot(s[BudgetWindowsSlot], record.DecodeFits, "the stored window is damaged")
}

// ForgetWindows makes the next build find those windows anew for which moved is true. Their budgets stay remembered, because summaries
// are made for the largest one.
func (s Slots) ForgetWindows(c *store.Change, moved func(*conversation.Window) bool) error {
	known, err := s.BudgetWindows()
	for i := range known {
		if win := &known[i].Window; moved(win) {
			*win = conversation.Window{Start: -1, Request: -1, Opening: -1}
		}
	}
	if err == nil {
		WriteList(c, s, BudgetWindowsSlot, known, record.EncodeFits)
	}
	return err
}

// Of returns the window of a budget.
func (f BudgetWindows) Of(budget int64) (conversation.Window, bool) {
	for _, o := range f {
		if o.Budget == budget && o.Window.Start >= 0 {
			return o.Window, true
		}
	}
	return conversation.Window{}, false
}

// With returns the list with the window of a budget added as the most recent one.
func (f BudgetWindows) With(budget int64, win conversation.Window) BudgetWindows {
	out := slices.DeleteFunc(slices.Clone(f), func(o record.Fit) bool { return o.Budget == budget })
	out = append(out, record.Fit{Budget: budget, Window: win})
	return out[max(0, len(out)-MaxBudgetWindows):]
}

// Below returns the window of the nearest smaller budget.
func (f BudgetWindows) Below(budget int64) (conversation.Window, bool) {
	var nearest *record.Fit
	for i := range f {
		if o := &f[i]; o.Window.Start >= 0 && o.Budget < budget && (nearest == nil || o.Budget > nearest.Budget) {
			nearest = o
		}
	}
	if nearest == nil {
		return conversation.Window{}, false
	}
	return nearest.Window, true
}

// Largest is the largest budget; 0 if there are none.
func (f BudgetWindows) Largest() int64 {
	most := int64(0)
	for _, o := range f {
		most = max(most, o.Budget)
	}
	return most
}

// Outgrown reports whether a budget is so much larger than every remembered one that its window is found anew: a larger model reads
// everything anew anyway (behaviour §8).
func (f BudgetWindows) Outgrown(budget int64) bool {
	return len(f) > 0 && 2*budget > 3*f.Largest()
}

// Last reports whether the budget is the one that was used last.
func (f BudgetWindows) Last(budget int64) bool { return len(f) > 0 && f[len(f)-1].Budget == budget }

// Earliest is the earliest start of the windows and of otherwise.
func (f BudgetWindows) Earliest(otherwise int32) int32 {
	start := otherwise
	for _, o := range f {
		if o.Window.Start >= 0 {
			start = min(start, o.Window.Start)
		}
	}
	return start
}

package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// BudgetWindowsSlot holds the windows of the budgets that were built for last.
const BudgetWindowsSlot = BuildSlots + "fit"

// MaxBudgetWindows is for how many budgets the start of the window is remembered (behaviour §8).
const MaxBudgetWindows = 4

// BudgetWindows are the windows of the budgets that were built for last, the least recent first.
type BudgetWindows []record.Fit

// BudgetWindows are the windows that are remembered.
func (w *Loaded) BudgetWindows() (BudgetWindows, error) {
	return ReadSlot(w.Slots[BudgetWindowsSlot], record.DecodeFits, "the stored window is damaged")
}

// ForgetWindows lets windows be found anew. Their budgets stay remembered: the largest makes the summaries.
func (w *Loaded) ForgetWindows(c *store.Change, moved func(*conversation.Window) bool) error {
	known, err := w.BudgetWindows()
	for i := range known {
		if win := &known[i].Window; moved(win) {
			*win = conversation.Window{Start: -1, Request: -1, Opening: -1}
		}
	}
	if err == nil {
		WriteList(c, w, BudgetWindowsSlot, known, record.EncodeFits)
	}
	return err
}

// Of is the window of a budget.
func (f BudgetWindows) Of(budget int64) (conversation.Window, bool) {
	for _, o := range f {
		if o.Budget == budget && o.Window.Start >= 0 {
			return o.Window, true
		}
	}
	return conversation.Window{}, false
}

// With is the list with a budget's window put in, as the most recent.
func (f BudgetWindows) With(budget int64, win conversation.Window) BudgetWindows {
	out := slices.DeleteFunc(slices.Clone(f), func(o record.Fit) bool { return o.Budget == budget })
	out = append(out, record.Fit{Budget: budget, Window: win})
	return out[max(0, len(out)-MaxBudgetWindows):]
}

// Below is the window of the nearest smaller budget.
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

// Largest is the largest of the budgets; 0 for none.
func (f BudgetWindows) Largest() int64 {
	most := int64(0)
	for _, o := range f {
		most = max(most, o.Budget)
	}
	return most
}

// Outgrown says whether a budget is so much larger than every remembered one that its window is opened afresh: a larger model reads all
// anew anyway (behaviour §8).
func (f BudgetWindows) Outgrown(budget int64) bool {
	return len(f) > 0 && 2*budget > 3*f.Largest()
}

// Last says whether the budget is the one that was built for last.
func (f BudgetWindows) Last(budget int64) bool { return len(f) > 0 && f[len(f)-1].Budget == budget }

// Earliest is where the earliest of the windows starts.
func (f BudgetWindows) Earliest(otherwise int32) int32 {
	start := otherwise
	for _, o := range f {
		if o.Window.Start >= 0 {
			start = min(start, o.Window.Start)
		}
	}
	return start
}

package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

const fitSlot = slotPrefix + "fit"

// maxFits is for how many budgets the start of the window is remembered (behaviour §8).
const maxFits = 4

// forgottenFit is what is left of a window that is to be found anew: the largest budget makes the summaries, so that budgets are remembered.
func forgottenFit(f record.Fit) record.Fit {
	f.Window = conversation.Window{Start: -1, Request: -1, Opening: -1}
	return f
}

// fits are the windows of the budgets that were built for last, the least recent first.
type fits []record.Fit

func (w *window) fits() (fits, error) {
	value, ok := w.slots[fitSlot]
	if !ok {
		return nil, nil
	}
	f, err := record.DecodeFits(value)
	if err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the stored window is damaged").Because(err)
	}
	return f, nil
}

func (f fits) of(budget int64) (conversation.Window, bool) {
	for _, o := range f {
		if o.Budget == budget && o.Window.Start >= 0 {
			return o.Window, true
		}
	}
	return conversation.Window{}, false
}

// with is the list with a budget's window put in, as the most recent.
func (f fits) with(budget int64, win conversation.Window) fits {
	out := slices.DeleteFunc(slices.Clone(f), func(o record.Fit) bool { return o.Budget == budget })
	out = append(out, record.Fit{Budget: budget, Window: win})
	return out[max(0, len(out)-maxFits):]
}

// below is the window of the nearest smaller budget.
func (f fits) below(budget int64) (conversation.Window, bool) {
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

// outgrown says whether a budget is so much larger than every remembered one that its window is opened afresh: a larger model reads all
// anew anyway (behaviour §8).
func (f fits) outgrown(budget int64) bool {
	for _, o := range f {
		if 2*budget <= 3*o.Budget {
			return false
		}
	}
	return len(f) > 0
}

// last says whether the budget is the one that was built for last.
func (f fits) last(budget int64) bool { return len(f) > 0 && f[len(f)-1].Budget == budget }

// earliest is where the earliest of the windows starts.
func (f fits) earliest(otherwise int32) int32 {
	start := otherwise
	for _, o := range f {
		if o.Window.Start >= 0 {
			start = min(start, o.Window.Start)
		}
	}
	return start
}

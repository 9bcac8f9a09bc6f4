package engine

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const fitSlot = slotPrefix + "fit"

// maxFits is for how many budgets the start of the window is remembered (behaviour §8).
const maxFits = 4

// fit is the window in force for one budget.
type fit struct {
	Budget int64 `json:"budget"`
	Start  int32 `json:"start"` // below 0: it is to be found anew
	Anchor int32 `json:"anchor"`
	// Restored is as in conversation.Window.
	Restored int64 `json:"restored,omitempty"`
}

// fits are the windows of the budgets that were built for last, the least recent first.
type fits []fit

func (w *window) fits() (fits, error) {
	value, ok := w.slots[fitSlot]
	if !ok {
		return nil, nil
	}
	var f fits
	if err := json.Unmarshal(value, &f); err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the stored window is damaged").Because(err)
	}
	return f, nil
}

func (f fits) of(budget int64) (conversation.Window, bool) {
	for _, o := range f {
		if o.Budget == budget && o.Start >= 0 {
			return conversation.Window{Start: o.Start, Anchor: o.Anchor, Restored: o.Restored}, true
		}
	}
	return conversation.Window{}, false
}

// with is the list with a budget's window put in, as the most recent.
func (f fits) with(budget int64, win conversation.Window) fits {
	out := slices.DeleteFunc(slices.Clone(f), func(o fit) bool { return o.Budget == budget })
	out = append(out, fit{Budget: budget, Start: win.Start, Anchor: win.Anchor, Restored: win.Restored})
	return out[max(0, len(out)-maxFits):]
}

// last says whether the budget is the one that was built for last.
func (f fits) last(budget int64) bool { return len(f) > 0 && f[len(f)-1].Budget == budget }

// earliest is where the earliest of the windows starts.
func (f fits) earliest(otherwise int32) int32 {
	start := otherwise
	for _, o := range f {
		if o.Start >= 0 {
			start = min(start, o.Start)
		}
	}
	return start
}

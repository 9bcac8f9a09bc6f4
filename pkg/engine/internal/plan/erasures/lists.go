package erasures

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// DueSlot holds which messages have something to be erased, and when: they must be found wherever they are by then, in the
// view or not (behaviour §2).
const DueSlot = view.BuildSlots + "erase"

// MaxListed is how many entries the list holds: one for each message and turn in which something of it is due.
const MaxListed = 2048

// ParseDue reads the list of what is to be erased, and when.
func ParseDue(value []byte) ([]record.Erasure, error) {
	return view.ReadSlot(value, record.DecodeErasures, "the stored erasures are damaged")
}

// PrunedSlot holds which pruned results are to be erased, and when (behaviour §7, erase_after).
const PrunedSlot = view.BuildSlots + "reclaim"

// ParsePruned reads the list of pruned results that are to be erased, and when.
func ParsePruned(value []byte) ([]record.Reclaim, error) {
	return view.ReadSlot(value, record.DecodeReclaims, "the list of results to reclaim is damaged")
}

package txn

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Pending is the head that a second change is decided on before the first is committed: both become one version.
func Pending(first *store.Change) store.Head {
	h := first.Head
	h.Version--
	return h
}

// Join makes one change of two, of which the second was decided on what the first leaves (Pending). What both say of a slot, the second says.
func Join(first, second *store.Change) *store.Change {
	c := *second
	c.Expect, c.Aside = first.Expect, false
	if c.Info == nil {
		c.Info = first.Info
	}
	c.Messages = slices.Concat(first.Messages, second.Messages)
	c.Edits = slices.Concat(first.Edits, second.Edits)
	c.ReplaceManifests = slices.Concat(first.ReplaceManifests, second.ReplaceManifests)
	c.ReplaceMessages = slices.Concat(first.ReplaceMessages, second.ReplaceMessages)
	c.ReplaceEdits = slices.Concat(first.ReplaceEdits, second.ReplaceEdits)
	c.Uploads = slices.Concat(first.Uploads, second.Uploads)
	c.Release = slices.Concat(first.Release, second.Release)
	c.DropManifests = max(first.DropManifests, second.DropManifests)
	if first.DropOutcomes.After(second.DropOutcomes) {
		c.DropOutcomes = first.DropOutcomes
	}
	if c.Outcome == nil {
		c.Outcome = first.Outcome
	}
	c.Slots = joinSlots(first.Slots, second.Slots)
	c.ExpectSlots = joinSlots(second.ExpectSlots, first.ExpectSlots) // what the first expects holds before either
	c.Erases = first.Erases || second.Erases
	return &c
}

func joinSlots(under, over map[string][]byte) map[string][]byte {
	if len(under) == 0 {
		return over
	}
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}

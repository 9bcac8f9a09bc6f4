package txn

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
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
	c.ReplaceMessages = slices.Concat(first.ReplaceMessages, replaced(c.Messages, second.ReplaceMessages, sameMessage))
	c.ReplaceEdits = slices.Concat(first.ReplaceEdits, replaced(c.Edits, second.ReplaceEdits, sameEdit))
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

// replaced puts what replaces new records in their place, and returns what replaces records that are there before.
func replaced[T any](fresh, by []T, same func(a, b *T) bool) (rest []T) {
	for i := range by {
		at := slices.IndexFunc(fresh, func(f T) bool { return same(&f, &by[i]) })
		if at < 0 {
			rest = append(rest, by[i])
			continue
		}
		fresh[at] = by[i]
	}
	return rest
}

func sameMessage(a, b *conversation.Message) bool { return a.Index == b.Index }

func sameEdit(a, b *conversation.Edit) bool { return a.Seq == b.Seq }

func joinSlots(under, over map[string][]byte) map[string][]byte {
	if len(under) == 0 {
		return over
	}
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}

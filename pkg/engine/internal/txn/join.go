package txn

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Pending is the head on which a second change is decided before the first is committed. Both will be one version.
func Pending(first *store.Change) store.Head {
	h := first.Head
	h.Version--
	return h
}

// Join merges two changes, of which the second was decided on the head that Pending returned for the first. If both set a slot, the second
// wins.
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
	c.ExpectSlots = joinSlots(second.ExpectSlots, first.ExpectSlots) // the first change's expectations are about the time before both
	c.Erases = first.Erases || second.Erases
	return &c
}

// replaced applies replacements to records that are new in the same commit. It returns those for records that were there before.
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

package view

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// WithPending is the window as a change leaves it that is not committed yet: of new messages, edits and slots. texts are the contents that
// were staged for it. The window itself stays as it is; what units are written as, both remember.
func (w *Loaded) WithPending(c *store.Change, texts map[conversation.ID]string) *Loaded {
	out := *w
	out.Head, out.missing = txn.Pending(c), missing{}
	if c.Info != nil {
		out.Info, out.unborn = *c.Info, true
	}
	out.Slots = withSlots(w.Slots, c)
	// The array may be shared: nothing of a window that comes to nothing is used behind what the window itself holds.
	out.Messages = append(out.Messages, c.Messages...)
	out.loaded = conversation.MergeRanges(append(slices.Clone(w.loaded), conversation.Range{First: w.Head.Messages, End: c.Head.Messages}))
	out.Edits = slices.Concat(w.Edits, c.Edits)
	if len(c.Edits) > 0 {
		out.View = w.View.Fold(c.Edits)
	}
	out.contents, out.extraSlots = texts, maps.Clone(c.Slots)
	out.Originals = maps.Clone(w.Originals)
	return &out
}

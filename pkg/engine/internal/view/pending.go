package view

import (
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// WithPending returns the window as it is after a change that is not committed yet, with its messages, edits and slots. texts are the
// contents that were staged for the change. The window itself does not change, but both share the cache of written units.
func (w *Loaded) WithPending(c *store.Change, texts map[conversation.ID]string) *Loaded {
	out := *w
	out.Head = txn.Pending(c)
	if c.Info != nil {
		out.Info, out.notStored = *c.Info, true
	}
	out.Slots = withSlots(w.Slots, c)
	// The array may be shared: what lies behind the window's own messages is not read through the window.
	out.Messages = append(out.Messages, c.Messages...)
	out.loaded = conversation.MergeRanges(append(slices.Clone(w.loaded), conversation.Range{First: w.Head.Messages, End: c.Head.Messages}))
	out.Edits = slices.Concat(w.Edits, c.Edits)
	if len(c.Edits) > 0 {
		out.View = w.View.Fold(c.Edits)
	}
	out.Extras = Extras{contents: texts, slots: maps.Clone(c.Slots)}
	out.Originals = maps.Clone(w.Originals)
	return &out
}

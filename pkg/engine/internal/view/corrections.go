package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// applyCorrections applies the corrections to the loaded messages, so that whatever is made from them has the new words. The originals are
// kept as well: they are needed to rewrite or show the record.
func (w *Loaded) applyCorrections() {
	owned := false
	for _, index := range w.View.Corrections() {
		m, ok := w.Message(index)
		if !ok {
			continue
		}
		original := *w.Original(m)
		corrected := *w.View.Corrected(&original)
		if !owned { // earlier layouts point at the old messages
			w.Messages, owned, w.measured, w.bytes = slices.Clone(w.Messages), true, 0, 0
			m, _ = w.Message(index)
		}
		if w.Originals == nil {
			w.Originals = make(map[int32]conversation.Message)
		}
		w.Originals[index] = original
		*m = corrected
	}
}

// Original returns a loaded message as it was appended.
func (w *Loaded) Original(m *conversation.Message) *conversation.Message {
	if len(w.Originals) == 0 { // the usual case, and this is called for every message
		return m
	}
	if o, ok := w.Originals[m.Index]; ok {
		original := o
		return &original
	}
	return m
}

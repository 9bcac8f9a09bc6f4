package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// applyCorrections gives the messages of the window the words that corrections in its view gave them, so that nothing which is made of them
// knows the old ones. The originals are kept beside: what rewrites the record, or shows it, needs them.
func (w *Loaded) applyCorrections() {
	owned := false
	for _, index := range w.View.Corrections() {
		m, ok := w.Message(index)
		if !ok {
			continue
		}
		original := *w.Original(m)
		corrected := *w.View.Corrected(&original)
		if !owned { // views that were laid out before point at their messages
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

// Corrections is how many there are: they come with any message.
func (w *Loaded) Corrections() int {
	n := 0
	for i := range w.Edits {
		if w.Edits[i].Kind == conversation.EditCorrect {
			n++
		}
	}
	return n
}

// Original is a loaded message as it was appended.
func (w *Loaded) Original(m *conversation.Message) *conversation.Message {
	if len(w.Originals) == 0 { // as nearly always, and it is asked of every message
		return m
	}
	if o, ok := w.Originals[m.Index]; ok {
		original := o
		return &original
	}
	return m
}

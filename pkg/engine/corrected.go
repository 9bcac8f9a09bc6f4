package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// correct gives the messages of the window the words that corrections in its view gave them, so that nothing which is made of them
// knows the old ones. The originals are kept beside: what rewrites the record, or shows it, needs them.
func (w *window) correct() {
	owned := false
	for _, index := range w.view.Corrections() {
		m, ok := w.message(index)
		if !ok {
			continue
		}
		original := *w.original(m)
		corrected := *w.view.Corrected(&original)
		if !owned { // views that were laid out before point at their messages
			w.messages, owned = slices.Clone(w.messages), true
			m, _ = w.message(index)
		}
		if w.originals == nil {
			w.originals = make(map[int32]conversation.Message)
		}
		w.originals[index] = original
		*m = corrected
	}
}

// corrections is how many there are: they come with any message.
func (w *window) corrections() int {
	n := 0
	for i := range w.edits {
		if w.edits[i].Kind == conversation.EditCorrect {
			n++
		}
	}
	return n
}

// original is a loaded message as it was appended.
func (w *window) original(m *conversation.Message) *conversation.Message {
	if o, ok := w.originals[m.Index]; ok {
		return &o
	}
	return m
}

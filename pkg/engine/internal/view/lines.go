package view

import (
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/dedup"
)

// lineKey identifies a text, together with the correction that gave it its words.
type lineKey struct {
	message, part int32
	correction    int64
}

// Lines returns hashes of the lines of a text that formats write as lines. Other texts have none: JSON, for example, may be written as
// an object.
func (w *Loaded) Lines(m *conversation.Message, part int32) ([]uint64, error) {
	key := lineKey{m.Index, part, w.View.Correction(m.Index)}
	if known, ok := w.lines[key]; ok {
		return known, nil
	}
	text, ok := m.Parts[part].OneText()
	if !ok {
		return nil, nil
	}
	texts, err := w.Texts(text)
	if err != nil {
		return nil, err
	}
	var lines []uint64
	if content.KindOf("", texts[0]) != content.KindJSON {
		lines = dedup.Hash(texts[0])
	}
	if w.lines == nil {
		w.lines = make(map[lineKey][]uint64)
	}
	w.lines[key] = lines
	return lines, nil
}

// trimLines drops the lines of messages that are no longer loaded.
func (w *Loaded) trimLines() {
	maps.DeleteFunc(w.lines, func(k lineKey, _ []uint64) bool {
		_, ok := w.Message(k.message)
		return !ok
	})
}

// sizeOfLine is about how many bytes a line takes in memory.
const sizeOfLine = 8

func (w *Loaded) sizeOfLines() int64 {
	n := int64(0)
	for _, lines := range w.lines {
		n += int64(cap(lines))*sizeOfLine + 64
	}
	return n
}

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

// lineCache holds the lines of texts that deduplication has looked at.
type lineCache map[lineKey][]uint64

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
	texts, err := w.Extras.Texts(text)
	if err != nil {
		return nil, err
	}
	var lines []uint64
	if content.KindOf("", texts[0]) != content.KindJSON {
		lines = dedup.Hash(texts[0])
	}
	if w.lines == nil {
		w.lines = make(lineCache)
	}
	w.lines[key] = lines
	return lines, nil
}

// keep drops the lines of all texts but those that match.
func (l lineCache) keep(matches func(lineKey) bool) {
	maps.DeleteFunc(l, func(k lineKey, _ []uint64) bool { return !matches(k) })
}

// sizeOfLine is about how many bytes a line takes in memory.
const sizeOfLine = 8

// size is about how many bytes the lines take in memory.
func (l lineCache) size() int64 {
	n := int64(0)
	for _, lines := range l {
		n += int64(cap(lines))*sizeOfLine + 64
	}
	return n
}

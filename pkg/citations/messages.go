package citations

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Messages is a run of messages made ready to be searched, as whole messages. It may be added to, and searched by several at once
// while nobody adds.
type Messages struct {
	// data holds each message: the difference of its index to the one before it, its number of words and of terms, and its terms in
	// order, see appendTerms.
	data  []byte
	last  int32
	count int
	langs uint32 // in which languages their words were stemmed, a bit each
}

// Add adds a message. Indices rise. The text is not kept.
func (m *Messages) Add(index int32, text string) {
	lang := languageOf(text)
	m.langs |= 1 << lang
	l := newLexer(lang)
	l.singles = false // to be smaller than the text
	words, terms := 0, make([]messageTerm, 0, len(text)/6)
	l.scan(text, 0, len(text), func(t token) {
		terms = append(terms, messageTerm(t.term>>termShift))
		words++
	})
	slices.Sort(terms)
	m.data = binary.AppendUvarint(m.data, uint64(uint32(index-m.last)))
	m.data = binary.AppendUvarint(m.data, uint64(words))
	m.data = appendTerms(m.data, terms)
	m.last = index
	m.count++
}

// Size is what it holds in memory, in bytes: about half as much as the text of the messages, and more only for messages of a word.
func (m *Messages) Size() int64 { return int64(unsafe.Sizeof(*m)) + int64(cap(m.data)) }

package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Messages is a run of messages prepared for search as whole messages. Concurrent searches are safe while nothing is added.
//
// It stores the terms of the messages in sequence as codes, which each search scans from end to end: a few nanoseconds per term for any
// query, and smaller than the texts, because no table of terms is needed.
type Messages struct {
	codes   []byte
	entries []messageEntry
	spoken  uint32   // bit set of the messages' languages
	last    language // the language last detected in a message
}

// messageEntry is a message among the codes.
type messageEntry struct {
	index    int32
	size     uint32 // bytes of codes
	opening  uint8  // number of terms before an opening colon: a speaker's name, a title
	question bool
}

// Add adds a message; indices must increase. The text is not kept. Only the first 2 GiB of a text are searched.
func (m *Messages) Add(index int32, text string) {
	text = text[:min(len(text), math.MaxInt32)]
	lang := m.language(text)
	m.spoken |= 1 << lang
	colon := int32(openingOf(text))
	e, before := messageEntry{index: index, question: endsWithQuestion(text)}, len(m.codes)
	newLexer(lang).scan(text, 0, len(text), func(t token) {
		var ok bool
		if m.codes, ok = appendCode(m.codes, t, text); ok && t.to <= colon && e.opening < math.MaxUint8 {
			e.opening++
		}
	})
	e.size = uint32(len(m.codes) - before)
	m.entries = append(m.entries, e)
}

// Replacing returns the run with another text in place of one message's, as a list of runs. They share memory with it where possible.
func (m *Messages) Replacing(index int32, text string) []*Messages {
	at, from := 0, uint32(0)
	for at < len(m.entries) && m.entries[at].index < index {
		from += m.entries[at].size
		at++
	}
	if at == len(m.entries) || m.entries[at].index != index {
		return []*Messages{m}
	}
	to, replaced := from+m.entries[at].size, &Messages{}
	replaced.Add(index, text)
	return []*Messages{
		{codes: slices.Clip(m.codes[:from]), entries: slices.Clip(m.entries[:at]), spoken: m.spoken}, replaced,
		{codes: m.codes[to:], entries: m.entries[at+1:], spoken: m.spoken},
	}
}

// Size returns the memory it takes, in bytes: at most as much as the texts of the messages, except for texts of one-letter words and for
// runs of a few words.
func (m *Messages) Size() int64 {
	return int64(unsafe.Sizeof(*m)) + int64(cap(m.codes)) + int64(cap(m.entries))*int64(unsafe.Sizeof(messageEntry{}))
}

// language returns the language of a message; a short message without evidence inherits that of the one before it. If that is wrong, words
// are still found in the form they are searched for, because query words are stemmed in all languages of the messages.
func (m *Messages) language(text string) language {
	const short = 200 // bytes
	if lang := languageOf(text); lang != 0 || len(text) > short {
		m.last = lang
	}
	return m.last
}

// openingOf returns the end of the name or title before a colon at the start of a text; 0 if there is none.
func openingOf(text string) int {
	const longest = 48 // bytes
	at := strings.IndexAny(content.Head(text, longest), ":：.。!?\n,;{[(\"")
	if at > 0 && (text[at] == ':' || strings.HasPrefix(text[at:], "：")) {
		return at
	}
	return 0
}

// endsWithQuestion reports whether a text ends with a question, or nearly.
func endsWithQuestion(text string) bool {
	const near = 200 // bytes
	return strings.ContainsAny(text[content.RuneStart(text, max(0, len(text)-near)):], "?？؟")
}

// appendCode appends the code of a term: three bytes for a word, two for a character of a script without spaces; the first bit tells which.
// Runs of such characters have no code: their characters identify them.
func appendCode(codes []byte, t token, text string) ([]byte, bool) {
	if r, _ := utf8.DecodeRuneInString(text[t.from:]); !gramScript(r) {
		c := wordCode(t.term)
		return append(codes, byte(c>>16), byte(c>>8), byte(c)), true
	}
	if !isSingleCharacter(text[t.from:t.to]) {
		return codes, false
	}
	c := gramCode(t.term)
	return append(codes, byte(c>>8)|gramBit, byte(c)), true
}

// gramBit is the first bit of a character's code.
const gramBit = 0x80

// codeSize returns the size of a code, given its first byte.
func codeSize(first byte) int {
	if first&gramBit != 0 {
		return 2
	}
	return 3
}

// wordCode returns 23 bits of a word's term. Collisions, one in eight million, do no harm.
func wordCode(t term) uint32 { return uint32(t) >> 9 }

// gramCode returns 15 bits of a character's term. Single characters have little weight, and runs of them are unambiguous.
func gramCode(t term) uint32 { return uint32(t) >> 17 }

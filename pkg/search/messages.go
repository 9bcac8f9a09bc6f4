package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Messages is a run of messages made ready to be searched, as whole messages. It may be added to, and searched by several at once
// while nobody adds.
//
// It is the terms of the messages as they follow each other, as codes, to be read from end to end at each search: a few nanoseconds
// each, whatever is looked for, and smaller than the texts, because no table of terms is needed.
type Messages struct {
	codes   []byte
	entries []messageEntry
	spoken  uint32   // the languages of the messages, a bit each
	last    language // the last that a message has shown
}

// messageEntry is a message among the codes.
type messageEntry struct {
	index    int32
	size     uint32 // bytes of codes
	opening  uint8  // how many terms stand before a colon that it begins with: a speaker's name, a title
	question bool
}

// Add adds a message. Indices rise. The text is not kept. Of a text over 2 GiB, the first 2 GiB are searched.
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

// Replacing returns the run with another text in the place of a message's, as the runs that this takes. They share what they can with it.
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

// Size returns what it holds in memory, in bytes: at most as much as the text of the messages, but for texts of next to nothing but words
// of one letter, and for runs of a few words.
func (m *Messages) Size() int64 {
	return int64(unsafe.Sizeof(*m)) + int64(cap(m.codes)) + int64(cap(m.entries))*int64(unsafe.Sizeof(messageEntry{}))
}

// language returns what a message is written in: a short one that shows none, in that of the one before it. Where that is wrong, words are
// found in the forms they are looked for in, because a query's words are looked for as all languages of the messages stem them.
func (m *Messages) language(text string) language {
	const short = 200 // bytes
	if lang := languageOf(text); lang != 0 || len(text) > short {
		m.last = lang
	}
	return m.last
}

// openingOf returns where the name or title ends that a text begins with, before a colon; 0 if there is none.
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

// appendCode appends the code of a term: three bytes for a word, two for a character of a script without spaces, told apart by the
// first bit. Runs of such characters have none: they are known again by their characters.
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

// gramBit is the first bit of a code that is a character's.
const gramBit = 0x80

// codeSize returns how many bytes a code has that begins with a byte.
func codeSize(first byte) int {
	if first&gramBit != 0 {
		return 2
	}
	return 3
}

// wordCode is 23 bits of a word's term. That another word has the same code, once in eight million, does no harm.
func wordCode(t term) uint32 { return uint32(t) >> 9 }

// gramCode is 15 bits of a character's term. Characters are looked for by themselves, where they weigh little, and in runs.
func gramCode(t term) uint32 { return uint32(t) >> 17 }

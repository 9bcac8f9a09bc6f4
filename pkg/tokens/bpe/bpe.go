// Package bpe counts tokens exactly, with the published byte-pair vocabularies.
//
// The vocabularies come embedded in a library. The counting is our own: it needs no ids, so it splits and merges without allocating,
// several times faster than the library, and in near-linear time on any input. Tests hold it to the library's counts.
package bpe

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// The names of the vocabularies.
const (
	O200k  = "o200k"
	Cl100k = "cl100k"
)

// encoding is a vocabulary in the library, the number of its tokens without special ones, and the rules of its splitting.
type encoding struct {
	library tokenizer.Encoding
	size    int
	word    func(t *classes, text string, i int) int
	slash   bool
}

func encodingOf(name string) (encoding, bool) {
	switch name {
	case O200k:
		return encoding{tokenizer.O200kBase, 199998, wordO200k, true}, true
	case Cl100k:
		return encoding{tokenizer.Cl100kBase, 100256, wordCl100k, false}, true
	}
	return encoding{}, false
}

// Counter implements tokens.Counter with one vocabulary. It is safe for concurrent use. The first Count loads the vocabulary, which takes
// some dozens of milliseconds and megabytes, so share one Counter.
type Counter struct {
	name string
	load func() *model
}

// model is what counting needs, once it is loaded.
type model struct {
	vocabulary *vocabulary
	splitter   splitter
}

// New returns the counter of the vocabulary with this name, [O200k] or [Cl100k], and an error for any other name.
func New(name string) (*Counter, error) {
	e, ok := encodingOf(name)
	if !ok {
		return nil, fmt.Errorf("bpe: no vocabulary is named %q", name)
	}
	return &Counter{name: name, load: sync.OnceValue(func() *model { return newModel(e) })}, nil
}

// newModel panics if the library lacks what it embeds: no input leads there.
func newModel(e encoding) *model {
	v, err := loadVocabulary(e)
	if err != nil {
		panic(fmt.Sprintf("bpe: the embedded vocabulary %s is broken: %v", e.library, err))
	}
	return &model{v, splitter{newClasses(), e.word, e.slash}}
}

// Name returns the name given to New.
func (c *Counter) Name() string { return c.name }

// Count returns the tokens of text: exactly up to [tokens.SampleAbove] bytes, extrapolated from a sample above. What looks like a special
// token, such as "<|endoftext|>", is counted as plain text. An invalid UTF-8 byte counts as the replacement character U+FFFD, as it
// would be sent.
func (c *Counter) Count(text string) (n int, estimated bool) {
	return tokens.Sample(text, c.load().count)
}

func (m *model) count(text string) int {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	total := 0
	for start := 0; start < len(text); {
		end := m.splitter.next(text, start)
		total += m.vocabulary.count(text[start:end])
		start = end
	}
	return total
}

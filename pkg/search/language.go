package search

import (
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// language is an index into languageTable: the language of a text in Latin letters.
type language uint8

// languageTable lists the languages in Latin letters, by the names in the list of function words, with their stemmers if any. The first is
// the default.
var languageTable = [...]struct {
	name string
	stem func(*snowballstem.Env) bool
}{
	{"english", english.Stem},
	{"spanish", spanish.Stem},
	{"french", french.Stem},
	{"german", german.Stem},
	{"italian", italian.Stem},
	{"portuguese", portuguese.Stem},
	{"dutch", dutch.Stem},
	{"swedish", swedish.Stem},
	{"danish", danish.Stem},
	{"norwegian", norwegian.Stem},
	{"finnish", finnish.Stem},
	{"hungarian", hungarian.Stem},
	{"romanian", romanian.Stem},
	{"turkish", turkish.Stem},
	{"polish", nil},
	{"czech", nil},
	{"indonesian", nil},
	{"vietnamese", nil},
}

// latinLanguages are the bits of the languages in Latin letters; other scripts identify their languages.
const latinLanguages uint32 = 1<<len(languageTable) - 1

// languageCensus counts the distinct words of a text, and the function words of each language among them. Each word counts once, because
// repetition in data says nothing about the language around it.
type languageCensus struct {
	seen   map[string]struct{}
	counts [len(languageTable)]int
}

func (c *languageCensus) add(word string) {
	word = stripDiacritics(fold(word))
	if _, ok := c.seen[word]; ok || len(word) < 2 {
		return
	}
	c.seen[word] = struct{}{}
	for in := functionWords[word] & latinLanguages; in != 0; in &= in - 1 {
		c.counts[bits.TrailingZeros32(in)]++
	}
}

// A language needs this share of function words among all words: one in minShare, or one in minClearShare if hardly any are English. The
// latter is for languages with endings where others have words.
const (
	minShare      = 12
	minClearShare = 20
	minClearCount = 5 // function words
)

// language returns the language with the most function words, if they are more than chance would give and more than the English ones.
func (c *languageCensus) language() language {
	best := 0
	for l, n := range c.counts {
		if n > c.counts[best] {
			best = l
		}
	}
	share := minShare
	if c.counts[best] >= max(minClearCount, 3*c.counts[0]) {
		share = minClearShare
	}
	if c.counts[best] < 2 || c.counts[best]*share < len(c.seen) || (len(c.seen) > fewWords && c.counts[best] < 4) {
		return 0
	}
	return language(best)
}

// fewWords is the number of distinct words of a question, in which two function words identify a language.
const fewWords = 24

// Of a long text, only samples are counted.
const (
	censusStretches = 8
	censusWords     = 40 // of each
)

// languageOf detects the language of a text from samples.
func languageOf(text string) language {
	c := languageCensus{seen: map[string]struct{}{}}
	step := max(len(text)/censusStretches, 2048)
	for from := 0; from < len(text); from += step {
		c.stretch(text[from:min(from+2048, len(text))])
	}
	return c.language()
}

func (c *languageCensus) stretch(text string) {
	words, start := 0, -1
	for i, r := range text {
		letter := unicode.Is(unicode.Latin, r) || (start >= 0 && unicode.Is(unicode.M, r))
		switch {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			c.add(text[start:i])
			start = -1
			words++
		}
		if words == censusWords {
			return
		}
	}
	if start >= 0 && len(text)-start < maxWordBytes && utf8.ValidString(text[start:]) {
		c.add(text[start:])
	}
}

// functionWord reports whether a folded word is a function word, in the language or in one with a script of its own.
func (l language) functionWord(word string) bool {
	return functionWords[stripDiacritics(word)]&(1<<l|^latinLanguages) != 0
}

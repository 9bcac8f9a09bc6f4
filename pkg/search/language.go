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

// language is an index into languageTable: what a text in Latin letters is written in.
type language uint8

// languageTable holds the languages in Latin letters, by the names under which their function words are listed, and how they are stemmed,
// if they are. The first is what a text is taken for that shows none.
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

// latinLanguages are the bits of the languages in Latin letters: those of other scripts need not be told apart.
const latinLanguages uint32 = 1<<len(languageTable) - 1

// languageCensus counts how many different words a text has, and how many of them are function words of each language. Each word counts once:
// what data repeats says nothing of the language around it.
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

// A language is told by this many function words among all: one in leastShare, or in clearShare where hardly any are English. The latter
// is for those that put into endings what others have words for.
const (
	minShare      = 12
	minClearShare = 20
	minClearCount = 5 // function words
)

// language returns the one with the most function words, if they are more than chance gives and more than English ones.
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

// fewWords is how many different words a question may have, where two function words tell a language.
const fewWords = 24

// Of a long text, stretches are looked at.
const (
	censusStretches = 8
	censusWords     = 40 // of each
)

// languageOf looks at a text in several places.
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

// functionWord reports whether a folded word says nothing by itself, in the language or in one with a script of its own.
func (l language) functionWord(word string) bool {
	return functionWords[stripDiacritics(word)]&(1<<l|^latinLanguages) != 0
}

package search

import (
	"math"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Snippet returns the part of a text that answers a query best, at most maxChars characters, cut at sentence or line borders where
// possible; the beginning if nothing in it answers. A short text is returned whole.
func Snippet(q *Query, text string, maxChars int) string {
	switch {
	case maxChars <= 0:
		return ""
	case len(text) <= maxChars || charsWithin(text, int32(min(maxChars, math.MaxInt32))):
		return text
	}
	text = text[:min(len(text), math.MaxInt32-blockBytes)]
	d := &Document{reading: &content.Reading{Kind: content.KindText, Content: text, Text: text}, text: text, lang: languageOf(text)}
	s := NewSearch(q, Options{Max: 1})
	s.options.MaxChars = min(maxChars, math.MaxInt32/utf8.UTFMax)
	c := s.count(0, d)
	s.scorer.weigh(s.df, s.blocks)
	best := passage{}
	for _, w := range s.passages(&c) {
		if whole := s.wholePhrase(w.phrases) - s.wholePhrase(best.phrases); whole > 0 || whole == 0 && w.score > best.score {
			best = w
		}
	}
	if best.score == 0 {
		return d.beginning(s.options.MaxChars)
	}
	return text[best.from:best.to]
}

// beginning returns at most chars characters from the start of a text, up to the end of a sentence or line if that leaves half of them.
func (d *Document) beginning(chars int) string {
	cut := content.CutClusters(d.text, chars)
	near := segments(d.reading, 0, len(cut), int32(chars))
	switch n := len(near); {
	case n == 0:
		return ""
	case n > 1 && int(near[n-2].to) > len(cut)/2:
		return cut[near[0].from:near[n-2].to]
	default:
		return cut[near[0].from:near[n-1].to]
	}
}

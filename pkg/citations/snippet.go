package citations

import (
	"math"
	"unicode/utf8"
)

// Snippet is the part of a text that answers a query best, at most maxChars characters, cut at borders of sentences or lines where that
// can be had: its beginning, if nothing in it does. A short text is its own snippet.
func Snippet(q *Query, text string, maxChars int) string {
	switch {
	case maxChars <= 0:
		return ""
	case len(text) <= maxChars || charsWithin(text, int32(min(maxChars, math.MaxInt32))):
		return text
	}
	text = text[:min(len(text), math.MaxInt32-blockBytes)]
	d := &Document{reading: &Reading{Kind: KindText, Content: text, Text: text}, text: text, lang: languageOf(text)}
	s := NewSearch(q, Options{Max: 1})
	s.options.MaxChars = min(maxChars, math.MaxInt32/utf8.UTFMax)
	best := window{}
	for _, w := range s.look(d) {
		if whole := s.wholePhrase(w.phrases) - s.wholePhrase(best.phrases); whole > 0 || whole == 0 && w.score > best.score {
			best = w
		}
	}
	if best.score == 0 {
		return d.beginning(int32(s.options.MaxChars))
	}
	return text[best.from:best.to]
}

// beginning is as many of the first segments as have at most so many characters.
func (d *Document) beginning(chars int32) string {
	near := segments(d.reading, 0, runeStart(d.text, min(len(d.text), utf8.UTFMax*int(chars))), chars)
	end := int32(0)
	for _, s := range near {
		if s.after-near[0].first <= chars {
			end = s.to
		}
	}
	if end == 0 {
		return ""
	}
	return d.text[near[0].from:end]
}

package citations

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Snippet is the part of a text that answers a query best, at most maxChars characters, which are at most MaxExcerptChars: cut at
// borders of sentences or lines where they are near, never inside a character with its marks. A short text is its own snippet, and of
// a text that answers nothing it is the beginning.
func Snippet(q *Query, text string, maxChars int) string {
	maxChars = min(maxChars, MaxExcerptChars)
	if maxChars <= 0 || charsWithin(text, int32(maxChars)) {
		return text[:min(len(text), max(0, maxChars)*utf8.UTFMax)]
	}
	s := NewSearch(q, Options{Max: 1, MaxChars: maxChars})
	s.Add(0, &Document{reading: Read(KindText, text), text: text, lang: languageOf(text)})
	if best := s.Excerpts(); len(best) > 0 {
		return best[0].Text
	}
	return wholeClusters(text, maxChars)
}

// wholeClusters is at most so many characters of the beginning of a text.
func wholeClusters(text string, chars int) string {
	to, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if chars -= utf8.RuneCountInString(cluster); chars < 0 {
			break
		}
		to += len(cluster)
	}
	return text[:to]
}

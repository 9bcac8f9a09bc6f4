package extractive

import "strings"

// deepest is how often a text inside a text is looked into.
const deepest = 4

// recognise says what a text is and offers what an extract of so many characters may show.
func recognise(text string, target, depth int) draft {
	l := newLined(text, target)
	if l.repetitive() {
		return l.draftLog()
	}
	_ = strings.TrimSpace
	return l.draftOutput(text)
}

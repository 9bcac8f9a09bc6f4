package extractive

import (
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// source is a text to be shortened, or a text inside one.
type source struct {
	text string
	// target is the maximum length of the extract in characters, line the number of lines before the text, depth the number of texts around
	// it.
	target, line, depth int
	// lines are the text's lines, units what they are judged by; both are set for the readers of lines.
	lines []string
	units []choice.Unit
}

// maxDepth limits how deep texts inside texts are examined.
const maxDepth = 4

// recognize detects what a text is and offers what its extract may show.
func recognize(s source) draft {
	if d, ok := readFirst(s, readJSON, readWrapped, readPage); ok {
		return d
	}
	s.lines = splitLines(s.text)
	s.units = Units(s.lines, s.line)
	if d, ok := readFirst(s, readDiff, readMatches, readTabular, readMarkdown, readCode, readPaths); ok {
		return d
	}
	l := newLineText(s)
	switch {
	case l.repetitive():
		return l.draftLog(s.text)
	case l.isProse():
		return draftProse(s)
	}
	return l.draftOutput(s.text)
}

// readFirst returns the draft of the first reader that recognizes the text.
func readFirst(s source, readers ...func(source) (draft, bool)) (draft, bool) {
	for _, read := range readers {
		if d, ok := read(s); ok {
			return d, true
		}
	}
	return draft{}, false
}

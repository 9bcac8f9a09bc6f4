package extractive

import (
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// source is a text that something is to be said about, or a text inside one.
type source struct {
	text string
	// target is how many characters the extract may have, line how many lines stand before the text, depth how many texts
	// it is inside of.
	target, line, depth int
	// lines are the text's, units what they are judged by; they are set for the readers of lines.
	lines []string
	units []choice.Unit
}

// maxDepth is how often a text inside a text is looked into.
const maxDepth = 4

// recognize returns what a text is and offers what its extract may show.
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

// readFirst returns what the first of several readers that recognizes a text offers for it.
func readFirst(s source, readers ...func(source) (draft, bool)) (draft, bool) {
	for _, read := range readers {
		if d, ok := read(s); ok {
			return d, true
		}
	}
	return draft{}, false
}

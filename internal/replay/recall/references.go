package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// minReference is the length in characters from which a word is a reference.
const minReference = 6

// References is a set of references: paths, ids, names in code.
type References map[string]struct{}

// ReferencesOf are the references of what items say.
func ReferencesOf(items []validate.Item) References {
	w := References{}
	for text := range saidIn(items) {
		w.scan(text)
	}
	return w
}

// scan takes the references of a text in. A backslash begins an escape, as in
// JSON inside a text, and ends a word.
func (w References) scan(text string) {
	start := -1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if inWord(r) {
			if start < 0 {
				start = i
			}
			i += size
			continue
		}
		w.take(text, start, i)
		start = -1
		i += size
		if r == '\\' && i < len(text) && strings.IndexByte(`ntr"/`, text[i]) >= 0 {
			i++
		}
	}
	w.take(text, start, len(text))
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '/' || r == '.' || r == '-'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (w References) take(text string, start, end int) {
	if start < 0 {
		return
	}
	word := strings.TrimRight(strings.TrimLeft(text[start:end], ".-"), ".-/")
	if isReference(word) {
		w[word] = struct{}{}
	}
}

// isReference: six characters or more, with a digit, '/', '_' or an inner dot.
func isReference(word string) bool {
	return utf8.RuneCountInString(word) >= minReference && strings.ContainsAny(word, "0123456789/_.")
}

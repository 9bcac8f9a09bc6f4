package replay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// minReference is the length in characters from which a word is a reference.
const minReference = 6

// references is a set of references: paths, ids, names in code.
type references map[string]struct{}

// add takes the references of an item in.
func (w references) add(item validate.Item) {
	for _, text := range saidIn(item) {
		w.scan(text)
	}
}

// scan takes the references of a text in. A backslash begins an escape, as in
// JSON inside a text, and ends a word.
func (w references) scan(text string) {
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

func (w references) take(text string, start, end int) {
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

// recall measures how many of the next message's references, of those that the
// conversation had already made, the context still holds.
func (c *conversation) recall(next *pb.Message, blocks []validate.Block) {
	wanted := references{}
	for _, item := range messageOf(next).Items {
		wanted.add(item)
	}
	for word := range wanted {
		if _, ok := c.said[word]; ok {
			c.references.count(holds(c.words, references.add, blocks, word))
		}
	}
}

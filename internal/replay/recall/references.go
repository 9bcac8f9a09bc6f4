package recall

import (
	"hash/maphash"
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

// shingleWords is how many words in a row make a shingle: so few stand twice by chance.
const shingleWords = 8

// Shingles is a set of runs of words, by their hashes.
type Shingles map[uint64]struct{}

// Shingler hashes words. The seed is one for a whole replay, so that sets can be compared.
type Shingler struct{ seed maphash.Seed }

// NewShingler returns one whose shingles compare with no other's.
func NewShingler() Shingler { return Shingler{maphash.MakeSeed()} }

// Of are the shingles of what items say.
func (s Shingler) Of(items []validate.Item) Shingles {
	into := Shingles{}
	for text := range saidIn(items) {
		s.scan(into, text)
	}
	return into
}

// scan takes the shingles of a text in. White space parts words, and how much of it there is says nothing.
func (s Shingler) scan(into Shingles, text string) {
	var words [shingleWords]uint64
	n := 0
	for word := range strings.FieldsSeq(text) {
		words[n%shingleWords] = maphash.String(s.seed, word)
		if n++; n >= shingleWords {
			into[join(&words, n%shingleWords)] = struct{}{}
		}
	}
}

// join makes one hash of those of the words, the oldest first.
func join(words *[shingleWords]uint64, oldest int) uint64 {
	h := uint64(14695981039346656037) // FNV-1a over whole hashes
	for i := range shingleWords {
		h = (h ^ words[(oldest+i)%shingleWords]) * 1099511628211
	}
	return h
}

package recall

import (
	"hash/maphash"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

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

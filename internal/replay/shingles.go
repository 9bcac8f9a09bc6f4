package replay

import (
	"hash/maphash"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// shingleWords is how many words in a row make a shingle: so few stand twice by chance.
const shingleWords = 8

// shingles is a set of runs of words, by their hashes.
type shingles map[uint64]struct{}

// shingler hashes words. The seed is one for a whole replay, so that sets can be compared.
type shingler struct{ seed maphash.Seed }

// add takes the shingles of an item in: of its words, and of what a call is given.
func (s shingler) add(into shingles, item validate.Item) {
	for _, text := range saidIn(item) {
		s.scan(into, text)
	}
}

// scan takes the shingles of a text in. White space parts words, and how much of it there is says nothing.
func (s shingler) scan(into shingles, text string) {
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

// contentRecall measures how much of what the next message repeats of the conversation, word by word, the context still holds.
func (c *conversation) contentRecall(next *pb.Message, blocks []validate.Block) {
	wanted := shingles{}
	for _, item := range messageOf(next).Items {
		c.shingler.add(wanted, item)
	}
	for s := range wanted {
		_, foreign := c.othersSaid[s]
		_, own := c.agentSaid[s]
		if !own && !foreign {
			continue
		}
		held := holds(c.blockShingles, c.shingler.add, blocks, s)
		c.content.count(held)
		if foreign {
			c.foreignContent.count(held)
		}
	}
}

// saidShingles takes in what a message says: the assistant's words are the agent's own, all others are not.
func (c *conversation) saidShingles(m validate.Message) {
	into := c.othersSaid
	if m.Role == "assistant" {
		into = c.agentSaid
	}
	for _, item := range m.Items {
		c.shingler.add(into, item)
	}
}

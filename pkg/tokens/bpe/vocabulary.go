package bpe

import (
	"math"

	"github.com/tiktoken-go/tokenizer"
)

// noRank marks a string that is not a token.
const noRank = math.MaxUint32

// longestToken is the size, in bytes, above which no vocabulary has a token.
const longestToken = 128

// vocabulary maps each token to its rank: the lower, the earlier it is merged.
type vocabulary struct {
	ranks map[string]uint32
	// pairs holds the ranks of all strings of two bytes, by value: half of all look-ups are for them.
	pairs [1 << 16]uint32
}

// loadVocabulary copies the tokens out of the library, which does not show its own table. It takes some dozens of milliseconds.
func loadVocabulary(e encoding) (*vocabulary, error) {
	codec, err := tokenizer.Get(e.library)
	if err != nil {
		return nil, err
	}
	v := &vocabulary{ranks: make(map[string]uint32, e.size)}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	for id := range uint32(e.size) {
		token, err := codec.Decode([]uint{uint(id)})
		if err != nil {
			return nil, err
		}
		v.add(token, id)
	}
	return v, nil
}

func (v *vocabulary) add(token string, rank uint32) {
	v.ranks[token] = rank
	if len(token) == 2 {
		v.pairs[pairIndex(token)] = rank
	}
}

// rank returns the rank of s, at least two bytes long, or noRank.
func (v *vocabulary) rank(s string) uint32 {
	if len(s) == 2 {
		return v.pairs[pairIndex(s)]
	}
	if len(s) > longestToken {
		return noRank
	}
	if rank, ok := v.ranks[s]; ok {
		return rank
	}
	return noRank
}

func pairIndex(s string) int { return int(s[0])<<8 | int(s[1]) }

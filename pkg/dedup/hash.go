package dedup

import "strings"

// FNV-1a, with 64 bits. Hashes are the same in every process, so that what is found is too.
const (
	hashOffset = 14695981039346656037
	hashPrime  = 1099511628211
)

// blankBit is set in the hash of a line of white space alone.
const blankBit = 1

// Hash returns a hash for each line of a text. A line ends before its line feed; what follows the last one is a line too.
func Hash(text string) []uint64 {
	out := make([]uint64, 0, strings.Count(text, "\n")+1)
	h, blank := uint64(hashOffset), true
	for i := range len(text) {
		c := text[i]
		if c == '\n' {
			out = append(out, lineHash(h, blank))
			h, blank = hashOffset, true
			continue
		}
		h = (h ^ uint64(c)) * hashPrime
		blank = blank && (c == ' ' || c == '\t' || c == '\r')
	}
	return append(out, lineHash(h, blank))
}

func lineHash(h uint64, blank bool) uint64 {
	if blank {
		return h | blankBit
	}
	return h &^ blankBit
}

func isBlank(h uint64) bool { return h&blankBit != 0 }

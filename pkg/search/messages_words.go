package search

import "math/bits"

// messageWords finds the words of a query among message codes. It is immutable once built.
type messageWords struct {
	keys  []uint64 // an open hash table, at most half full: 0 is free
	words []int32
	codes codeSet // of the words
	grams codeSet // of the last characters of runs
}

// newMessageWords indexes the words of a query as the languages stem them.
func newMessageWords(q *Query, spoken uint32) *messageWords {
	b := newQueryTermIndex(q)
	for ; spoken != 0; spoken &= spoken - 1 {
		b.add(language(bits.TrailingZeros32(spoken)))
	}
	n := 0
	for _, terms := range b.terms {
		n += max(1, len(terms))
	}
	size := 2 << bits.Len(uint(n))
	w := &messageWords{keys: make([]uint64, size), words: make([]int32, size)}
	l := newLexer(q.lang)
	for i, terms := range b.terms {
		if q.words[i].gram {
			key := runKey(l, q.words[i].text)
			w.grams.add(key)
			w.put(key, int32(i))
			continue
		}
		for _, t := range terms {
			w.codes.add(uint64(wordCode(t)))
			w.put(wordKey(wordCode(t)), int32(i))
		}
	}
	return w
}

// The keys of words, of characters, and of runs of two and three: up to three codes, with their number in the top bits.
const (
	keyShift = 60
	gramBits = 15
	gramMask = 1<<gramBits - 1
)

func wordKey(code uint32) uint64 { return 1<<63 | uint64(code) }

func gramKey(n int, codes uint64) uint64 {
	return uint64(n)<<keyShift | codes&(1<<(n*gramBits)-1)
}

// runKey returns the key of a run of characters.
func runKey(l *lexer, text string) uint64 {
	n, codes := 0, uint64(0)
	l.scan(text, 0, len(text), func(t token) {
		if isSingleCharacter(text[t.from:t.to]) {
			n++
			codes = codes<<gramBits | uint64(gramCode(t.term))
		}
	})
	return gramKey(min(n, 3), codes)
}

// put assigns a key to a word unless another has it.
func (w *messageWords) put(key uint64, word int32) {
	i := w.slot(key)
	if w.keys[i] == 0 {
		w.keys[i], w.words[i] = key, word
	}
}

// slot returns where a key is, or would be.
func (w *messageWords) slot(key uint64) int {
	const spread = 0x9E3779B97F4A7C15
	mask := len(w.keys) - 1
	i := int(key*spread>>40) & mask
	for w.keys[i] != 0 && w.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// find returns the word of a key, -1 if there is none.
func (w *messageWords) find(key uint64) int32 {
	if i := w.slot(key); w.keys[i] != 0 {
		return w.words[i]
	}
	return -1
}

// scan yields the query words in the codes of a message with their term numbers (for runs, that of the last character), and returns the
// number of terms.
func (w *messageWords) scan(codes []byte, found func(word, at int32)) (terms int32) {
	run, length := uint64(0), 0
	for i := 0; i+1 < len(codes); terms++ {
		if codes[i]&gramBit != 0 {
			run, length = run<<gramBits|uint64(codes[i]&^gramBit)<<8|uint64(codes[i+1]), min(length+1, 3)
			if i += 2; w.grams.has(run) {
				w.runs(run, length, terms, found)
			}
			continue
		}
		code := uint32(codes[i])<<16 | uint32(codes[i+1])<<8 | uint32(codes[i+2])
		if i, length = i+3, 0; w.codes.has(uint64(code)) {
			if word := w.find(wordKey(code)); word >= 0 {
				found(word, terms)
			}
		}
	}
	return terms
}

// runs yields the words that are runs of up to length characters and end with the last of them.
func (w *messageWords) runs(run uint64, length int, at int32, found func(word, at int32)) {
	for n := 1; n <= length; n++ {
		if word := w.find(gramKey(n, run)); word >= 0 {
			found(word, at)
		}
	}
}

// codeSet is a filter that rules out most codes quickly, by their last bits.
type codeSet [1 << gramBits / 64]uint64

func (s *codeSet) add(code uint64) { s[code&gramMask/64] |= 1 << (code % 64) }

func (s *codeSet) has(code uint64) bool { return s[code&gramMask/64]&(1<<(code%64)) != 0 }

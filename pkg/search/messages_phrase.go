package search

import (
	"bytes"
	"math/bits"
	"slices"
)

// messagePhrase is a phrase of a query in message codes.
type messagePhrase struct {
	forms  [][]byte // one for each language that stems it otherwise
	words  []int32  // that a message with the phrase must hold
	weight float64
	whole  bool // as in phrase
}

// codedPhrases returns the phrases of a query that have at least two codes, as each language stems them.
func (q *Query) codedPhrases(spoken uint32) (out []messagePhrase) {
	for _, p := range q.phrases {
		coded := messagePhrase{words: p.words, whole: p.whole}
		for left := spoken; left != 0; left &= left - 1 {
			form, n := []byte(nil), 0
			newLexer(language(bits.TrailingZeros32(left))).scan(p.text, 0, len(p.text), func(t token) {
				var ok bool
				if form, ok = appendCode(form, t, p.text); ok {
					n++
				}
			})
			if n > 1 && !slices.ContainsFunc(coded.forms, func(known []byte) bool { return bytes.Equal(known, form) }) {
				coded.forms = append(coded.forms, form)
			}
		}
		if len(coded.forms) > 0 {
			out = append(out, coded)
		}
	}
	return out
}

// holdsCodes reports whether codes contain form at a code border.
func holdsCodes(codes, form []byte) bool {
	for {
		at := bytes.Index(codes, form)
		if at < 0 {
			return false
		}
		from := 0
		for from < at {
			from += codeSize(codes[from])
		}
		if from == at {
			return true
		}
		codes = codes[from:]
	}
}

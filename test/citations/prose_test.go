package citations

import (
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// prose is a content of any length that is nowhere twice the same: numbered lines of words.
type prose struct {
	random *rand.Rand
	words  []string
	left   int64
	line   int64
	rest   []byte
	plant  map[int64]string // lines of their own, by number
}

func newProse(seed uint64, length int64) *prose {
	return &prose{random: rand.New(rand.NewPCG(seed, 1)), words: vocabulary(), left: length}
}

// vocabulary is made of words that no language has, few of them frequent.
func vocabulary() []string {
	syllables := []string{"ba", "re", "to", "min", "sol", "ka", "ved", "lu", "ran", "pi", "os", "tem", "gra", "fen", "du", "ly"}
	out := make([]string, 0, len(syllables)*len(syllables)*len(syllables))
	for _, a := range syllables {
		for _, b := range syllables {
			for _, c := range syllables {
				out = append(out, a+b+c)
			}
		}
	}
	return out
}

func (p *prose) word() string { return p.words[p.random.IntN(1+p.random.IntN(len(p.words)))] }

// Read implements io.Reader.
func (p *prose) Read(to []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	to = to[:min(int64(len(to)), p.left)]
	n := 0
	for n < len(to) {
		if len(p.rest) == 0 {
			p.next()
		}
		k := copy(to[n:], p.rest)
		n, p.rest = n+k, p.rest[k:]
	}
	p.left -= int64(n)
	return n, nil
}

func (p *prose) next() {
	p.line++
	if planted, ok := p.plant[p.line]; ok {
		p.rest = append(p.rest[:0], planted+"\n"...)
		return
	}
	p.rest = append(strconv.AppendInt(append(p.rest[:0], "line "...), p.line, 10), ':')
	for range 6 {
		p.rest = append(append(p.rest, ' '), p.word()...)
	}
	p.rest = append(p.rest, '\n')
}

// textOf is prose of a length.
func textOf(seed uint64, length int64) string {
	var b strings.Builder
	if _, err := io.Copy(&b, newProse(seed, length)); err != nil {
		panic(err) // it never fails
	}
	return b.String()
}

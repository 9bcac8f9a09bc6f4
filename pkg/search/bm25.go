package search

import (
	"math"
	"slices"
)

// rankingParams are the tuning parameters of ranking. They do not depend on language or kind of content.
type rankingParams struct {
	saturation   float64 // BM25's k1: the lower, the less repetition in a passage counts
	baseIDF      float64 // weight of every word, added to BM25's weight of rare ones
	context      float64 // factor for a word around a passage, against one in it
	partial      float64 // factor for a word that only shares an affix with a query word
	title        float64 // factor for a word in a title over a passage, against one in it
	sentence     float64 // factor for the best single sentence
	pair         float64 // factor for pairs of words in the query's order
	phrase       float64 // factor for a phrase that occurs verbatim
	edgePenalty  float64 // penalty at a passage's edge: what is said about a word may lie beyond
	bestPosition float64 // relative position without penalty: what is said about a word mostly follows it
}

func defaultRankingParams() rankingParams {
	return rankingParams{saturation: 0.4, baseIDF: 1, context: 0.3, partial: 0.25, title: 0.8, sentence: 0.5, pair: 0.5, phrase: 1, edgePenalty: 0.5, bestPosition: 0.35}
}

// idf returns the weight of a word that df of n passages contain.
func (k *rankingParams) idf(df, n int) float64 {
	return k.baseIDF + math.Log(1+(float64(n-df)+0.5)/(float64(df)+0.5))
}

// hit is an occurrence of a query word in a text.
type hit struct {
	from, to int32
	pos      int32
	word     int32
	segment  int32
	partial  bool // it only begins or ends like the word
}

// maxStrong is how many words of a query count at most: the heaviest.
const maxStrong = 96

// scorer scores passages by what they contain of a query. It is not safe for concurrent use.
type scorer struct {
	rankingParams
	query     *Query
	weights   []float64 // of each word, including its rarity; 0: does not count
	inside    []float64
	outside   []float64
	segment   []int32 // the last segment each word was counted in
	seenWords []int32
	exactHits []hit
	sequence  [][2]int32 // the pairs that were counted
}

func newScorer(q *Query, k rankingParams) *scorer {
	n := len(q.words)
	return &scorer{
		rankingParams: k, query: q, weights: make([]float64, n), inside: make([]float64, n), outside: make([]float64, n), segment: make([]int32, n),
	}
}

// weigh sets the weights of words from how many of n passages contain them.
func (s *scorer) weigh(df []int, n int) {
	for w := range s.weights {
		s.weights[w] = s.query.words[w].weight * s.idf(min(df[w], n), n)
	}
	dropWeak(s.weights, func(w int) bool { return df[w] > 0 })
}

// dropWeak sets all weights to 0 but the largest among the words that occur: a long request does not drown in its own common words.
func dropWeak(weights []float64, occurs func(w int) bool) {
	var held []float64
	for w, weight := range weights {
		if occurs(w) {
			held = append(held, weight)
		}
	}
	if len(held) <= maxStrong {
		return
	}
	slices.Sort(held)
	least := held[len(held)-maxStrong]
	for w := range weights {
		if weights[w] < least {
			weights[w] = 0
		}
	}
}

// score returns the score of a passage; 0 if it contains no query word that can answer.
func (s *scorer) score(p *passage) float64 {
	first, last := len(p.near), 0
	for i, h := range p.near {
		worth := 1.0
		if h.partial {
			worth = s.partial
		}
		if h.from < p.from || h.to > p.to {
			s.count(s.outside, h.word, worth)
			continue
		}
		if !h.partial {
			first, last = min(first, i), i+1
		}
		s.count(s.inside, h.word, worth*s.positionWeight(h.from, p))
	}
	for _, w := range p.titleWords {
		s.count(s.inside, w, s.title)
	}
	words := s.words()
	if first >= last {
		return 0
	}
	in := s.exact(p.near[first:last])
	if !slices.ContainsFunc(in, func(h hit) bool { return s.query.words[h.word].canAnswer }) {
		return 0
	}
	return words + s.sentence*s.bestSegment(in, p.titleWords) + s.pair*s.pairScore(in)
}

// exact returns the hits that are query words rather than similar ones. They are valid until the next call.
func (s *scorer) exact(hits []hit) []hit {
	s.exactHits = s.exactHits[:0]
	for _, h := range hits {
		if !h.partial {
			s.exactHits = append(s.exactHits, h)
		}
	}
	return s.exactHits
}

// positionWeight returns the weight of a word by its position in a passage. The start and the end of a content have no penalty, because
// nothing lies beyond them.
func (s *scorer) positionWeight(at int32, p *passage) float64 {
	x := 2 * (float64(at-p.from)/float64(p.to-p.from+1) - s.bestPosition)
	if p.first && x < 0 || p.last && x > 0 {
		return 1
	}
	return max(0.1, 1-s.edgePenalty*x*x)
}

func (s *scorer) count(of []float64, w int32, worth float64) {
	if s.inside[w] == 0 && s.outside[w] == 0 {
		s.seenWords = append(s.seenWords, w)
	}
	of[w] += worth
}

// words returns the BM25 score of the words, for passages of equal length.
func (s *scorer) words() (sum float64) {
	for _, w := range s.seenWords {
		f := s.inside[w]
		sum += s.weights[w] * (1 - s.context) * f / (f + s.saturation)
		f += s.outside[w]
		sum += s.weights[w] * s.context * f / (f + s.saturation)
		s.inside[w], s.outside[w] = 0, 0
	}
	s.seenWords = s.seenWords[:0]
	return sum
}

// bestSegment returns the weight of the words in the best sentence, together with those of the titles over it, each word once.
func (s *scorer) bestSegment(in []hit, over []int32) (best float64) {
	const everywhere = -2
	for _, h := range in {
		s.segment[h.word] = -1
	}
	base := 0.0
	for _, w := range over {
		if s.segment[w] != everywhere {
			base += s.title * s.weights[w]
		}
		s.segment[w] = everywhere
	}
	sum, current := base, int32(-1)
	for _, h := range in {
		if h.segment != current {
			sum, current = base, h.segment
		}
		if s.segment[h.word] != everywhere && s.segment[h.word] != current {
			s.segment[h.word] = current
			sum += s.weights[h.word]
		}
		best = max(best, sum)
	}
	for _, w := range over {
		s.segment[w] = -1
	}
	return best
}

// pairScore returns the weight of words that follow each other as in the query, with at most one word between them, each pair once.
func (s *scorer) pairScore(in []hit) (sum float64) {
	s.sequence = s.sequence[:0]
	for i, h := range in {
		for _, next := range in[i+1 : min(len(in), i+8)] {
			if next.pos > h.pos+2 {
				break
			}
			pair := [2]int32{h.word, next.word}
			if _, follows := s.query.pairs[pair]; follows && next.pos > h.pos && !s.isCounted(pair) {
				sum += min(s.weights[h.word], s.weights[next.word])
			}
		}
	}
	return sum
}

// maxPairs is how many pairs of a passage count.
const maxPairs = 32

// isCounted reports whether a pair was counted before, or the limit is reached, and records it.
func (s *scorer) isCounted(pair [2]int32) bool {
	for _, p := range s.sequence {
		if p == pair {
			return true
		}
	}
	if len(s.sequence) == maxPairs {
		return true
	}
	s.sequence = append(s.sequence, pair)
	return false
}

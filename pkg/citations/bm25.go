package citations

import "math"

// knobs are what ranking can be tuned with. They are of no language and of no kind of content.
type knobs struct {
	saturation float64 // BM25's k1: how little the second occurrence of a word in a passage says
	context    float64 // what a word in a passage's surroundings counts, against one in it
	sentence   float64 // what the best single sentence adds
	pair       float64 // what two words add that follow each other as in the query
	phrase     float64 // what a phrase that is held as it stands adds
	centre     float64 // what it takes from a hit to be at a passage's very edge
}

func defaultKnobs() knobs {
	return knobs{saturation: 0.6, context: 0.3, sentence: 0.5, pair: 0.5, phrase: 1, centre: 0.05}
}

// idf is what it says to hold a word that df of n passages hold.
func idf(df, n int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// hit is a word of a query where it stands in a text.
type hit struct {
	from, to int32
	pos      int32
	word     int32
	segment  int32
}

// scorer scores passages by what they hold of a query. It is for one goroutine.
type scorer struct {
	knobs
	query    *Query
	weights  []float64 // of each word: its own and how rare it is
	pairs    map[[2]int32]float64
	inside   []float64
	outside  []float64
	sentence []int32 // the last segment each word was counted in
	touched  []int32
}

func newScorer(q *Query, k knobs) *scorer {
	n := len(q.words)
	return &scorer{
		knobs: k, query: q, weights: make([]float64, n), inside: make([]float64, n), outside: make([]float64, n),
		sentence: make([]int32, n),
	}
}

// weigh sets what words weigh, from how many of n passages hold them.
func (s *scorer) weigh(df []int, n int) {
	for w := range s.weights {
		s.weights[w] = s.query.words[w].weight * idf(min(df[w], n), n)
	}
	s.pairs = map[[2]int32]float64{}
	before := int32(-1)
	for _, t := range s.query.tokens {
		if t.next && before >= 0 && t.word >= 0 && before != t.word {
			s.pairs[[2]int32{before, t.word}] = min(s.weights[before], s.weights[t.word])
		}
		before = t.word
	}
}

// score is what the passage from-to deserves, whose hits, and those of its surroundings, are given in order.
func (s *scorer) score(hits []hit, from, to int32) float64 {
	first, last := len(hits), len(hits)
	for i, h := range hits {
		if h.from >= from && h.to <= to {
			if first == len(hits) {
				first = i
			}
			last = i + 1
			s.count(s.inside, h.word)
		} else {
			s.count(s.outside, h.word)
		}
	}
	if first == len(hits) {
		s.clear()
		return 0
	}
	in := hits[first:last]
	return s.words() + s.sentence_(in) + s.follow(in)
}

func (s *scorer) count(of []float64, w int32) {
	if s.inside[w] == 0 && s.outside[w] == 0 {
		s.touched = append(s.touched, w)
	}
	of[w]++
}

func (s *scorer) clear() {
	for _, w := range s.touched {
		s.inside[w], s.outside[w] = 0, 0
	}
	s.touched = s.touched[:0]
}

// words is what the words count, each as BM25 has it for passages of one length.
func (s *scorer) words() (sum float64) {
	for _, w := range s.touched {
		f := s.inside[w]
		sum += s.weights[w] * (1 - s.context) * f / (f + s.saturation)
		f += s.outside[w]
		sum += s.weights[w] * s.context * f / (f + s.saturation)
	}
	s.clear()
	return sum
}

// sentence_ is what the best sentence counts: each word once.
func (s *scorer) sentence_(in []hit) (best float64) {
	for i := range s.sentence {
		s.sentence[i] = -1
	}
	sum, current := 0.0, int32(-1)
	for _, h := range in {
		if h.segment != current {
			sum, current = 0, h.segment
		}
		if s.sentence[h.word] != current {
			s.sentence[h.word] = current
			sum += s.weights[h.word]
		}
		best = max(best, sum)
	}
	return s.knobs.sentence * best
}

// follow is what words count that follow each other as in the query, each pair once.
func (s *scorer) follow(in []hit) (sum float64) {
	var seen [16][2]int32
	n := 0
	for i, h := range in {
		for _, next := range in[i+1:] {
			if next.pos > h.pos+2 {
				break
			}
			key := [2]int32{h.word, next.word}
			w, ok := s.pairs[key]
			if !ok || next.pos <= h.pos {
				continue
			}
			dup := false
			for _, k := range seen[:n] {
				dup = dup || k == key
			}
			if !dup {
				sum += w
				if n < len(seen) {
					seen[n] = key
					n++
				}
			}
		}
	}
	return s.pair * sum
}

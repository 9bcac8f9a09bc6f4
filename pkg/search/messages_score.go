package search

import "slices"

// messageScorer scores messages one after the other by their own content. It is not safe for concurrent use.
type messageScorer struct {
	*messageRanking
	counts []float64   // of each word, in this message
	held   []int32     // the words of this message
	recent []recentHit // the words that the next may follow

	numbers []int32  // of each word that counts; -1: does not
	strong  int32    // how many do
	follow  []uint32 // of each two of those: 0 if the second never follows the first in the query, else the last message it did so in
	message uint32   // its number, from 2 on

	before       int32   // how many terms stand before the opening colon
	openingWords float64 // words before the opening colon
	pairs        float64 // what the pairs of this message weigh
	canAnswer    bool    // it holds a word that may answer
}

type recentHit struct{ word, at int32 }

// pairReach is the maximum distance of two words that form a pair: one word between them.
const pairReach = 2

func newMessageScorer(r *messageRanking) *messageScorer {
	s := &messageScorer{messageRanking: r, counts: make([]float64, len(r.weights)), numbers: make([]int32, len(r.weights)), message: 1}
	for w, weight := range r.weights {
		s.numbers[w] = -1
		if weight > 0 {
			s.numbers[w] = s.strong
			s.strong++
		}
	}
	s.follow = make([]uint32, s.strong*s.strong)
	for pair := range r.query.pairs {
		if a, b := s.numbers[pair[0]], s.numbers[pair[1]]; a >= 0 && b >= 0 {
			s.follow[a*s.strong+b] = 1
		}
	}
	return s
}

// begin begins a message.
func (s *messageScorer) begin(opening uint8) {
	s.message++
	s.before, s.openingWords, s.pairs, s.canAnswer = int32(opening), 0, 0, false
	s.held, s.recent = s.held[:0], s.recent[:0]
}

// found records a query word in the message.
func (s *messageScorer) found(word, at int32) {
	if s.numbers[word] < 0 {
		return
	}
	if s.counts[word] == 0 {
		s.held = append(s.held, word)
		if at < s.before && s.query.words[word].informative {
			s.openingWords++
		}
	}
	s.counts[word]++
	s.canAnswer = s.canAnswer || s.query.words[word].canAnswer
	s.followed(word, at)
}

// followed records which words the word follows.
func (s *messageScorer) followed(word, at int32) {
	kept := s.recent[:0]
	for _, before := range s.recent {
		if before.at < at-pairReach {
			continue
		}
		kept = append(kept, before)
		seen := &s.follow[s.numbers[before.word]*s.strong+s.numbers[word]]
		if before.at < at && *seen != 0 && *seen != s.message {
			*seen = s.message
			s.pairs += min(s.weights[before.word], s.weights[word])
		}
	}
	kept = append(kept, recentHit{word, at})
	s.recent = kept
}

// phrasesIn returns the weight of the phrases in the message, whose words were found.
func (s *messageScorer) phrasesIn(codes []byte) (sum float64) {
	for i := range s.phrases {
		p := &s.phrases[i]
		lacks := func(word int32) bool { return s.numbers[word] >= 0 && s.counts[word] == 0 }
		if !slices.ContainsFunc(p.words, lacks) && slices.ContainsFunc(p.forms, func(form []byte) bool { return holdsCodes(codes, form) }) {
			sum += p.weight
		}
	}
	return sum
}

// end returns the score of the message with the given number of terms; 0 if it contains only uninformative words.
func (s *messageScorer) end(terms int32) float64 {
	norm := s.saturation * (float64(terms) + s.brevity) / (s.mean + s.brevity)
	sum, covered := s.pair*s.pairs, 0.0
	for _, w := range s.held {
		f := s.counts[w]
		sum += s.weights[w] * f * (s.saturation + 1) / (f + norm)
		covered += s.weights[w]
		s.counts[w] = 0
	}
	if !s.canAnswer {
		return 0
	}
	return sum * (1 + s.coverage*covered/s.all) * (1 + s.opening*s.openingWords)
}

package citations

import (
	"encoding/binary"
	"slices"
)

// Hit is a message that answers a query.
type Hit struct {
	Index int32
	Score float64 // comparable within one search alone
}

// SearchMessages ranks messages of several runs, whose indices rise from run to run, best first, at most limit. Messages that keep
// refuses are not hits (nil keeps all). A message that says little by itself is found by those around it.
func SearchMessages(q *Query, runs []*Messages, keep func(index int32) bool, limit int) []Hit {
	s := messageSearch{scorer: newScorer(q, defaultKnobs()), df: make([]int, len(q.words)), keep: keep}
	for _, m := range runs {
		s.look(m)
	}
	s.scorer.weigh(s.df, len(s.messages))
	scores := s.scores()
	order := make([]int, 0, len(scores))
	for i, score := range scores {
		if score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return a - b
	})
	hits := make([]Hit, 0, max(0, min(limit, len(order))))
	for _, i := range order[:cap(hits)] {
		hits = append(hits, Hit{Index: s.messages[i].index, Score: scores[i]})
	}
	return hits
}

// messageSearch is one search over messages.
type messageSearch struct {
	scorer   *scorer
	keep     func(int32) bool
	df       []int // how many messages hold each word
	messages []foundMessage
	held     []heldWord // of all messages, in order
	words    int        // of all messages
	sieve    [1 << 10]uint64
}

// foundMessage is a message with what it holds of the query.
type foundMessage struct {
	index    int32
	words    int32
	from, to int32 // of held
}

type heldWord struct {
	word  int32
	times int32
}

// look reads what a run holds of the query.
func (s *messageSearch) look(m *Messages) {
	of := s.bind(m.langs)
	index := int32(0)
	for data := m.data; len(data) > 0; {
		delta, n := binary.Uvarint(data)
		words, k := binary.Uvarint(data[n:])
		index += int32(delta)
		found := foundMessage{index: index, words: int32(words), from: int32(len(s.held))}
		data = readTerms(data[n+k:], func(t messageTerm, times int32) {
			if s.sieve[t>>6&1023]&(1<<(t&63)) == 0 {
				return
			}
			if w, ok := of[t]; ok {
				s.hold(found.from, w, times)
			}
		})
		if s.keep != nil && !s.keep(index) {
			s.held = s.held[:found.from]
			continue
		}
		found.to = int32(len(s.held))
		for _, h := range s.held[found.from:] {
			s.df[h.word]++
		}
		s.words += int(words)
		s.messages = append(s.messages, found)
	}
}

// hold notes a word of the message whose words begin at from. Forms of one word count together.
func (s *messageSearch) hold(from, word, times int32) {
	for i := from; i < int32(len(s.held)); i++ {
		if s.held[i].word == word {
			s.held[i].times += times
			return
		}
	}
	s.held = append(s.held, heldWord{word, times})
}

// bind says which word of the query a term is, in the given languages.
func (s *messageSearch) bind(langs uint32) map[messageTerm]int32 {
	b := newBinding(s.scorer.query)
	for l := range languageTable {
		if langs&(1<<l) != 0 {
			b.add(language(l))
		}
	}
	of := make(map[messageTerm]int32, len(b.of))
	s.sieve = [1 << 10]uint64{}
	for t, w := range b.of {
		short := messageTerm(t >> termShift)
		of[short] = w
		s.sieve[short>>6&1023] |= 1 << (short & 63)
	}
	return of
}

// How messages are ranked.
const (
	messageSaturation = 1.6  // BM25's k1
	messageLength     = 0.7  // BM25's b: how much less a word says in a long message
	besideShare       = 0.3  // what a message has of the one before and the one after it
	nearShare         = 0.15 // and of those beyond
)

// scores are what the messages deserve.
func (s *messageSearch) scores() []float64 {
	own := make([]float64, len(s.messages))
	mean := float64(s.words) / float64(max(1, len(s.messages)))
	for i, m := range s.messages {
		length := 1 - messageLength + messageLength*float64(m.words)/max(1, mean)
		for _, h := range s.held[m.from:m.to] {
			f := float64(h.times)
			own[i] += s.scorer.weights[h.word] * f / (f + messageSaturation*length)
		}
	}
	out := make([]float64, len(own))
	at := func(i int) float64 {
		if i < 0 || i >= len(own) {
			return 0
		}
		return own[i]
	}
	for i := range own {
		out[i] = own[i] + besideShare*(at(i-1)+at(i+1)) + nearShare*(at(i-2)+at(i+2))
	}
	return out
}

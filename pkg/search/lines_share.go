package search

import (
	"math"
	"slices"
	"strings"
)

// lineShareParams are the tuning parameters of shares.
const (
	shareRarity = 1.2 // power of a word's weight: the higher, the less common words cover
	shareBeside = 0.7 // what a word counts that stands beside a line and not in it
	shareReach  = 1   // how many lines to each side count
	shareFewest = 2   // words that a line must cover of a query that has more

	// shareFewLines is how many lines there are taken to be at least: in a handful, a word that stands in one of them would seem common.
	shareFewLines = 1_000
)

// courtesies are words that requests about anything have: greetings, thanks, asking for help, and the lightest verbs. Covering them is no
// sign that a line is about the same.
const courtesies = " hi hello hey dear bye thanks thank help helping assist assistance like likes make makes making made get gets getting got go goes " +
	"going look looks looking hope hoping try tries trying able sure thing things stuff " +
	"hallo danke bitte hilfe helfen machen mochte gerne gruss " +
	"bonjour salut merci aide aider faire voudrais aimerais " +
	"hola gracias ayuda ayudar hacer quisiera gustaria favor " +
	"ciao grazie aiuto aiutare fare vorrei piacere favore " +
	"ola obrigado obrigada ajuda ajudar fazer gostaria " +
	"hoi bedankt alsjeblieft hulp helpen graag "

func isCourtesy(word string) bool {
	return strings.Contains(courtesies, " "+stripDiacritics(fold(word))+" ")
}

// lineShares computes which share of a query lines cover. It is not safe for concurrent use.
type lineShares struct {
	*messageRanking
	lines   []Thread
	ends    []int32   // of the threads, counted over all
	weights []float64 // of each word, if it is covered
	all     float64   // of all words
	words   int       // that are no function words
	seen    []int32   // of each word, the last line that it was counted for
	number  int32
}

func (r *messageRanking) newShares(threads []Thread) *lineShares {
	var plain rankingParams
	s := &lineShares{messageRanking: r, lines: threads, weights: make([]float64, len(r.df)), seen: make([]int32, len(r.df))}
	for w, df := range r.df {
		word := &r.query.words[w]
		if !word.canAnswer {
			continue
		}
		weight := math.Pow(plain.idf(int(df), max(r.count, shareFewLines)), shareRarity)
		s.all += weight
		s.words++
		if !isCourtesy(word.text) {
			s.weights[w] = weight
		}
	}
	end := int32(0)
	for _, t := range threads {
		end += int32(len(t))
		s.ends = append(s.ends, end)
	}
	return s
}

// of returns the share of a line; 1 if the query has nothing but function words.
func (s *lineShares) of(at int32) float64 {
	if s.all == 0 {
		return 1
	}
	thread, _ := slices.BinarySearch(s.ends, at+1)
	lines := s.lines[thread]
	place := int(at-s.ends[thread]) + len(lines)
	s.number++
	covered, words := s.cover(&lines[place], 1)
	for i := max(0, place-shareReach); i < min(len(lines), place+shareReach+1); i++ {
		weight, more := s.cover(&lines[i], shareBeside)
		covered, words = covered+weight, words+more
	}
	if words < shareFewest && s.words > shareFewest {
		return 0
	}
	return min(1, covered/s.all)
}

// cover counts the words of a line that were not counted yet.
func (s *lineShares) cover(l *Line, worth float64) (weight float64, words int) {
	s.messageRanking.words.scan(l.Codes, func(word, _ int32) {
		if s.seen[word] != s.number && s.weights[word] > 0 {
			s.seen[word] = s.number
			weight += worth * s.weights[word]
			words++
		}
	})
	return weight, words
}

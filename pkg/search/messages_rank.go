package search

import (
	"cmp"
	"slices"
)

// Hit is a message that answers a query.
type Hit struct {
	Index int32
	Score float64 // comparable within one search alone
}

// messageRankingParams are the tuning parameters of message ranking. They do not depend on language.
type messageRankingParams struct {
	saturation float64 // BM25's k1
	brevity    float64 // terms added to a message's length, because short messages are not more relevant
	function   float64 // weight of a function word
	named      int     // maximum number of mentions in the query that count
	coverage   float64 // factor for covering all of a query
	pair       float64 // factor for pairs of words in the query's order
	phrase     float64 // factor for a path, number or compound identifier that occurs verbatim
	whole      float64 // factor for a whole or quoted search term that occurs verbatim: more than everything else
	opening    float64 // factor for a word before the opening colon: a speaker's name, a title
	previous   float64 // share of the previous message's score
	answer     float64 // additional share if that one is a question
	next       float64 // share of the next message's score
	around     float64 // share of the scores of messages further away
	reach      int     // distance up to which those count
}

func defaultMessageRankingParams() messageRankingParams {
	return messageRankingParams{
		saturation: 1.5, brevity: 30, function: 0.25, named: 15, coverage: 1.5, pair: 1.2, phrase: 0.5, whole: 10, opening: 0.2,
		previous: 0.2, answer: 0.35, next: 0.15, around: 0.07, reach: 4,
	}
}

// RankMessages ranks messages of several runs, whose indices increase from run to run, best first, at most limit. Messages that keep
// rejects are not hits (nil keeps all), but count for statistics and context. The score is BM25 over the messages, plus bonuses for words
// in the query's order, for covering much of it, and for its words before an opening colon. The messages around a hit add to its score,
// most of all the question that it answers. A hit contains a query word that is not a function word, or a phrase, or follows a question
// that does; if nothing answers, there are no hits.
func RankMessages(q *Query, runs []*Messages, keep func(index int32) bool, limit int) []Hit {
	r := newMessageRanking(q, runs)
	r.survey()
	if !r.weigh() {
		return nil
	}
	r.score()
	return r.hits(keep, limit)
}

// messageRanking is one search.
type messageRanking struct {
	messageRankingParams
	query *Query
	words *messageWords
	runs  []*Messages

	phrases []messagePhrase
	df      []int32
	weights []float64 // of each word of the query; 0: does not count
	all     float64   // their sum
	mean    float64   // terms of a message
	count   int       // of messages
	own     []float64 // the score of each message by itself
	exact   []float64 // of each message for its phrases
}

func newMessageRanking(q *Query, runs []*Messages) *messageRanking {
	r := &messageRanking{messageRankingParams: defaultMessageRankingParams(), query: q, runs: runs, df: make([]int32, len(q.words))}
	spoken := uint32(0)
	for _, m := range runs {
		spoken |= m.spoken
		r.count += len(m.entries)
	}
	r.words, r.phrases = newMessageWords(q, spoken), q.codedPhrases(spoken)
	return r
}

// each yields the messages in order, with their codes.
func (r *messageRanking) each(give func(at int, e messageEntry, codes []byte)) {
	at := 0
	for _, m := range r.runs {
		codes := m.codes
		for _, e := range m.entries {
			give(at, e, codes[:e.size])
			codes = codes[e.size:]
			at++
		}
	}
}

// survey counts how many messages contain each word, and their lengths.
func (r *messageRanking) survey() {
	last, terms := make([]int32, len(r.df)), int64(0)
	r.each(func(at int, _ messageEntry, codes []byte) {
		terms += int64(r.words.scan(codes, func(word, _ int32) {
			if last[word] != int32(at)+1 {
				last[word] = int32(at) + 1
				r.df[word]++
			}
		}))
	})
	r.mean = float64(terms) / float64(max(1, r.count))
}

// weigh sets the weights of words from how often the query names them and how few messages contain them. It reports whether any message
// contains any.
func (r *messageRanking) weigh() bool {
	var plain rankingParams
	r.weights = r.query.named(r.messageRankingParams)
	for w, df := range r.df {
		if df == 0 {
			r.weights[w] = 0
		}
		r.weights[w] *= plain.idf(int(df), r.count)
	}
	dropWeak(r.weights, func(w int) bool { return r.df[w] > 0 })
	for _, weight := range r.weights {
		r.all += weight
	}
	for i := range r.phrases {
		r.weighPhrase(&r.phrases[i])
	}
	return r.all > 0
}

func (r *messageRanking) weighPhrase(p *messagePhrase) {
	if p.whole {
		p.weight = r.whole * r.all
		return
	}
	for _, w := range p.words {
		p.weight += r.phrase * r.weights[w]
	}
}

// named returns the weights of query words by how often they are named.
func (q *Query) named(k messageRankingParams) []float64 {
	weights := make([]float64, len(q.words))
	for _, t := range q.tokens {
		if t.word >= 0 {
			weights[t.word] = min(weights[t.word]+1, float64(k.named))
		}
	}
	for i, w := range q.words {
		if !w.informative {
			weights[i] = k.function
		}
	}
	return weights
}

// score scores each message by itself.
func (r *messageRanking) score() {
	r.own, r.exact = make([]float64, r.count), make([]float64, r.count)
	s := newMessageScorer(r)
	r.each(func(at int, e messageEntry, codes []byte) {
		s.begin(e.opening)
		length := r.words.scan(codes, s.found)
		r.exact[at] = s.phrasesIn(codes)
		r.own[at] = s.end(length)
	})
}

// hits returns the best messages, scored with their context.
func (r *messageRanking) hits(keep func(index int32) bool, limit int) []Hit {
	var hits []Hit
	asked := false
	r.each(func(at int, e messageEntry, codes []byte) {
		score, found := r.surrounded(at, asked), r.answers(at) || asked && r.answers(at-1)
		asked = e.question
		if found && score > 0 && len(codes) > 0 && (keep == nil || keep(e.index)) {
			hits = append(hits, Hit{e.index, score})
		}
	})
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return slices.Clip(hits[:min(len(hits), max(limit, 0))])
}

// answers reports whether a message contains anything that can answer.
func (r *messageRanking) answers(at int) bool { return r.own[at]+r.exact[at] > 0 }

// surrounded returns the score of a message including its share of its neighbors' scores.
func (r *messageRanking) surrounded(at int, asked bool) float64 {
	score := r.own[at] + r.exact[at]
	for i := max(0, at-r.reach); i < min(len(r.own), at+r.reach+1); i++ {
		switch {
		case i == at-1 && asked:
			score += (r.previous + r.answer) * r.own[i]
		case i == at-1:
			score += r.previous * r.own[i]
		case i == at+1:
			score += r.next * r.own[i]
		case i != at:
			score += r.around * r.own[i]
		}
	}
	return score
}

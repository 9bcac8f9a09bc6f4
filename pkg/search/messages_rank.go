package search

import (
	"container/heap"
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
	r := newMessageRanking(q, messageRuns(runs))
	if !r.rank() {
		return nil
	}
	best := r.hits(keep)
	hits := make([]Hit, 0, max(0, min(limit, len(best))))
	for len(hits) < limit && len(best) > 0 {
		hits = append(hits, best[0].Hit)
		heap.Pop(&best)
	}
	return hits
}

// messageSource is what is searched: messages in threads. Messages of one thread are each other's context.
type messageSource interface {
	spoken() uint32 // bit set of languages
	count() int     // of messages
	// each yields the messages in order, with their codes.
	each(give func(at int, e messageEntry, codes []byte))
	// threads yields where each begins and ends; none is empty.
	threads(give func(from, end int))
}

// messageRuns are messages of one thread in several runs.
type messageRuns []*Messages

func (runs messageRuns) spoken() (set uint32) {
	for _, m := range runs {
		set |= m.spoken
	}
	return set
}

func (runs messageRuns) count() (n int) {
	for _, m := range runs {
		n += len(m.entries)
	}
	return n
}

func (runs messageRuns) each(give func(at int, e messageEntry, codes []byte)) {
	at := 0
	for _, m := range runs {
		codes := m.codes
		for _, e := range m.entries {
			give(at, e, codes[:e.size])
			codes = codes[e.size:]
			at++
		}
	}
}

func (runs messageRuns) threads(give func(from, end int)) {
	if n := runs.count(); n > 0 {
		give(0, n)
	}
}

// messageRanking is one search.
type messageRanking struct {
	messageRankingParams
	query *Query
	words *messageWords
	from  messageSource

	phrases []messagePhrase
	df      []int32
	weights []float64 // of each word of the query; 0: does not count
	all     float64   // their sum
	mean    float64   // terms of a message
	count   int       // of messages
	holds   []bool    // of each message: whether it may score
	own     []float64 // the score of each message by itself
	exact   []float64 // of each message for its phrases
}

func newMessageRanking(q *Query, from messageSource) *messageRanking {
	r := &messageRanking{
		messageRankingParams: defaultMessageRankingParams(), query: q, from: from, df: make([]int32, len(q.words)), count: from.count(),
	}
	spoken := from.spoken()
	r.words, r.phrases = newMessageWords(q, spoken), q.codedPhrases(spoken)
	return r
}

// rank scores all messages, and reports whether any can answer.
func (r *messageRanking) rank() bool {
	r.survey()
	if !r.weigh() {
		return false
	}
	r.score()
	return true
}

// survey counts how many messages contain each word, and their lengths, and notes which of them may score.
func (r *messageRanking) survey() {
	last, terms := make([]int32, len(r.df)), int64(0)
	r.holds = make([]bool, r.count)
	at := 0
	found := func(word, _ int32) {
		if last[word] != int32(at)+1 {
			last[word] = int32(at) + 1
			r.df[word]++
			r.holds[at] = r.holds[at] || len(r.phrases) > 0 || r.query.words[word].canAnswer
		}
	}
	r.from.each(func(n int, _ messageEntry, codes []byte) {
		at = n
		terms += int64(r.words.scan(codes, found))
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
	s, everywhere := newMessageScorer(r), slices.ContainsFunc(r.phrases, r.unheard)
	r.from.each(func(at int, e messageEntry, codes []byte) {
		if !r.holds[at] && !everywhere {
			return
		}
		s.begin(e.opening)
		length := r.words.scan(codes, s.found)
		r.exact[at] = s.phrasesIn(codes)
		r.own[at] = s.end(length)
	})
}

// unheard reports whether none of a phrase's words occurs anywhere, so that they do not tell where it may.
func (r *messageRanking) unheard(p messagePhrase) bool {
	return !slices.ContainsFunc(p.words, func(w int32) bool { return r.df[w] > 0 })
}

// hits returns the messages that answer, scored with their context.
func (r *messageRanking) hits(keep func(index int32) bool) messageHits {
	var hits messageHits
	from, end, asked := 0, 0, false
	bounds := r.bounds()
	r.from.each(func(at int, e messageEntry, codes []byte) {
		if at == end {
			from, end, bounds, asked = at, int(bounds[0]), bounds[1:], false
		}
		if (r.answers(at) || asked && r.answers(at-1)) && len(codes) > 0 && (keep == nil || keep(e.index)) {
			if score := r.surrounded(at, from, end, asked); score > 0 {
				hits = append(hits, messageHit{Hit{e.index, score}, int32(at)})
			}
		}
		asked = e.question
	})
	heap.Init(&hits)
	return hits
}

// bounds returns where each thread ends.
func (r *messageRanking) bounds() (ends []int32) {
	r.from.threads(func(_, end int) { ends = append(ends, int32(end)) })
	return ends
}

// answers reports whether a message contains anything that can answer.
func (r *messageRanking) answers(at int) bool { return r.own[at]+r.exact[at] > 0 }

// surrounded returns the score of a message of the thread [from, end), including its share of its neighbors' scores.
func (r *messageRanking) surrounded(at, from, end int, asked bool) float64 {
	score := r.own[at] + r.exact[at]
	for i := max(from, at-r.reach); i < min(end, at+r.reach+1); i++ {
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

// messageHit is a hit at a place among all messages.
type messageHit struct {
	Hit
	at int32
}

// messageHits are hits as a heap: the best first, of equals the first. Whoever pops has taken the first before.
type messageHits []messageHit

func (h messageHits) Len() int { return len(h) }

func (h messageHits) Less(a, b int) bool {
	return h[a].Score > h[b].Score || h[a].Score == h[b].Score && h[a].at < h[b].at
}

func (h messageHits) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

func (h *messageHits) Push(any) {} // all are there from the beginning

func (h *messageHits) Pop() any {
	*h = (*h)[:len(*h)-1]
	return nil
}

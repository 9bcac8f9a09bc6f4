package search

import (
	"slices"
	"strings"
)

// Options limits the results of a search.
type Options struct {
	Max      int // excerpts; 0: DefaultExcerpts
	MaxChars int // of one excerpt; 0 or more than MaxExcerptChars: MaxExcerptChars
}

// The limits of searches.
const (
	DefaultExcerpts = 5
	MaxExcerptChars = 500
)

// Excerpt is a passage of a content.
type Excerpt struct {
	Content   int    // which of the contents that were searched, by the number it was added under
	Text      string // at most MaxChars characters, cut at borders of sentences or lines where possible
	Location  string // as Reading.Place
	Bytes     [2]int64
	Chars     [2]int64
	Score     float64  // comparable within one search alone
	Matched   []string // the search terms, as the caller wrote them (words of a long one), that it holds
	Relevance string   // in words: why it is here
}

// Search collects the best passages of contents, scored with statistics over all of them. It is not safe for concurrent use.
type Search struct {
	query        *Query
	options      Options
	termIndexes  map[language]*queryTermIndex
	scorer       *scorer
	df           []int // number of blocks that contain each query word
	blocks       int
	pending      []pendingDocument
	pendingBytes int64 // bytes of what was counted
	candidates   []candidate
}

// pendingDocument is a document that is counted but not yet searched.
type pendingDocument struct {
	content  int
	document *Document
	postings [][]int32
}

// How many candidates a search keeps: of each content, and in total. Each takes up to about 5 KB.
const (
	candidatesEach = 24
	candidatesAll  = 2048
)

// maxPendingBytes is how many bytes of documents a search holds to weigh words by all of them before it searches the first. Words in later
// documents are weighed by those up to then.
const maxPendingBytes = 8 << 20

// NewSearch begins a search.
func NewSearch(q *Query, o Options) *Search {
	if o.Max <= 0 {
		o.Max = DefaultExcerpts
	}
	if o.MaxChars <= 0 || o.MaxChars > MaxExcerptChars {
		o.MaxChars = MaxExcerptChars
	}
	return &Search{query: q, options: o, termIndexes: map[language]*queryTermIndex{}, scorer: newScorer(q, defaultRankingParams()), df: make([]int, len(q.words))}
}

// Add adds a document, which the search holds for a while.
func (s *Search) Add(content int, d *Document) {
	s.pending = append(s.pending, s.count(content, d))
	if s.pendingBytes += int64(len(d.reading.Content)) + d.Size(); s.pendingBytes >= maxPendingBytes {
		s.gather()
	}
}

// count counts the blocks of a document that contain each query word.
func (s *Search) count(content int, d *Document) pendingDocument {
	c := pendingDocument{content: content, document: d, postings: d.postings(s.reader(d))}
	for w, blocks := range c.postings {
		s.df[w] += len(blocks)
	}
	s.blocks += d.blocks()
	return c
}

// gather searches the pending documents.
func (s *Search) gather() {
	s.scorer.weigh(s.df, s.blocks)
	for i := range s.pending {
		c := &s.pending[i]
		for _, w := range diversify(s.passages(c), max(candidatesEach, min(2*s.options.Max, candidatesAll))) {
			s.candidates = append(s.candidates, s.candidate(c.content, c.document, w))
		}
		if len(s.candidates) > candidatesAll {
			s.rank()
			s.candidates = slices.Clone(s.candidates[:candidatesAll/2])
		}
	}
	s.pending, s.pendingBytes = nil, 0
}

// passages returns the passages of a document that have a score.
func (s *Search) passages(c *pendingDocument) (out []passage) {
	d := c.document
	b, l := s.reader(d)
	phrases := d.wholePhrases(s.query, c.postings, s.options.MaxChars)
	for _, part := range d.spansToScan(c.postings, s.scorer.weights, phrases) {
		r := d.read(b, l, part.from, part.to, int32(s.options.MaxChars))
		out = append(out, s.passagesIn(d, &r, d.phrasesIn(s.query, part, s.options.MaxChars))...)
	}
	return out
}

// reader returns what reads a document for query words.
func (s *Search) reader(d *Document) (*queryTermIndex, *lexer) {
	b, l := s.termIndex(d.lang), newLexer(d.lang)
	l.prefixes, l.withAffixes = &b.prefixes, true
	return b, l
}

func (s *Search) termIndex(lang language) *queryTermIndex {
	b, ok := s.termIndexes[lang]
	if !ok {
		b = newQueryTermIndex(s.query)
		b.add(lang)
		s.termIndexes[lang] = b
	}
	return b
}

// passagesIn returns the passages of a span, and one for each required phrase that none of them contains.
func (s *Search) passagesIn(d *Document, r *scannedSpan, found []occurrence) []passage {
	chars := int32(s.options.MaxChars)
	out := r.passages(s.scorer, chars)
	for _, o := range found {
		held := false
		for i := range out {
			held = out[i].markPhrase(o) || held
		}
		if !held && s.query.phrases[o.phrase].whole {
			w := r.passageHolding(s.scorer, d.text, int32(o.from), int32(o.to), chars)
			w.markPhrase(o)
			out = append(out, w)
		}
	}
	for i := range out {
		out[i].score += s.phraseScore(out[i].phrases) + requiredPhraseBonus*float64(s.wholePhrase(out[i].phrases))
	}
	return out
}

// requiredPhraseBonus exceeds all scores, so that a passage with a required phrase is always kept.
const requiredPhraseBonus = 1e6

// markPhrase records a phrase that lies in a passage.
func (w *passage) markPhrase(o occurrence) bool {
	if int(w.shown.from) <= o.from && o.to <= int(w.shown.to) {
		w.phrases |= 1 << o.phrase
		return true
	}
	return false
}

// phraseScore returns the score of the phrases in a passage: the weight of their words.
func (s *Search) phraseScore(held uint32) (sum float64) {
	for i, p := range s.query.phrases {
		if held&(1<<i) == 0 {
			continue
		}
		weight := 1.0
		for _, w := range p.words {
			weight += s.scorer.weights[w]
		}
		if p.whole {
			weight *= 2
		}
		sum += s.scorer.phrase * weight
	}
	return sum
}

// Excerpts returns the best passages, best first, without duplicates. If a content contains an exact phrase of the terms, the first excerpt
// does.
func (s *Search) Excerpts() []Excerpt {
	s.gather()
	s.rank()
	var chosen []*candidate
	worth := make([]float64, len(s.candidates))
	for i, c := range s.candidates {
		worth[i] = c.score
	}
	next := -1
	if len(s.candidates) > 0 && s.wholePhrase(s.candidates[0].phrases) == 1 {
		next = 0 // candidates with a required phrase come first
	}
	for len(chosen) < s.options.Max {
		if next < 0 {
			if next = largest(worth); next < 0 {
				break
			}
		}
		c := &s.candidates[next]
		worth[next] = 0
		if !slices.ContainsFunc(chosen, c.isDuplicate) {
			chosen = append(chosen, c)
			s.discount(worth, c)
		}
		next = -1
	}
	out := make([]Excerpt, len(chosen))
	for i, c := range chosen {
		out[i] = s.excerpt(c)
	}
	return out
}

// rank scores the candidates with the current weights and sorts them, best first.
func (s *Search) rank() {
	for i := range s.candidates {
		c := &s.candidates[i]
		c.score = c.share*s.scorer.score(&c.passage) + s.phraseScore(c.phrases)
	}
	slices.SortStableFunc(s.candidates, func(a, b candidate) int {
		switch {
		case s.wholePhrase(a.phrases) != s.wholePhrase(b.phrases):
			return s.wholePhrase(b.phrases) - s.wholePhrase(a.phrases)
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
}

// wholePhrase returns 1 if a required phrase is held, else 0.
func (s *Search) wholePhrase(held uint32) int {
	for i, p := range s.query.phrases {
		if p.whole && held&(1<<i) != 0 {
			return 1
		}
	}
	return 0
}

// discount lowers the scores of candidates that overlap a chosen one.
func (s *Search) discount(worth []float64, chosen *candidate) {
	chosenFrom, chosenTo := chosen.body()
	for i := range s.candidates {
		c := &s.candidates[i]
		from, to := c.body()
		if c.content == chosen.content && from < chosenTo && chosenFrom < to {
			worth[i] = min(worth[i], c.score*noveltyFactor(overlap(from, to, chosenFrom, chosenTo)))
		}
	}
}

// excerpt converts a candidate.
func (s *Search) excerpt(c *candidate) Excerpt {
	matched := s.matched(c)
	return Excerpt{
		Content: c.content, Text: c.text, Location: c.location, Bytes: c.bytes, Chars: c.chars, Score: c.score,
		Matched: matched, Relevance: s.relevance(c, matched),
	}
}

func (s *Search) candidate(content int, d *Document, w passage) candidate {
	w.near = slices.Clone(w.near) // of a stretch that is not kept
	c := candidate{passage: w, content: content}
	from, to := int(w.shown.from), int(w.shown.to)
	// Invalid UTF-8 is shown as a replacement character a byte.
	c.text = strings.Clone(strings.Map(func(r rune) rune { return r }, d.text[from:to]))
	c.location = d.reading.Place(from, to)
	c.bytes, c.chars = d.reading.Source(from, to)
	return c
}

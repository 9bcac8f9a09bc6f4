package citations

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Options says how much a search answers.
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
	Text      string // at most MaxChars characters, cut at borders of sentences or lines where that can be had
	Location  string // as Reading.Place
	Bytes     [2]int64
	Chars     [2]int64
	Score     float64  // comparable within one search alone
	Matched   []string // the search terms, as the caller wrote them (words of a long one), that it holds
	Relevance string   // in words: why it is here
}

// Search gathers the best passages of contents, scored with statistics over all of them. A Search is for one goroutine.
type Search struct {
	query      *Query
	options    Options
	bindings   map[language]*binding
	scorer     *scorer
	df         []int
	blocks     int
	candidates []candidate
}

// candidate is a passage of a content that is no longer at hand.
type candidate struct {
	excerpt  Excerpt
	from, to int32
	hits     []hit
	score    float64
}

// What a search keeps of each document, and of all.
const (
	blocksRead     = 48
	candidatesKept = 24
	candidatesAll  = 2048
)

// NewSearch begins a search.
func NewSearch(q *Query, o Options) *Search {
	if o.Max <= 0 {
		o.Max = DefaultExcerpts
	}
	if o.MaxChars <= 0 || o.MaxChars > MaxExcerptChars {
		o.MaxChars = MaxExcerptChars
	}
	return &Search{query: q, options: o, bindings: map[language]*binding{}, scorer: newScorer(q, defaultKnobs()), df: make([]int, len(q.words))}
}

// Add looks through a document. The search does not keep it.
func (s *Search) Add(content int, d *Document) {
	b, ok := s.bindings[d.lang]
	if !ok {
		b = newBinding(s.query)
		b.add(d.lang)
		s.bindings[d.lang] = b
	}
	postings := d.postings(b)
	for w, blocks := range postings {
		s.df[w] += len(blocks)
	}
	s.blocks += d.blocks()
	s.scorer.weigh(s.df, s.blocks)
	var windows []window
	l := newLexer(d.lang)
	for _, span := range s.spans(d, postings) {
		r := d.read(b, l, span[0], span[1])
		windows = append(windows, r.windows(s.scorer, int32(s.options.MaxChars))...)
	}
	for _, w := range apart(windows, candidatesKept) {
		s.keep(content, d, w)
	}
}

// spans are the parts of a text worth reading, by the blocks that hold the most of the query.
func (s *Search) spans(d *Document, postings [][]int32) (out [][2]int) {
	n := len(d.reading.Text)
	if d.index == nil {
		return [][2]int{{0, n}}
	}
	scores := make([]float64, d.blocks()+2) // block b at b+1
	for w, blocks := range postings {
		for _, b := range blocks {
			scores[b+1] += s.scorer.weights[w]
		}
	}
	var order []int
	for b := range d.blocks() {
		if scores[b+1] > 0 {
			order = append(order, b)
		}
	}
	value := func(b int) float64 { return scores[b+1] + max(scores[b], scores[b+2])/2 }
	sort.SliceStable(order, func(i, j int) bool { return value(order[i]) > value(order[j]) })
	order = order[:min(len(order), blocksRead)]
	slices.Sort(order)
	for _, b := range order {
		from, to := runeStart(d.reading.Text, max(0, b-1)*blockBytes), runeStart(d.reading.Text, min(n, (b+2)*blockBytes))
		if k := len(out); k > 0 && out[k-1][1] >= from {
			out[k-1][1] = to
		} else {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

func (s *Search) keep(content int, d *Document, w window) {
	e := Excerpt{Content: content, Text: strings.Clone(d.reading.Text[w.from:w.to]), Location: d.reading.Place(int(w.from), int(w.to))}
	e.Bytes, e.Chars = d.reading.Source(int(w.from), int(w.to))
	s.candidates = append(s.candidates, candidate{excerpt: e, from: w.from, to: w.to, hits: slices.Clone(w.near)})
}

// Excerpts are the best passages, best first; none says the same as one before it. A content that holds an exact phrase of the
// terms has it in the first excerpt.
func (s *Search) Excerpts() []Excerpt {
	for i := range s.candidates {
		c := &s.candidates[i]
		c.score = s.scorer.score(c.hits, c.from, c.to)
	}
	sort.SliceStable(s.candidates, func(i, j int) bool { return s.candidates[i].score > s.candidates[j].score })
	var out []Excerpt
	for _, c := range s.candidates {
		if len(out) == s.options.Max {
			break
		}
		c.excerpt.Score = c.score
		c.excerpt.Relevance = fmt.Sprintf("%d terms", len(c.hits))
		out = append(out, c.excerpt)
	}
	return out
}

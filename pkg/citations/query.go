package citations

import (
	"slices"
	"strings"
)

// The limits of queries: what lies beyond is not looked for.
const (
	maxQueryBytes   = 64 << 10
	maxQueryWords   = 1024
	maxQueryPhrases = 16
)

// Query is what is looked for. It is immutable and safe for concurrent use.
type Query struct {
	terms   []string
	tokens  []queryToken // of the terms, in order
	words   []queryWord  // each once, in order of first appearance
	phrases []phrase
	lang    language
}

// queryToken is a place in a term.
type queryToken struct {
	word int32 // -1: beyond the limit
	next bool  // the token before it is of the same term
}

// queryWord is a word that is looked for, or a run of characters of one.
type queryWord struct {
	text   string // as the caller wrote it
	weight float64
	term   int32 // the first term it is of
	from   int32 // and where in it
}

// NewQuery reads search terms: words, phrases, or whole requests of thousands of characters. A term in double quotes, and one of
// several words, is also looked for as a phrase.
func NewQuery(terms ...string) *Query {
	q := &Query{}
	room := maxQueryBytes
	for _, t := range terms {
		if room <= 0 {
			break
		}
		t = strings.ToValidUTF8(t[:min(len(t), room)], " ")
		room -= len(t) + 1
		q.terms = append(q.terms, t)
	}
	q.lang = languageOf(strings.Join(q.terms, " "))
	q.readWords()
	q.weigh()
	q.readPhrases()
	return q
}

// Empty says whether nothing in the terms can be looked for.
func (q *Query) Empty() bool { return len(q.words) == 0 && len(q.phrases) == 0 }

func (q *Query) readWords() {
	of := map[term]int32{}
	l := newLexer(q.lang)
	for n, text := range q.terms {
		first := true
		l.scan(text, 0, len(text), func(t token) {
			w, ok := of[t.term]
			if !ok {
				w = -1
				if len(q.words) < maxQueryWords {
					w = int32(len(q.words))
					q.words = append(q.words, queryWord{text: text[t.from:t.to], term: int32(n), from: t.from})
				}
				of[t.term] = w
			}
			q.tokens = append(q.tokens, queryToken{word: w, next: !first})
			first = false
			if w >= 0 {
				q.words[w].weight++
			}
		})
	}
}

// What words weigh before it is known how rare they are.
const (
	functionWeight = 0.15 // of a word that says nothing by itself
	repeatWeight   = 0.3  // of each further time that a word is named
)

// weigh turns how often words are named into what they weigh.
func (q *Query) weigh() {
	said := false
	for i := range q.words {
		w := &q.words[i]
		w.weight = 1 + repeatWeight*min(w.weight-1, 3)
		if q.lang.functionWord(fold(w.text)) {
			w.weight = -w.weight
		}
		said = said || w.weight > 0
	}
	for i := range q.words {
		if w := &q.words[i]; w.weight < 0 {
			w.weight = -w.weight
			if said {
				w.weight *= functionWeight
			}
		}
	}
}

// binding says which word of a query a term of a content is. The languages are those of the contents.
type binding struct {
	query *Query
	of    map[term]int32
	terms [][]term // of each word, one for each form that the languages give it
	bound []language
}

func newBinding(q *Query) *binding {
	return &binding{query: q, of: map[term]int32{}, terms: make([][]term, len(q.words))}
}

// add makes the binding know the terms as the language stems them.
func (b *binding) add(lang language) {
	if slices.Contains(b.bound, lang) {
		return
	}
	b.bound = append(b.bound, lang)
	l, i := newLexer(lang), 0
	for _, text := range b.query.terms {
		l.scan(text, 0, len(text), func(t token) {
			if w := b.query.tokens[i].word; w >= 0 {
				if _, ok := b.of[t.term]; !ok {
					b.of[t.term] = w
					b.terms[w] = append(b.terms[w], t.term)
				}
			}
			i++
		})
	}
}

package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of queries; anything beyond them is ignored.
const (
	maxQueryBytes   = 64 << 10
	maxQueryWords   = 1024
	maxQueryPhrases = 16
)

// Query is a parsed query. It is immutable and safe for concurrent use.
type Query struct {
	terms   []string
	tokens  []queryToken // of the terms, in order
	words   []queryWord  // each once, in order of first appearance
	pairs   map[[2]int32]struct{}
	phrases []phrase
	lang    language
}

// queryToken is an occurrence of a word in a term.
type queryToken struct {
	word     int32 // -1: beyond the limit
	term     int32
	from, to int32
}

// queryWord is a word that is searched for, or a run of characters of one.
type queryWord struct {
	text        string // as the caller wrote it
	weight      float64
	informative bool // is not a function word
	gram        bool // characters of a script without spaces
	canAnswer   bool // can answer: not a function word, nor a single character if the query has longer runs
}

// NewQuery parses search terms: words, phrases, or whole requests of thousands of characters. A term in double quotes, or of several words,
// is also searched for as a phrase. Anything beyond 64 KiB, 1,024 words and 16 phrases is ignored.
func NewQuery(terms ...string) *Query {
	q := &Query{pairs: map[[2]int32]struct{}{}}
	room := maxQueryBytes
	for _, t := range terms {
		if room <= 0 {
			break
		}
		t = strings.ToValidUTF8(t[:min(len(t), room)], " ")
		room -= len(t) + 1
		q.terms = append(q.terms, t)
	}
	q.lang = languageOf(strings.Join(q.terms, "\n"))
	q.readWords()
	q.weigh()
	q.readPairs()
	q.readPhrases()
	return q
}

// Empty reports whether the terms contain nothing to search for.
func (q *Query) Empty() bool { return len(q.words) == 0 && len(q.phrases) == 0 }

func (q *Query) readWords() {
	of := map[term]int32{}
	l := newLexer(q.lang)
	for n, text := range q.terms {
		l.scan(text, 0, len(text), func(t token) {
			w, ok := of[t.term]
			if !ok {
				w = q.newWord(text[t.from:t.to])
				of[t.term] = w
			}
			q.tokens = append(q.tokens, queryToken{word: w, term: int32(n), from: t.from, to: t.to})
			if w >= 0 {
				q.words[w].weight++
				q.words[w].informative = q.words[w].informative || !q.emptyWord(text, int(t.from), int(t.to))
			}
		})
	}
}

func (q *Query) newWord(text string) int32 {
	if len(q.words) == maxQueryWords {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(text)
	q.words = append(q.words, queryWord{text: text, gram: gramScript(r)})
	return int32(len(q.words) - 1)
}

// emptyWord reports whether text[from:to] is uninformative: a function word, or characters that overlap one.
func (q *Query) emptyWord(text string, from, to int) bool {
	if r, _ := utf8.DecodeRuneInString(text[from:to]); !gramScript(r) {
		return q.lang.functionWord(fold(text[from:to]))
	}
	for run := range strings.FieldsSeq(functionRuns) {
		if strings.Contains(text[max(0, from-len(run)+1):min(len(text), to+len(run)-1)], run) {
			return true
		}
	}
	return false
}

// Weights of words before their rarity is known.
const (
	functionWeight = 0.15 // of a function word
	maxRepeats     = 5
	singleWeight   = 0.4 // of one character of a script without spaces
	repeatWeight   = 1.0 // of each further time that a word is named, up to maxRepeats
)

// weigh converts how often words are named to weights. If nothing else is named, function words count.
func (q *Query) weigh() {
	said := slices.ContainsFunc(q.words, func(w queryWord) bool { return w.informative })
	runs := slices.ContainsFunc(q.words, func(w queryWord) bool { return w.informative && w.gram && !isSingleCharacter(w.text) })
	for i := range q.words {
		w := &q.words[i]
		w.weight = 1 + repeatWeight*min(w.weight-1, maxRepeats)
		if w.gram && isSingleCharacter(w.text) {
			w.weight *= singleWeight
		}
		if said && !w.informative {
			w.weight *= functionWeight
		}
		w.canAnswer = w.informative && !(runs && w.gram && isSingleCharacter(w.text)) || acronym(w.text)
		w.informative = w.informative || !said
	}
}

// acronym reports whether a word is written like an acronym: WHO and IT mean more than who and it.
func acronym(text string) bool {
	return utf8.RuneCountInString(text) > 1 && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
}

// isSingleCharacter reports whether a text is one character, with its marks.
func isSingleCharacter(text string) bool {
	for i, r := range text {
		if i > 0 && classOf(r) != classMark {
			return false
		}
	}
	return true
}

// readPairs records which words follow each other.
func (q *Query) readPairs() {
	for i, t := range q.tokens {
		for back := i - 1; back >= max(0, i-3) && t.word >= 0; back-- {
			before := q.tokens[back]
			if before.term == t.term && before.to <= t.from && before.word >= 0 && before.word != t.word {
				q.pairs[[2]int32{before.word, t.word}] = struct{}{}
				break
			}
		}
	}
}

// queryTermIndex maps the terms of contents to query words, in the languages of the contents. It is not safe for concurrent use while
// languages are added.
type queryTermIndex struct {
	query     *Query
	wordOf    map[term]int32
	terms     [][]term       // of each word, one for each form that the languages give it
	byAffix   map[term]int32 // of words that say something, the first that begins or ends so
	languages []language
	prefixes  prefixSet
}

// newQueryTermIndex makes a binding of a lexer's terms.
func newQueryTermIndex(q *Query) *queryTermIndex {
	return &queryTermIndex{query: q, wordOf: map[term]int32{}, byAffix: map[term]int32{}, terms: make([][]term, len(q.words))}
}

// add adds the terms as a language stems them.
func (b *queryTermIndex) add(lang language) {
	if slices.Contains(b.languages, lang) {
		return
	}
	b.languages = append(b.languages, lang)
	l, i := newLexer(lang), 0
	l.withAffixes = true
	for _, text := range b.query.terms {
		l.scan(text, 0, len(text), func(t token) {
			b.bind(t, b.query.tokens[i].word, text)
			i++
		})
	}
}

func (b *queryTermIndex) bind(t token, word int32, text string) {
	if _, ok := b.wordOf[t.term]; ok || word < 0 {
		return
	}
	b.wordOf[t.term] = word
	b.terms[word] = append(b.terms[word], t.term)
	for _, end := range t.affixes {
		if _, ok := b.byAffix[end]; !ok && end != 0 && b.query.words[word].informative {
			b.byAffix[end] = word
		}
	}
	if t.to-t.from > 1 {
		b.prefixes[prefixOf(text[t.from], text[t.from+1])] = true
	}
}

// find returns the query word of a token, or else the one with which it shares a prefix or suffix.
func (b *queryTermIndex) find(t token) (word int32, partial, ok bool) {
	if word, ok = b.wordOf[t.term]; ok {
		return word, false, true
	}
	for _, end := range t.affixes {
		if word, ok = b.byAffix[end]; ok {
			return word, true, true
		}
	}
	return 0, false, false
}

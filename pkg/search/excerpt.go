package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// candidate is a passage whose content is no longer in memory.
type candidate struct {
	passage
	content int

	text         string
	location     string
	bytes, chars [2]int64
	wordTerms    []term // its words, in order of their hashes, once it was compared
}

// duplicateShare is the share of common words from which two passages are duplicates.
const duplicateShare = 0.9

// isDuplicate compares the words of two passages, including numbers.
func (c *candidate) isDuplicate(other *candidate) bool {
	a, b := c.wordSet(), other.wordSet()
	if len(a) == 0 || len(b) == 0 {
		return strings.TrimSpace(c.text) == strings.TrimSpace(other.text)
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) >= duplicateShare*float64(len(a)+len(b)-both)
}

func (c *candidate) wordSet() []term {
	if c.wordTerms == nil {
		l := newLexer(0)
		l.stems.latin = nil
		l.scan(c.text, 0, len(c.text), func(t token) { c.wordTerms = append(c.wordTerms, t.term) })
		slices.Sort(c.wordTerms)
		c.wordTerms = slices.Compact(c.wordTerms)
	}
	return c.wordTerms
}

// maxMatched is how many terms an excerpt names at most.
const maxMatched = 16

// matched returns the query terms in a passage: phrases if it contains them, else words, with characters of scripts without spaces joined
// to runs.
func (s *Search) matched(c *candidate) []string {
	held := make([]bool, len(s.query.words))
	for _, h := range c.near {
		if h.from >= c.shown.from && h.to <= c.shown.to && !h.partial {
			held[h.word] = true
		}
	}
	var out []string
	for i, p := range s.query.phrases {
		if c.phrases&(1<<i) != 0 {
			out = append(out, p.text)
		}
	}
	for _, word := range s.query.namesOf(held) {
		within := slices.ContainsFunc(out, func(name string) bool { return strings.Contains(name, word) })
		if !within && len(out) < maxMatched {
			out = append(out, word)
		}
	}
	return out
}

// namesOf returns the informative words that are held, each once. Single characters are named only if nothing longer is.
func (q *Query) namesOf(held []bool) []string {
	names := q.joinTokens(func(t queryToken) bool { return q.isInformative(t, held) && !q.singleAt(t) })
	if len(names) == 0 {
		names = q.joinTokens(func(t queryToken) bool { return q.isInformative(t, held) })
	}
	return names
}

func (q *Query) isInformative(t queryToken, held []bool) bool {
	return t.word >= 0 && held[t.word] && q.words[t.word].informative
}

func (q *Query) singleAt(t queryToken) bool {
	return q.words[t.word].gram && isSingleCharacter(q.terms[t.term][t.from:t.to])
}

// joinTokens returns the parts of the terms that wanted tokens cover, each once.
func (q *Query) joinTokens(wanted func(queryToken) bool) (out []string) {
	last := queryToken{term: -1}
	end := func() {
		if last.term >= 0 && !slices.Contains(out, q.terms[last.term][last.from:last.to]) {
			out = append(out, q.terms[last.term][last.from:last.to])
		}
	}
	for _, t := range q.tokens {
		switch {
		case !wanted(t):
		case last.term == t.term && t.from < last.to:
			last.from, last.to = min(last.from, t.from), max(last.to, t.to)
		default:
			end()
			last = t
		}
	}
	end()
	return out
}

// The limits of a relevance text.
const (
	namesShown = 6
	nameChars  = 60
)

// relevance describes what a passage contains.
func (s *Search) relevance(c *candidate, matched []string) string {
	for i, p := range s.query.phrases {
		if c.phrases&(1<<i) != 0 {
			return fmt.Sprintf("holds the phrase %q", clipName(p.text))
		}
	}
	if len(matched) == 0 {
		return "holds common words of the terms"
	}
	names := make([]string, 0, namesShown)
	for _, name := range matched[:min(len(matched), namesShown)] {
		names = append(names, clipName(name))
	}
	all := s.query.informativeWords()
	if all == 0 || len(matched) > all {
		return "holds " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d of %d terms: %s", len(matched), all, strings.Join(names, ", "))
}

// ContentWords returns the number of words by which something can be found: function words are none.
func (q *Query) ContentWords() (n int) {
	for _, w := range q.words {
		if w.canAnswer {
			n++
		}
	}
	return n
}

// informativeWords returns the number of informative words; 0 if words cannot be told apart.
func (q *Query) informativeWords() (n int) {
	for _, w := range q.words {
		if w.gram {
			return 0
		}
		if w.informative {
			n++
		}
	}
	return n
}

// clipName cuts a name to fit into a line.
func clipName(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	if utf8.RuneCountInString(name) <= nameChars {
		return name
	}
	return string([]rune(name)[:nameChars]) + "…"
}

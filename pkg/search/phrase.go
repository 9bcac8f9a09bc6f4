package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// phrase is a run of characters that is searched for verbatim, after folding case, width and white space.
type phrase struct {
	text           string  // as the caller wrote it, without quotes
	runes          []rune  // folded
	prefixFunction []int32 // of each prefix: how long its longest proper prefix is that ends it (Knuth, Morris, Pratt)
	words          []int32 // that a text with the phrase must hold
	whole          bool    // a whole term, or in quotes: the first excerpt holds it if the content does
}

// readPhrases collects what is searched for verbatim: each term of several words, quoted text, and, with less weight, the paths, numbers
// and identifiers within terms.
func (q *Query) readPhrases() {
	for _, t := range q.terms {
		q.addPhrase(strings.TrimSpace(t), true)
	}
	for _, t := range q.terms {
		for i, quoted := range strings.Split(t, `"`) {
			if i%2 == 1 {
				q.addPhrase(strings.TrimSpace(quoted), true)
			}
		}
	}
	for _, t := range q.terms {
		for chunk := range strings.FieldsSeq(t) {
			q.addPhrase(strings.TrimFunc(chunk, isNotWord), false)
		}
	}
}

func isNotWord(r rune) bool { return classOf(r) == classNone }

func (q *Query) addPhrase(text string, whole bool) {
	text = trimQuotes(text)
	if len(q.phrases) == maxQueryPhrases || len(text) > utf8.UTFMax*MaxExcerptChars || (strings.IndexFunc(text, isNotWord) < 0 && !whole) {
		return
	}
	p := phrase{text: text, runes: foldedRunes(text), whole: whole}
	if len(p.runes) == 0 || len(p.runes) > MaxExcerptChars || q.phraseKnown(p.runes) {
		return
	}
	p.prefixFunction = prefixFunction(p.runes)
	one := q.readPhraseWords(&p)
	if one && len(text) <= maxWordBytes && strings.IndexFunc(text, isNotWord) < 0 {
		return // a word is looked for as a word
	}
	q.phrases = append(q.phrases, p)
}

func trimQuotes(text string) string {
	if len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' && !strings.Contains(text[1:len(text)-1], `"`) {
		return strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

func (q *Query) phraseKnown(runes []rune) bool {
	return slices.ContainsFunc(q.phrases, func(p phrase) bool { return slices.Equal(p.runes, runes) })
}

// readPhraseWords collects the words of a phrase, and reports whether it is a single word. A single word, and the first and last of more
// than two, may be parts of words in a text, so they are not required.
func (q *Query) readPhraseWords(p *phrase) (one bool) {
	of := make(map[string]int32, len(q.words))
	for i, w := range q.words {
		of[w.text] = int32(i)
	}
	var tokens []token
	newLexer(q.lang).scan(p.text, 0, len(p.text), func(t token) { tokens = append(tokens, t) })
	one = len(tokens) == 1
	for _, t := range tokens {
		inner := t.from > 0 && int(t.to) < len(p.text)
		if w, ok := of[p.text[t.from:t.to]]; ok && (inner || len(tokens) == 2) {
			p.words = append(p.words, w)
		}
	}
	return one
}

// foldedRunes folds case and width, and each run of white space to one space.
func foldedRunes(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case !unicode.IsSpace(r):
			out = append(out, foldRune(r))
		case len(out) > 0 && out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
	}
	return out
}

func prefixFunction(p []rune) []int32 {
	f := make([]int32, len(p))
	for i := 1; i < len(p); i++ {
		k := f[i-1]
		for k > 0 && p[i] != p[k] {
			k = f[k-1]
		}
		if p[i] == p[k] {
			k++
		}
		f[i] = k
	}
	return f
}

// find calls found with each occurrence of the phrase in text[from:to], until it returns false. Its time is linear in the text
// (Knuth-Morris-Pratt).
func (p *phrase) find(text string, from, to int, found func(span) bool) {
	k, space := int32(0), false
	for i := from; i < to; {
		if k == 0 {
			if i = p.skip(text, i, to); i == to {
				return
			}
		}
		r, n := foldedAt(text, i, to)
		i += n
		if space && r == ' ' {
			continue
		}
		space = r == ' '
		for k > 0 && p.runes[k] != r {
			k = p.prefixFunction[k-1]
		}
		if p.runes[k] != r {
			continue
		}
		if k++; int(k) == len(p.runes) {
			if !found(span{p.start(text, from, i), i}) {
				return
			}
			k = p.prefixFunction[k-1]
		}
	}
}

// skip advances to the next possible first character.
func (p *phrase) skip(text string, i, to int) int {
	first := p.runes[0]
	for i < to && text[i] < utf8.RuneSelf && rune(asciiLower(text[i])) != first {
		i++
	}
	return i
}

// foldedAt returns the folded character at i, and its length. Any white space is a space.
func foldedAt(text string, i, to int) (rune, int) {
	if c := text[i]; c < utf8.RuneSelf {
		if c == ' ' || c-'\t' < 5 {
			return ' ', 1
		}
		return rune(asciiLower(c)), 1
	}
	r, n := utf8.DecodeRuneInString(text[i:to])
	if unicode.IsSpace(r) {
		return ' ', n
	}
	return foldRune(r), n
}

// start returns where the phrase begins, given its end.
func (p *phrase) start(text string, from, end int) int {
	at, space := end, false
	for left := len(p.runes); left > 0 && at > from; {
		r, n := utf8.DecodeLastRuneInString(text[from:at])
		at -= n
		blank := unicode.IsSpace(r)
		if !blank || !space {
			left--
		}
		space = blank
	}
	return at
}

// maxOccurrences is how many occurrences of a phrase a search examines, in a content and again in each part of it that is read.
const maxOccurrences = 16

// occurrence is where a phrase of a query is in a text.
type occurrence struct {
	span
	phrase int
}

// phraseOccurrences finds the occurrences of a phrase in a part of the text that fit an excerpt, including the marks on their first and
// last characters.
func (d *Document) phraseOccurrences(p *phrase, part span, maxChars int, found func(span) bool) {
	n := 0
	p.find(d.text, part.from, part.to, func(s span) bool {
		if !charsWithin(d.text[s.from:s.to], int32(maxChars)) {
			return true
		}
		n++
		s = wholeClusters(d.text, s, utf8.UTFMax*maxChars)
		return (!charsWithin(d.text[s.from:s.to], int32(maxChars)) || found(s)) && n < maxOccurrences
	})
}

// clusterReach limits how far back, in bytes, the start of a grapheme cluster is searched for.
const clusterReach = 256

// wholeClusters widens a span to whole grapheme clusters, by at most reach bytes at its end.
func wholeClusters(text string, s span, reach int) span {
	if plainBorder(text, s.from) && plainBorder(text, s.to) {
		return s
	}
	at, state := content.RuneStart(text, max(0, s.from-clusterReach)), -1
	at += strings.LastIndexByte(text[at:s.from], '\n') + 1
	for rest := text[at:min(s.to+reach, len(text))]; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at < s.from && s.from < at+len(cluster) {
			s.from = at
		}
		if at += len(cluster); at >= s.to {
			s.to = at
			break
		}
	}
	return s
}

// plainBorder reports whether a position lies between ASCII characters, which no mark joins.
func plainBorder(text string, at int) bool {
	return (at == 0 || text[at-1] < utf8.RuneSelf) && (at == len(text) || text[at] < utf8.RuneSelf)
}

// wholePhrases returns occurrences of the phrases that the first excerpt must contain.
func (d *Document) wholePhrases(q *Query, postings [][]int32, maxChars int) (out []span) {
	for i := range q.phrases {
		p, n := &q.phrases[i], 0
		if !p.whole {
			continue
		}
		for _, part := range d.candidateSpans(p, postings) {
			d.phraseOccurrences(p, part, maxChars, func(s span) bool {
				out = append(out, s)
				n++
				return n < maxOccurrences
			})
			if n == maxOccurrences {
				break
			}
		}
	}
	return out
}

// phrasesIn returns the occurrences of all phrases in a part of the text.
func (d *Document) phrasesIn(q *Query, part span, maxChars int) (out []occurrence) {
	for i := range q.phrases {
		d.phraseOccurrences(&q.phrases[i], part, maxChars, func(s span) bool {
			out = append(out, occurrence{s, i})
			return true
		})
	}
	return out
}

// candidateSpans returns the parts of a text that may contain a phrase: those around the rarest of its words.
func (d *Document) candidateSpans(p *phrase, postings [][]int32) []span {
	if len(p.words) == 0 {
		return []span{{0, len(d.text)}}
	}
	rarest := postings[p.words[0]]
	for _, w := range p.words {
		if len(postings[w]) < len(rarest) {
			rarest = postings[w]
		}
	}
	const reach = utf8.UTFMax * MaxExcerptChars
	out := make([]span, 0, len(rarest))
	for _, b := range rarest {
		from, to := max(0, int(b)*blockBytes-reach), min(len(d.text), (int(b)+1)*blockBytes+reach)
		out = append(out, span{content.RuneStart(d.text, from), content.RuneStart(d.text, to)})
	}
	return mergeSpans(out)
}

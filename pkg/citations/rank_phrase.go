package citations

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrase is a run of characters that is looked for as it stands, after folding case, width and white space.
type phrase struct {
	text  string // as the caller wrote it, without quotes
	runes []rune // folded
	words []int32
	fails []int32 // of each prefix: how long its longest proper prefix is that ends it (Knuth, Morris, Pratt)
	whole bool    // a whole term, or in quotes: the first excerpt holds it if the content does
}

// readPhrases finds what is looked for as it stands: each term of several words, what stands in quotes, and, for more weight alone,
// the paths, numbers and identifiers within terms.
func (q *Query) readPhrases() {
	for _, t := range q.terms {
		q.addPhrase(t, true)
	}
	for _, t := range q.terms {
		for i, quoted := range strings.Split(t, `"`) {
			if i%2 == 1 {
				q.addPhrase(quoted, true)
			}
		}
	}
	for _, t := range q.terms {
		for chunk := range strings.FieldsSeq(t) {
			q.addPhrase(strings.TrimFunc(chunk, func(r rune) bool { return classOf(r) == classNone }), false)
		}
	}
}

func (q *Query) addPhrase(text string, whole bool) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok && inner != "" && !strings.Contains(inner, `"`) {
			text = inner
		}
	}
	runes := foldedRunes(text)
	if len(q.phrases) == maxQueryPhrases || len(runes) < 2 || len(runes) > MaxExcerptChars {
		return
	}
	p := phrase{text: text, runes: runes, whole: whole, fails: failures(runes)}
	of := map[string]bool{}
	l, n := newLexer(q.lang), 0
	l.scan(text, 0, len(text), func(t token) { of[text[t.from:t.to]] = true; n++ })
	if n == 1 && strings.IndexFunc(text, func(r rune) bool { return classOf(r) == classNone }) < 0 {
		return // a word
	}
	for i, w := range q.words {
		if of[w.text] {
			p.words = append(p.words, int32(i))
		}
	}
	for _, other := range q.phrases {
		if string(other.runes) == string(runes) {
			return
		}
	}
	q.phrases = append(q.phrases, p)
}

// foldedRunes folds case and width, and makes one space of each run of white space.
func foldedRunes(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if unicode.IsSpace(r) {
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
			continue
		}
		out = append(out, foldRune(r))
	}
	return out
}

func failures(p []rune) []int32 {
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

// find calls found with where in text[from:to] the phrase stands, until it answers false. Its time is linear in the text.
func (p *phrase) find(text string, from, to int, found func(from, to int) bool) {
	ring := make([]int32, len(p.runes)) // where the last characters stood
	seen, k, space := 0, int32(0), true
	for i := from; i < to; {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:to])
		}
		at := i
		i += n
		if unicode.IsSpace(r) {
			if space {
				continue
			}
			space, r = true, ' '
		} else {
			space, r = false, foldRune(r)
		}
		ring[seen%len(ring)] = int32(at)
		seen++
		for k > 0 && p.runes[k] != r {
			k = p.fails[k-1]
		}
		if p.runes[k] != r {
			continue
		}
		if k++; int(k) == len(p.runes) {
			if !found(int(ring[seen%len(ring)]), i) {
				return
			}
			k = p.fails[k-1]
		}
	}
}

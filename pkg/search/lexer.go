package search

import (
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// term is a hash of a folded and stemmed word, or of a run of characters, by which contents and queries are compared. Zero means none.
type term uint32

// token is an occurrence of a term in a text.
type token struct {
	term     term
	affixes  affixes // of a word, if the lexer computes them
	from, to int32   // bytes
	pos      int32   // index of the word; the parts of an identifier have consecutive ones, the whole that of its first part
}

// affixes are hashes of the first and last letters of a word's stem, each zero if the stem is too short. Words that share one are likely
// related although stemming separates them: Touristen and touristisch, Verfassung and Landesverfassung.
type affixes [2]term

// The number of letters in the prefix and the suffix of a stem.
const (
	beginLetters = 4
	endLetters   = 5
)

func affixesOf(stem string) (e affixes) {
	letters := []rune(stem)
	if n := len(letters); n >= beginLetters {
		e[0] = hashOf("^" + string(letters[:beginLetters])) // no stem has such a character
	}
	if n := len(letters); n >= endLetters {
		e[1] = hashOf(string(letters[n-endLetters:]) + "$")
	}
	return e
}

// word is what a lexer caches about a word.
type word struct {
	term    term
	affixes affixes
}

// Longer tokens are not words: they are neither split nor stemmed.
const maxWordBytes = 64

// lexer splits texts into terms. It caches words, because folding and stemming cost more than a lookup. It is not safe for concurrent use.
type lexer struct {
	stems       stemmer
	latin       language
	prefixes    *prefixSet // of the words to look up; nil: all
	withAffixes bool       // computes affixes
	seen        map[uint64]word
	emit        func(token)
	text        string
	pos         int32
}

func newLexer(latin language) *lexer {
	return &lexer{stems: newStemmer(latin), latin: latin, seen: map[uint64]word{}}
}

// prefixSet holds the first two letters of ASCII words. Stemming keeps them, so a word with another prefix than all query words need not be
// stemmed.
type prefixSet [1 << 10]bool

func prefixOf(first, second byte) int { return int(first&31)<<5 | int(second&31) }

// maxSeen limits the cache, because hostile contents consist of ever new words.
const maxSeen = 1 << 17

// scan emits the tokens of text[from:to], in order.
func (l *lexer) scan(text string, from, to int, emit func(token)) {
	l.text, l.emit, l.pos = text[:to], emit, 0
	for i := from; i < to; {
		if c := text[i]; c < utf8.RuneSelf {
			if asciiAlnum(c) {
				i = l.word(i)
			} else {
				i++
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(l.text[i:])
		switch classOf(r) {
		case classWord:
			i = l.word(i)
		case classGram:
			i = l.run(i)
		default:
			i += n
		}
	}
}

const (
	hashSeed  = 14695981039346656037
	hashPrime = 1099511628211
)

// word reads a word from i on and emits it, and its parts if it is a camel-case identifier.
func (l *lexer) word(i int) int {
	from, hash, digits, humps := i, uint64(hashSeed), false, false
	lower, uppers := false, 0
	for i < len(l.text) {
		c := l.text[i]
		if c >= utf8.RuneSelf {
			return l.wideWord(from, i)
		}
		if !asciiAlnum(c) {
			break
		}
		upper := c-'A' < 26
		humps = humps || (upper && lower) || (!upper && uppers > 1)
		if lower = c-'a' < 26; upper {
			uppers++
		} else {
			uppers = 0
		}
		digits = digits || c-'0' < 10
		hash = (hash ^ uint64(asciiLower(c))) * hashPrime
		i++
	}
	next := l.pos + 1
	if humps && i-from <= maxWordBytes {
		next = l.parts(from, i)
	}
	w := l.lookUp(hash, from, i, !digits)
	l.emit(token{w.term, w.affixes, int32(from), int32(i), l.pos})
	l.pos = next
	return i
}

// lookUp returns the word text[from:to], given its hash.
func (l *lexer) lookUp(hash uint64, from, to int, stem bool) word {
	if !stem || to-from <= 2 || to-from > maxWordBytes {
		return word{term: mix(hash)}
	}
	if l.prefixes != nil && !l.tellsAffixes() && !l.prefixes[prefixOf(l.text[from], l.text[from+1])] {
		return word{}
	}
	if w, ok := l.seen[hash]; ok {
		return w
	}
	return l.learn(hash, from, to, l.tellsAffixes())
}

// tellsAffixes reports whether affixes of words in Latin letters are used. Those of English are not: its stems suffice, and prefixes of
// names, code and data say little.
func (l *lexer) tellsAffixes() bool { return l.withAffixes && l.latin != 0 }

// learn folds and stems a word.
func (l *lexer) learn(hash uint64, from, to int, tell bool) word {
	stem := l.stems.stem(fold(l.text[from:to]))
	w := word{term: hashOf(stem)}
	if tell {
		w.affixes = affixesOf(stem)
	}
	if len(l.seen) < maxSeen {
		l.seen[hash] = w
	}
	return w
}

// wideWord continues a word that is not all ASCII.
func (l *lexer) wideWord(from, i int) int {
	for i < len(l.text) {
		if c := l.text[i]; c < utf8.RuneSelf {
			if !asciiAlnum(c) {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(l.text[i:])
		if c := classOf(r); c != classWord && c != classMark {
			break
		}
		i += n
	}
	hash := uint64(hashSeed) ^ 1 // apart from ASCII words, which are hashed after folding
	for _, c := range []byte(l.text[from:i]) {
		hash = (hash ^ uint64(c)) * hashPrime
	}
	w := l.lookUpWide(hash, from, i)
	l.emit(token{w.term, w.affixes, int32(from), int32(i), l.pos})
	l.pos++
	return i
}

func (l *lexer) lookUpWide(hash uint64, from, to int) word {
	if w, ok := l.seen[hash]; ok {
		return w
	}
	if to-from > 4*maxWordBytes {
		return word{term: mix(hash)}
	}
	first, _ := utf8.DecodeRuneInString(l.text[from:])
	return l.learn(hash, from, to, l.tellsAffixes() || l.withAffixes && !unicode.Is(unicode.Latin, first))
}

// parts emits the parts of a camel-case identifier, and returns the position after them.
func (l *lexer) parts(from, to int) int32 {
	pos := l.pos
	for start, i := from, from+1; i <= to; i++ {
		if i < to && !isCamelBoundary(l.text, i, to) {
			continue
		}
		if i-start > 1 && i-start < to-from {
			l.part(start, i, pos)
			pos++
		}
		start = i
	}
	return max(pos, l.pos+1)
}

func (l *lexer) part(from, to int, pos int32) {
	hash, digits := uint64(hashSeed), false
	for _, c := range []byte(l.text[from:to]) {
		digits = digits || c-'0' < 10
		hash = (hash ^ uint64(asciiLower(c))) * hashPrime
	}
	w := l.lookUp(hash, from, to, !digits)
	l.emit(token{w.term, w.affixes, int32(from), int32(to), pos})
}

// isCamelBoundary reports whether a part of an identifier begins at i: fooBar, HTTPServer, but not URLs.
func isCamelBoundary(s string, i, to int) bool {
	if s[i]-'A' >= 26 {
		return false
	}
	return s[i-1]-'A' >= 26 || (i+2 < to && s[i+1]-'a' < 26 && s[i+2]-'a' < 26)
}

// run reads characters of a script without spaces from i on, each with its marks. It emits each one, and runs of two, or of three in
// scripts where one character says little.
func (l *lexer) run(i int) int {
	first, _ := utf8.DecodeRuneInString(l.text[i:])
	size := 2
	if isAlphabetic(first) {
		size = 3
	}
	var starts [3]int // of the last characters
	n := 0
	for i < len(l.text) {
		r, w := utf8.DecodeRuneInString(l.text[i:])
		c := classOf(r)
		if c != classGram && c != classMark {
			break
		}
		if c == classGram || n == 0 {
			l.grams(starts, n, size, i)
			starts[n%3] = i
			n++
		}
		i += w
	}
	l.grams(starts, n, size, i)
	l.pos++ // words on both sides of a space are not a pair
	return i
}

// grams emits the n-grams that end with the nth character of a run.
func (l *lexer) grams(starts [3]int, n, size, to int) {
	if n == 0 {
		return
	}
	l.gram(starts[(n-1)%3], to)
	if k := min(n, size); k > 1 {
		l.gram(starts[(n-k)%3], to)
	}
	l.pos++
}

// gram emits text[from:to] with folded width and case.
func (l *lexer) gram(from, to int) {
	hash := uint64(hashSeed) ^ 2
	for _, r := range l.text[from:to] {
		hash = (hash ^ uint64(foldRune(r))) * hashPrime
	}
	l.emit(token{term: mix(hash), from: int32(from), to: int32(to), pos: l.pos})
}

func hashOf(s string) term {
	hash := uint64(hashSeed)
	for _, c := range []byte(s) {
		hash = (hash ^ uint64(c)) * hashPrime
	}
	return mix(hash)
}

// mix reduces a hash to a term.
func mix(hash uint64) term {
	hash ^= hash >> 32
	hash *= 0x9E3779B97F4A7C15
	return max(1, term(hash>>32&math.MaxUint32))
}

// foldRune folds the case and width of a character.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(asciiLower(byte(r)))
	case r == 0x3000:
		return ' '
	case r >= 0xFF01 && r <= 0xFFEF:
		if folded := width.LookupRune(r).Folded(); folded != 0 {
			r = folded
		}
	}
	return unicode.ToLower(r)
}

package bpe

import (
	"unicode"
	"unicode/utf8"
)

// class is the set of character classes a rune belongs to, as far as the splitting rules tell runes apart.
type class uint8

const (
	// upper holds what may open a word: capitals, and what has no case.
	upper class = 1 << iota
	// lower holds what may close a word: small letters, and what has no case.
	lower
	letter
	number
	space
	newline
)

// classes holds the class of every rune of the basic plane: reading it is an
// order of magnitude faster than searching Unicode's range tables.
type classes [1 << 16]class

func newClasses() *classes {
	t := &classes{}
	for _, table := range []*unicode.RangeTable{unicode.Lu, unicode.Lt} {
		t.mark(table, upper|letter)
	}
	t.mark(unicode.Ll, lower|letter)
	for _, table := range []*unicode.RangeTable{unicode.Lm, unicode.Lo} {
		t.mark(table, upper|lower|letter)
	}
	t.mark(unicode.M, upper|lower)
	t.mark(unicode.N, number)
	t.mark(unicode.White_Space, space)
	t['\r'] |= newline
	t['\n'] |= newline
	return t
}

func (t *classes) mark(table *unicode.RangeTable, c class) {
	for _, span := range table.R16 {
		for r := int(span.Lo); r <= int(span.Hi); r += int(span.Stride) {
			t[r] |= c
		}
	}
}

// at returns the class and the width, in bytes, of the rune at text[i:]; both are 0 at the end.
func (t *classes) at(text string, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return t[b], 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	if int(r) < len(t) {
		return t[r], width
	}
	return classBeyond(r), width
}

// classBeyond searches the range tables for a rune outside the basic plane.
func classBeyond(r rune) class {
	switch {
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.Is(unicode.Ll, r):
		return lower | letter
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	}
	return 0
}

// run returns the end of the longest run, from i, of runes in any class of c.
func (t *classes) run(text string, i int, c class) int {
	for {
		found, width := t.at(text, i)
		if width == 0 || found&c == 0 {
			return i
		}
		i += width
	}
}

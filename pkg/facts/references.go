package facts

import (
	"strings"
	"unicode/utf8"
)

// EachName calls yield for every name in a text, in order.
func EachName(text string, yield func(string)) {
	eachWord(text, func(word string) {
		if isName(word) {
			yield(word)
		}
	})
}

// EachReference calls yield for every name and every number that may be a reference: a key, a year, the end of a card number.
func EachReference(text string, yield func(string)) {
	eachWord(text, func(word string) {
		if isName(word) || IsNumber(word) {
			yield(word)
		}
	})
}

// IsNumber reports whether a word is four digits or more.
func IsNumber(s string) bool {
	return 4 <= len(s) && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// eachWord calls yield for every word of a text, without surrounding punctuation.
func eachWord(text string, yield func(string)) {
	for part := range strings.FieldsFuncSeq(text, endsName) {
		if word := strings.TrimRight(strings.TrimLeft(part, ":!?-#&+~^"), ".:!?-/#&+~^"); word != "" {
			yield(word)
		}
	}
}

func endsName(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>,;|=*", r) }

// isName reports whether a word is a name rather than a natural word or a bare number.
func isName(s string) bool {
	if len(s) < 4 || len(s) > 100 {
		return false
	}
	letters, marks, digits := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c):
			letters++
			if i > 0 && c < 'a' && 'a' <= s[i-1] && s[i-1] <= 'z' {
				marks++ // as in camelCase
			}
		case isDigit(c):
			digits++
		case c >= utf8.RuneSelf || c == '%' || c == '\\':
			return false // a format, an escape
		case i > 0 && i < len(s)-1 && strings.IndexByte("_/.@:", c) >= 0:
			marks++
		}
	}
	return letters > 1 && (marks > 0 || digits > 0)
}

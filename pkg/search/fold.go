package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold normalizes the spelling of a word: case, width, compatibility forms, joiners. It keeps diacritics, because stemming needs them;
// stripDiacritics removes them afterwards.
func fold(word string) string {
	if isASCII(word) {
		return strings.ToLower(word)
	}
	return strings.Map(foldLetter, norm.NFKC.String(word))
}

func foldLetter(r rune) rune {
	switch r {
	case 0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x0640: // joiners, soft hyphen, Arabic lengthening
		return -1
	case 'ς':
		return 'σ'
	case 'ё', 'Ё':
		return 'е'
	}
	return unicode.ToLower(r)
}

// stripDiacritics removes diacritics in scripts where they are optional. Marks of Indic scripts are vowels and stay.
func stripDiacritics(word string) string {
	if isASCII(word) {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		switch {
		case r >= 0x0300 && r <= 0x036F, r >= 0x064B && r <= 0x065F, r == 0x0670, r >= 0x0591 && r <= 0x05C7:
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ı':
			b.WriteByte('i')
		case r == 'ø':
			b.WriteByte('o')
		case r == 'æ':
			b.WriteString("ae")
		case r == 'ł':
			b.WriteByte('l')
		case r == 'đ':
			b.WriteByte('d')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

package search

import "unicode"

// class is how a character takes part in terms.
type class uint8

const (
	classNone class = iota // between terms: white space, punctuation, symbols
	classWord              // of a script that puts spaces between words
	classGram              // of a script that does not: each character with its marks is a unit, and terms are runs of units
	classMark              // belongs to the character before it
)

// gramBlocks are, in order, the scripts without spaces between words, and Hangul, whose words carry their particles.
var gramBlocks = [...][2]rune{
	{0x0E00, 0x0EFF},   // Thai, Lao
	{0x1000, 0x109F},   // Myanmar
	{0x1100, 0x11FF},   // Hangul Jamo
	{0x1780, 0x17FF},   // Khmer
	{0x1950, 0x19FF},   // Tai Le, New Tai Lue, Khmer symbols
	{0x1A20, 0x1AAF},   // Tai Tham
	{0x2E80, 0x2FDF},   // CJK radicals
	{0x3005, 0x3007},   // ideographic iteration mark, closing mark, zero
	{0x3021, 0x3029},   // Hangzhou numerals
	{0x3040, 0x31FF},   // Kana, Bopomofo, Hangul compatibility
	{0x3400, 0x4DBF},   // CJK extension A
	{0x4E00, 0x9FFF},   // CJK
	{0xA000, 0xA4CF},   // Yi
	{0xA960, 0xA97F},   // Hangul Jamo extended A
	{0xA9E0, 0xA9FF},   // Myanmar extended B
	{0xAA60, 0xAADF},   // Myanmar extended A, Tai Viet
	{0xAC00, 0xD7FF},   // Hangul
	{0xF900, 0xFAFF},   // CJK compatibility
	{0xFF66, 0xFFDC},   // half-width Kana and Hangul
	{0x1B000, 0x1B16F}, // Kana supplement
	{0x20000, 0x3FFFF}, // CJK extensions
}

func gramScript(r rune) bool {
	for _, b := range gramBlocks {
		if r < b[0] {
			return false
		}
		if r <= b[1] {
			return true
		}
	}
	return false
}

// isAlphabetic reports whether a character is of a script without spaces whose characters stand for sounds, so that two of them say little.
// There white space ends a clause, not a word.
func isAlphabetic(r rune) bool {
	return r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF
}

// classOf classifies a character. Joiners and soft hyphens count as marks, because they belong to the word around them.
func classOf(r rune) class {
	switch {
	case r < 0x80:
		if asciiAlnum(byte(r)) {
			return classWord
		}
		return classNone
	case unicode.Is(unicode.M, r), r == 0xAD, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF:
		return classMark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return classNone
	case gramScript(r):
		return classGram
	}
	return classWord
}

func asciiAlnum(c byte) bool {
	return c-'a' < 26 || c-'A' < 26 || c-'0' < 10
}

func asciiLower(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine replaces each run of white space and invisible characters (control characters, and those of IsUnseen) with one space.
func OneLine(text string) string { return strings.Join(strings.FieldsFunc(text, isBlank), " ") }

func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError || IsUnseen(r)
}

// IsUnseen reports whether a character that is not a control character is invisible but can reverse or hide other text: controls of
// direction, layout and annotation, and tags. Joiners are not included, because scripts and emoji need them.
func IsUnseen(r rune) bool {
	switch {
	case r < 0x2000:
		return r == 0xad || r == 0x61c || r == 0x180e
	case r < 0x3000:
		return r == 0x200b || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f
	default:
		return r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || 0x1bca0 <= r && r <= 0x1bca3 || 0x1d173 <= r && r <= 0x1d17a || 0xe0000 <= r && r <= 0xe0fff
	}
}

// CharOffset returns where the nth character begins, or the end of the text.
func CharOffset(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}

// TailOffset returns where the last n characters begin, or 0 if there are fewer.
func TailOffset(text string, n int) int {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

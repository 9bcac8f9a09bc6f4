package content

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// CharOffset returns where the nth character (Unicode code point) begins, or the end of the text.
func CharOffset(text string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// CutChars cuts a text to limit characters and marks the cut.
func CutChars(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return CutClusters(text, limit) + "..."
}

// RuneStart returns the last position at or before at, by at most three bytes, where a character begins.
func RuneStart(text string, at int) int {
	for back := 0; back < utf8.UTFMax && at-back > 0 && at-back < len(text); back++ {
		if utf8.RuneStart(text[at-back]) {
			return at - back
		}
	}
	return at
}

// Head returns at most limit bytes from the start of a text, without cutting a character.
func Head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:RuneStart(text, limit)]
}

// CutClusters returns at most limit characters from the start of a text, without cutting a grapheme cluster unless it is the first.
func CutClusters(text string, limit int) string {
	if end := ClusterEnd(text, limit); end > 0 {
		return text[:end]
	}
	return text[:CharOffset(text, limit)]
}

// Ellipsis marks where a text is cut.
const Ellipsis = "…"

// Clip cuts a text to n characters, including an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n || CharOffset(s, n) == len(s) {
		return s
	}
	if n < 1 {
		return ""
	}
	return strings.TrimRight(s[:ClusterEnd(s, n-1)], " \t") + Ellipsis
}

// ClusterEnd returns the end of the last grapheme cluster (UAX #29) that ends within the first n characters.
func ClusterEnd(s string, n int) int {
	limit := CharOffset(s, n)
	// One character beyond the limit is enough to see that a cluster crosses it.
	seen := s[:CharOffset(s, n+1)]
	end := 0
	for end < limit {
		next := end + nextCluster(seen[end:])
		if next > limit {
			break
		}
		end = next
	}
	return end
}

// nextCluster returns the length of the first grapheme cluster of a text. Nearly all ends are visible without the Unicode tables.
func nextCluster(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if size == len(s) {
		return size
	}
	next, _ := utf8.DecodeRuneInString(s[size:])
	if isCertainBorder(r, next) {
		return size
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// isCertainBorder reports whether a grapheme cluster certainly ends between two characters: the second never extends a cluster (printable
// ASCII, Han, kana, their punctuation), and the first never prepends to one.
func isCertainBorder(r, next rune) bool {
	prepends := r < ' ' || (0x600 <= r && r < 0x2000) || r > 0xffff
	if prepends {
		return false
	}
	return (' ' <= next && next < 0x7f) || (0x4e00 <= next && next <= 0x9fff) || (0x3041 <= next && next <= 0x3096) ||
		(0x30a1 <= next && next <= 0x30fa) || next == '。' || next == '、' || next == '，' || next == '！' || next == '？'
}

// NameWords returns the words of a name in lower case: web_search, WebSearch and web-search have the same.
func NameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsLetter reports whether a byte is an ASCII letter.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsWord reports whether a byte can be part of an identifier: an ASCII letter or digit, or an underscore.
func IsWord(c byte) bool { return IsLetter(c) || IsDigit(c) || c == '_' }

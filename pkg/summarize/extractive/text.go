package extractive

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// clip returns at most n characters of a text: all of it, or its beginning and an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n || offset(s, n) == len(s) {
		return s
	}
	if n < 1 {
		return ""
	}
	return strings.TrimRight(s[:clusterEnd(s, n-1)], " \t") + ellipsis
}

// offset is where the nth character begins, or the end of the text.
func offset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// clusterEnd returns the end of the last grapheme cluster (UAX #29) that ends within the first n characters.
func clusterEnd(s string, n int) int {
	limit := offset(s, n)
	// Of the cluster that crosses the limit only so much is looked at as says that it does.
	seen := s[:offset(s, n+1)]
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

// nextCluster is the length of the first grapheme cluster of a text. Nearly all end where it can be seen without the tables.
func nextCluster(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if size == len(s) {
		return size
	}
	next, _ := utf8.DecodeRuneInString(s[size:])
	if certainBorder(r, next) {
		return size
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// certainBorder says whether a grapheme cluster certainly ends between two characters: the second is one that extends nothing
// (printable ASCII, Han, kana, their punctuation), and the first is none that would be put before it.
func certainBorder(r, next rune) bool {
	prepends := r < ' ' || (0x600 <= r && r < 0x2000) || r > 0xffff
	if prepends {
		return false
	}
	return (' ' <= next && next < 0x7f) || (0x4e00 <= next && next <= 0x9fff) || (0x3041 <= next && next <= 0x3096) ||
		(0x30a1 <= next && next <= 0x30fa) || next == '。' || next == '、' || next == '，' || next == '！' || next == '？'
}

// unit is what lines are judged by: a line, or a part of one that is too long to be shown.
type unit struct {
	text string
	// line is the number of its line in the text, from 1.
	line int
	// rest is whether the line began in the unit before.
	rest bool
}

// longLine is how many bytes a line may have before it is taken in parts, and about how long its parts are.
const (
	longLine = 1200
	partSize = 280
)

// splitLines returns the lines of a text, without what ends them. A line that a program drew anew counts as last drawn.
func splitLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if strings.IndexByte(line, '\r') < 0 {
			continue
		}
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return lines
}

// units takes lines apart where they are too long, and leaves out those that are blank. So many lines stand before them.
func units(lines []string, before int) []unit {
	all := make([]unit, 0, len(lines))
	for i, line := range lines {
		first := len(all)
		for len(line) > longLine {
			n := partEnd(line)
			all = appendUnit(all, strings.TrimSpace(line[:n]), before+i+1, first)
			line = line[n:]
		}
		all = appendUnit(all, strings.TrimRight(line, " \t"), before+i+1, first)
	}
	return all
}

// appendUnit appends a part of a line whose first part is or would be at some place.
func appendUnit(all []unit, text string, line, first int) []unit {
	if text == "" {
		return all
	}
	return append(all, unit{text: text, line: line, rest: len(all) > first})
}

// partEnd is where the first part of a long line ends: after a sentence or a record, else between words, else anywhere
// between two grapheme clusters.
func partEnd(line string) int {
	best, rank := 0, 0
	for at := 2 * partSize; at > partSize/2 && rank < 3; at-- {
		if r := breakRank(line, at); r > rank {
			best, rank = at, r
		}
	}
	if rank == 0 {
		best = clusterEnd(line, partSize)
	}
	if best == 0 {
		return len(line)
	}
	return best
}

// breakRank says how well a line can be broken before a position at which an ASCII character stands, which is therefore the
// border of a grapheme cluster: 3 after a sentence or record, 2 after a comma, 1 after a space, 0 not at all.
func breakRank(line string, at int) int {
	if line[at] < ' ' || line[at] >= 0x7f {
		return 0
	}
	switch line[at-1] {
	case ';':
		return 3
	case ' ':
		if before := line[at-2]; before == '.' || before == ';' {
			return 3
		}
		return 1
	case ',':
		if line[at-2] == '}' {
			return 3
		}
		return 2
	}
	return 0
}

// asciiAt says whether an ASCII character stands at a position, which is therefore the border of a grapheme cluster.
func asciiAt(s string, at int) bool {
	return at < len(s) && ' ' <= s[at] && s[at] < 0x7f
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

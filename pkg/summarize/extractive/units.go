package extractive

import (
	"cmp"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// The length in bytes above which a line is split, and the approximate length of its parts.
const (
	maxLineBytes = 1200
	partBytes    = 280
)

// splitLines returns the lines of a text without line ends. If a program redrew a line, its last version counts.
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

// Units splits lines that are too long and omits blank ones. before is the number of lines before them.
func Units(lines []string, before int) []choice.Unit {
	all := make([]choice.Unit, 0, len(lines))
	for i, line := range lines {
		first := len(all)
		for len(line) > maxLineBytes {
			n := partEnd(line)
			all = appendUnit(all, strings.TrimSpace(line[:n]), before+i+1, first)
			line = line[n:]
		}
		all = appendUnit(all, strings.TrimRight(line, " \t"), before+i+1, first)
	}
	return all
}

// appendUnit appends a part of a line whose first part has, or would have, the index first.
func appendUnit(all []choice.Unit, text string, line, first int) []choice.Unit {
	if text == "" {
		return all
	}
	return append(all, choice.Unit{Text: text, Line: line, Rest: len(all) > first})
}

// partEnd returns where the first part of a long line ends: after a sentence or a record, else between words, else between two grapheme
// clusters.
func partEnd(line string) int {
	best, rank := 0, 0
	for at := 2 * partBytes; at > partBytes/2 && rank < 3; at-- {
		if r := breakRank(line, at); r > rank {
			best, rank = at, r
		}
	}
	if rank == 0 {
		best = content.ClusterEnd(line, partBytes)
	}
	return cmp.Or(best, len(line))
}

// breakRank returns how well a line can be broken before a position with an ASCII character, which is therefore a grapheme cluster border:
// 3 after a sentence or record, 2 after a comma, 1 after a space, 0 not at all.
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

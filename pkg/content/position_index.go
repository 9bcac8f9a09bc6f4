package content

import (
	"strings"
	"unicode/utf8"
)

// positionStep limits how many bytes of a text are read to find the number of a character or line.
const positionStep = 16 << 10

// positionIndex converts positions in a text to character and line numbers.
type positionIndex struct {
	text  string
	marks []positionMark
}

// positionMark is the number of characters and line ends before a position.
type positionMark struct{ at, chars, lines int }

func newPositionIndex(text string) positionIndex {
	r := positionIndex{text: text, marks: make([]positionMark, 1, len(text)/positionStep+2)}
	for m := r.marks[0]; len(text)-m.at > positionStep; {
		m = m.advance(text, RuneStart(text, m.at+positionStep))
		r.marks = append(r.marks, m)
	}
	return r
}

// advance returns the mark at a later position.
func (m positionMark) advance(text string, at int) positionMark {
	between := text[m.at:at]
	return positionMark{at: at, chars: m.chars + utf8.RuneCountInString(between), lines: m.lines + strings.Count(between, "\n")}
}

func (r *positionIndex) markAt(at int) positionMark {
	low, high := 0, len(r.marks)
	for high-low > 1 {
		if middle := (low + high) / 2; r.marks[middle].at <= at {
			low = middle
		} else {
			high = middle
		}
	}
	return r.marks[low].advance(r.text, min(max(at, r.marks[low].at), len(r.text)))
}

// charAt returns how many characters precede a position.
func (r *positionIndex) charAt(at int) int64 { return int64(r.markAt(at).chars) }

// lineAt returns the 1-based number of the line that contains a position.
func (r *positionIndex) lineAt(at int) int { return r.markAt(at).lines + 1 }

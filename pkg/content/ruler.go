package content

import (
	"strings"
	"unicode/utf8"
)

// rulerStep is how many bytes of a text are read at most to know the number of a character or line.
const rulerStep = 16 << 10

// ruler knows which character and which line of a text a position is.
type ruler struct {
	text  string
	marks []rulerMark
}

// rulerMark is how many characters and ends of lines lie before a position.
type rulerMark struct{ at, chars, lines int }

func newRuler(text string) ruler {
	r := ruler{text: text, marks: make([]rulerMark, 1, len(text)/rulerStep+2)}
	for m := r.marks[0]; len(text)-m.at > rulerStep; {
		m = m.until(text, RuneStart(text, m.at+rulerStep))
		r.marks = append(r.marks, m)
	}
	return r
}

// until is the mark at a later position.
func (m rulerMark) until(text string, at int) rulerMark {
	between := text[m.at:at]
	return rulerMark{at: at, chars: m.chars + utf8.RuneCountInString(between), lines: m.lines + strings.Count(between, "\n")}
}

func (r *ruler) mark(at int) rulerMark {
	low, high := 0, len(r.marks)
	for high-low > 1 {
		if middle := (low + high) / 2; r.marks[middle].at <= at {
			low = middle
		} else {
			high = middle
		}
	}
	return r.marks[low].until(r.text, min(max(at, r.marks[low].at), len(r.text)))
}

// char is how many characters lie before a position.
func (r *ruler) char(at int) int64 { return int64(r.mark(at).chars) }

// line is the line that a position lies in, from 1 on.
func (r *ruler) line(at int) int { return r.mark(at).lines + 1 }

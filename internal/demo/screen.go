package demo

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

const (
	narrowest = 60
	widest    = 120
)

// screen writes for a terminal, or plainly for a pipe.
type screen struct {
	out   io.Writer
	color bool
	width int
	pace  time.Duration
}

func newScreen(out io.Writer, pace time.Duration, ascii bool) *screen {
	s := &screen{out: out, width: min(max(terminal.Width(out), narrowest), widest)}
	if terminal.Is(out) {
		s.pace = pace
		s.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	if ascii {
		s.out = asciiWriter{out}
	}
	return s
}

// asciiWriter writes one character of ASCII for each of Unicode's, so that columns stay where they are. It is given whole
// characters.
type asciiWriter struct{ out io.Writer }

func (w asciiWriter) Write(b []byte) (int, error) {
	_, err := w.out.Write(bytes.Map(inASCII, b))
	return len(b), err
}

func inASCII(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r == '─':
		return '-'
	case r == '█':
		return '#'
	case r == '░', r == '·':
		return '.'
	case r == '→':
		return '>'
	case r == '…':
		return '~'
	case r == '✓':
		return '+'
	}
	return '?'
}

// style is an SGR code.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (s *screen) in(code style, words string) string {
	if !s.color || code == plain {
		return words
	}
	return "\x1b[" + string(code) + "m" + words + "\x1b[0m"
}

// rule is a line across the screen with a title in it.
func (s *screen) rule(title string) {
	line := max(s.width-utf8.RuneCountInString(title)-4, 0)
	fmt.Fprintf(s.out, "\n%s %s %s\n", s.in(dim, "──"), s.in(bold, title), s.in(dim, strings.Repeat("─", line)))
}

const labelWidth = 10

// line writes a label and words, cut to the width.
func (s *screen) line(label string, code style, words string) {
	fmt.Fprintf(s.out, "  %s%s\n", s.in(dim, fmt.Sprintf("%-*s", labelWidth, label)), s.in(code, cut(words, s.width-labelWidth-2)))
}

func cut(words string, width int) string {
	words = strings.Join(strings.Fields(words), " ")
	if utf8.RuneCountInString(words) <= width {
		return words
	}
	return string([]rune(words)[:width-1]) + "…"
}

// paragraph writes words over as many lines as they need.
func (s *screen) paragraph(words string) {
	for _, line := range wrap(words, s.width-2) {
		fmt.Fprintln(s.out, "  "+line)
	}
}

// labelled writes a label, and words beside it over as many lines as they need.
func (s *screen) labelled(label string, code style, words string) {
	for _, line := range wrap(words, s.width-labelWidth-2) {
		s.line(label, code, line)
		label = ""
	}
}

func wrap(words string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(words) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// bar shows a share of a whole.
func (s *screen) bar(part, whole int64, width int) string {
	filled := int(min(max(part*int64(width)/max(whole, 1), 0), int64(width)))
	code := green
	if part*10 > whole*9 {
		code = yellow
	}
	return s.in(code, strings.Repeat("█", filled)) + s.in(dim, strings.Repeat("░", width-filled))
}

// weight is a size in bytes for people.
func weight(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

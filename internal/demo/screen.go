package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

const (
	widest     = 120
	margin     = 2
	labelWidth = 10
)

// screen prints labeled lines, with pauses on a terminal.
type screen struct {
	*sheet.Sheet
	pace time.Duration
}

func newScreen(out io.Writer, pace time.Duration, ascii bool) *screen {
	s := &screen{Sheet: sheet.New(out, false, ascii)}
	s.Width = min(s.Width, widest)
	if s.Terminal {
		s.pace = pace
	}
	return s
}

// rule prints a line across the screen with a title in it.
func (s *screen) rule(title string) {
	rest := strings.Repeat("─", max(s.Width-utf8.RuneCountInString(title)-4, 0))
	s.Line("\n" + s.Paint(sheet.Dim, "──") + " " + s.Paint(sheet.Bold, title) + " " + s.Paint(sheet.Dim, rest))
}

// put prints a label and what stands beside it.
func (s *screen) put(label, painted string) {
	s.Line(strings.Repeat(" ", margin) + s.Paint(sheet.Dim, fmt.Sprintf("%-*s", labelWidth, label)) + painted)
}

// room is how many columns there are beside a label.
func (s *screen) room() int { return s.Width - labelWidth - margin }

// line prints a label and words, cut to the width.
func (s *screen) line(label string, style sheet.Style, format string, args ...any) {
	s.put(label, s.Paint(style, sheet.Cut(s.Clean(fmt.Sprintf(format, args...)), s.room(), "…")))
}

// wrapped prints a label, and words beside it over as many lines as they need.
func (s *screen) wrapped(label string, style sheet.Style, format string, args ...any) {
	for _, line := range s.Wrap(fmt.Sprintf(format, args...), s.room()) {
		s.line(label, style, "%s", line)
		label = ""
	}
}

// proven prints what was just verified.
func (s *screen) proven(format string, args ...any) { s.wrapped("✓", sheet.Green, format, args...) }

// paragraph prints words over as many lines as they need.
func (s *screen) paragraph(format string, args ...any) {
	s.Field("", margin, fmt.Sprintf(format, args...))
}

// table has names at its left, words at its right, and numbers between.
func (s *screen) table(names ...string) *sheet.Table {
	t := &sheet.Table{Sheet: s.Sheet, Indent: strings.Repeat(" ", margin)}
	for i, name := range names {
		t.Columns = append(t.Columns, sheet.Column{Title: name, Right: i > 0 && i < len(names)-1})
	}
	return t
}

// bar shows a share of a whole.
func (s *screen) bar(part, whole int64, width int) string {
	return s.Paint(sheet.Green, s.Bar(part, whole, width, "░"))
}

// number writes n with its digits grouped.
func number[N int | int32 | int64](n N) string { return terminal.Number(int64(n)) }

// weight is a size in bytes for people.
func weight[N int | int64](bytes N) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

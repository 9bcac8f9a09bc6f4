package demo

import (
	"io"
	"strings"
	"time"

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
	*sheet.Labels
	pace time.Duration
}

func newScreen(out io.Writer, pace time.Duration, ascii bool) *screen {
	s := &screen{Labels: &sheet.Labels{Sheet: sheet.New(out, false, ascii), Indent: margin, LabelWidth: labelWidth}}
	s.Width = min(s.Width, widest)
	if s.Terminal {
		s.pace = pace
	}
	return s
}

// proven prints what was just verified.
func (s *screen) proven(format string, args ...any) { s.Wrapped("✓", sheet.Green, format, args...) }

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

package sheet

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

const (
	narrowest = 60
	// maxLine bounds one line in bytes.
	maxLine = 16 << 10
)

// Sheet is what a command prints on. It remembers the first error of printing, and prints nothing more.
type Sheet struct {
	Out      io.Writer
	Terminal bool
	JSON     bool
	ASCII    bool
	Width    int
	Color    bool
	err      error
}

// New returns a sheet as wide as what it prints on. In JSON, ASCII is for those who ask for it alone.
func New(out io.Writer, json, ascii bool) *Sheet {
	return &Sheet{
		Out: out, Terminal: terminal.Is(out), JSON: json,
		Color: terminal.Is(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		ASCII: ascii || !json && !terminal.Unicode(),
		Width: max(terminal.Width(out), narrowest),
	}
}

// Clean is text as one line for this sheet.
func (s *Sheet) Clean(text string) string { return Plain(text, maxLine, s.ASCII) }

// Line prints a line that has been cleaned, with what was drawn around it.
func (s *Sheet) Line(text string) {
	if s.err == nil {
		_, s.err = fmt.Fprintln(s.Out, inASCII(strings.TrimRight(text, " "), s.ASCII))
	}
}

// Err is the first error of printing lines.
func (s *Sheet) Err() error { return s.err }

// Style is how words look on a terminal: an SGR code, or empty.
type Style string

// The styles.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint gives words a style, where colors are wanted.
func (s *Sheet) Paint(style Style, words string) string {
	if !s.Color || style == "" {
		return words
	}
	return "\x1b[" + string(style) + "m" + words + "\x1b[0m"
}

// Say prints a sentence over as many lines as it needs.
func (s *Sheet) Say(text string) { s.Field("", 0, text) }

// Title prints a heading.
func (s *Sheet) Title(text string) {
	text = s.Clean(text)
	s.Line("\n" + text + "\n" + strings.Repeat("─", uniseg.StringWidth(text)))
}

// Field prints a label, and text beside it over as many lines as it needs.
func (s *Sheet) Field(label string, width int, text string) {
	for _, line := range s.Wrap(text, s.Width-width) {
		s.Line(pad(label, width, false) + line)
		label = ""
	}
}

// Wrap cleans text and breaks it between words into lines of at most so many columns.
func (s *Sheet) Wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s.Clean(text)) {
		if line != "" && uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// Count is a number of things.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok {
		one = stem + "ie"
	}
	return fmt.Sprintf("%s %ss", terminal.Number(int64(n)), one)
}

// Bar draws a share of a whole. What is there at all shows.
func (s *Sheet) Bar(part, whole int64, width int, empty string) string {
	filled := 0
	if part > 0 {
		filled = int(min(max(1, (part*int64(width)+whole/2)/max(whole, 1)), int64(width)))
	}
	return strings.Repeat("█", filled) + strings.Repeat(empty, width-filled)
}

// Column is one column of a table.
type Column struct {
	Title string
	Right bool
	// Least is the column's first width, for tables whose rows come one by one.
	Least int
	// Most bounds the column's width: longer cells are cut. Without it they are shown whole, for they are ids.
	Most int
}

// widestID is how wide a column of ids becomes: what is longer takes the room of its line.
const widestID = 40

// Table prints rows as they come: widths only ever grow. The last column gets what room there is: it is cut, or goes on in
// further lines.
type Table struct {
	*Sheet
	Columns []Column
	Wrapped bool
	// Indent stands before each line.
	Indent string
	widths []int
}

const gap = "  "

// Rows prints some rows, and before the first the heads of the columns.
func (t *Table) Rows(rows [][]string) {
	if t.widths == nil {
		t.widths = make([]int, len(t.Columns))
		heads := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			heads[i], t.widths[i] = c.Title, c.Least
		}
		rows = append([][]string{heads}, rows...)
	}
	for _, row := range rows {
		t.fit(row)
	}
	for _, row := range rows {
		t.row(row)
	}
}

// fit cleans the cells of a row and widens the columns for it.
func (t *Table) fit(row []string) {
	for i := range row {
		row[i] = t.Clean(row[i])
		if t.Columns[i].Most > 0 {
			row[i] = Cut(row[i], t.Columns[i].Most, "…")
		}
		t.widths[i] = max(t.widths[i], min(uniseg.StringWidth(row[i]), max(t.Columns[i].Most, widestID)))
	}
}

func (t *Table) row(cells []string) {
	line, last := t.Indent, len(cells)-1
	for i, cell := range cells[:last] {
		line += pad(cell, t.widths[i], t.Columns[i].Right) + gap
	}
	used := uniseg.StringWidth(line)
	room := max(t.Width-used, narrowest/4)
	if !t.Wrapped {
		t.Line(line + Cut(cells[last], room, "…"))
		return
	}
	for _, words := range t.Wrap(cells[last], room) {
		t.Line(line + words)
		line = strings.Repeat(" ", used)
	}
}

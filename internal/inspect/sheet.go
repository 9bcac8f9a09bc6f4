package inspect

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

const (
	narrowest  = 60
	labelWidth = 13
	// maxLine bounds one line in bytes.
	maxLine = 16 << 10
)

// sheet is what a command prints on.
type sheet struct {
	out      io.Writer
	terminal bool
	json     bool
	ascii    bool
	width    int
}

func newSheet(out io.Writer, s *Sidecar) *sheet {
	return &sheet{
		out: out, terminal: terminal.Is(out), json: s.JSON,
		ascii: s.ASCII || !s.JSON && !terminal.Unicode(),
		width: max(terminal.Width(out), narrowest),
	}
}

// clean is text as one line for this sheet.
func (s *sheet) clean(text string) string { return plain(text, maxLine, s.ascii) }

// line prints a line that has been cleaned.
func (s *sheet) line(text string) error {
	_, err := fmt.Fprintln(s.out, strings.TrimRight(text, " "))
	return err
}

// say prints a sentence over as many lines as it needs.
func (s *sheet) say(text string) error { return s.field("", 0, text) }

// title prints a heading.
func (s *sheet) title(text string) error {
	text = s.clean(text)
	return s.line("\n" + text + "\n" + strings.Repeat(s.glyph("─", "-"), uniseg.StringWidth(text)))
}

// field prints a label, and text beside it over as many lines as it needs.
func (s *sheet) field(label string, width int, text string) error {
	for _, line := range wrap(s.clean(text), s.width-width) {
		if err := s.line(pad(label, width, false) + line); err != nil {
			return err
		}
		label = ""
	}
	return nil
}

func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

func (s *sheet) glyph(unicode, ascii string) string {
	if s.ascii {
		return ascii
	}
	return unicode
}

// bar draws a share of a whole. What is there at all shows.
func (s *sheet) bar(part, whole int64, width int, empty string) string {
	filled := 0
	if part > 0 {
		filled = int(min(max(1, (part*int64(width)+whole/2)/max(whole, 1)), int64(width)))
	}
	return strings.Repeat(s.glyph("█", "#"), filled) + strings.Repeat(empty, width-filled)
}

// column is one column of a table.
type column struct {
	title string
	right bool
	// least is the column's first width, for tables whose rows come one by one.
	least int
	// most bounds the column's width: longer cells are cut. Without it they are shown whole, for they are ids.
	most int
}

// widestID is how wide a column of ids becomes: what is longer takes the room of its line.
const widestID = 40

// table prints rows as they come: widths only ever grow. The last column gets what room there is: it is cut, or goes on in
// further lines.
type table struct {
	*sheet
	columns []column
	wrapped bool
	widths  []int
}

const gap = "  "

// rows prints some rows, and before the first the heads of the columns.
func (t *table) rows(rows [][]string) error {
	if t.widths == nil {
		t.widths = make([]int, len(t.columns))
		heads := make([]string, len(t.columns))
		for i, c := range t.columns {
			heads[i], t.widths[i] = c.title, c.least
		}
		rows = append([][]string{heads}, rows...)
	}
	for _, row := range rows {
		t.fit(row)
	}
	for _, row := range rows {
		if err := t.row(row); err != nil {
			return err
		}
	}
	return nil
}

// fit cleans the cells of a row and widens the columns for it.
func (t *table) fit(row []string) {
	for i := range row {
		row[i] = t.clean(row[i])
		if t.columns[i].most > 0 {
			row[i] = cut(row[i], t.columns[i].most, t.glyph("…", "~"))
		}
		t.widths[i] = max(t.widths[i], min(uniseg.StringWidth(row[i]), max(t.columns[i].most, widestID)))
	}
}

func (t *table) row(cells []string) error {
	line, last := "", len(cells)-1
	for i, cell := range cells[:last] {
		line += pad(cell, t.widths[i], t.columns[i].right) + gap
	}
	used := uniseg.StringWidth(line)
	room := max(t.width-used, narrowest/4)
	if !t.wrapped {
		return t.line(line + cut(cells[last], room, t.glyph("…", "~")))
	}
	for _, words := range wrap(cells[last], room) {
		if err := t.line(line + words); err != nil {
			return err
		}
		line = strings.Repeat(" ", used)
	}
	return nil
}

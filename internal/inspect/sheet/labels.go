package sheet

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Labels prints lines with a label before each: so far indented, and the label so wide.
type Labels struct {
	*Sheet
	Indent, LabelWidth int
}

// Rule prints a line across the sheet with a title in it.
func (l *Labels) Rule(title string) {
	rest := strings.Repeat("─", max(l.Width-utf8.RuneCountInString(title)-4, 0))
	l.Line("\n" + l.Paint(Dim, "──") + " " + l.Paint(Bold, title) + " " + l.Paint(Dim, rest))
}

// Put prints a label and what stands beside it.
func (l *Labels) Put(label, painted string) {
	l.Line(strings.Repeat(" ", l.Indent) + l.Paint(Dim, fmt.Sprintf("%-*s", l.LabelWidth, label)) + painted)
}

// Room is how many columns there are beside a label.
func (l *Labels) Room() int { return l.Width - l.LabelWidth - l.Indent }

// Row prints a label and words, cut to the width.
func (l *Labels) Row(label string, style Style, format string, args ...any) {
	l.Put(label, l.Paint(style, Cut(l.Clean(fmt.Sprintf(format, args...)), l.Room(), "…")))
}

// Wrapped prints a label, and words beside it over as many lines as they need.
func (l *Labels) Wrapped(label string, style Style, format string, args ...any) {
	for _, line := range l.Wrap(fmt.Sprintf(format, args...), l.Room()) {
		l.Row(label, style, "%s", line)
		label = ""
	}
}

// Block prints the first lines of a text, and some of the others.
func (l *Labels) Block(label string, lines []string, first, from, to int) {
	for i, line := range lines {
		switch {
		case i < first || from <= i && i < to:
			l.Row(label, Dim, "%s", line)
		case i == first:
			l.Row("", Dim, "…")
		}
		label = ""
	}
}

// Paragraph prints words over as many lines as they need.
func (l *Labels) Paragraph(format string, args ...any) {
	l.Field("", l.Indent, fmt.Sprintf(format, args...))
}

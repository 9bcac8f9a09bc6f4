package extractive

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// readTabular recognizes separated values: each line has as many separators as the first.
func readTabular(s source) (draft, bool) {
	lines := s.units
	sep := separator(lines)
	if sep == "" {
		return draft{}, false
	}
	columns := strings.Count(lines[0].Text, sep) + 1
	l := newLineText(s)
	c := l.newSelection()
	l.addRare(c, l.failures())
	for _, i := range spread(len(lines)-1, s.target/20) {
		c.add(i+1, max(100, s.target/5), false)
	}
	top := choice.Entry{Text: lines[0].Text, MaxChars: max(120, s.target/3), Score: 1, Order: -1, Represents: 1}
	title := fmt.Sprintf("Table of separated values, %s with the head, %d columns", counted(len(lines), "lines"), columns)
	return draft{title: title, entries: append(c.finished(), top), total: l.nonBlank(), unit: "lines"}, true
}

// separator returns the separator with which nearly all lines have as many values as the first, or "".
func separator(lines []choice.Unit) string {
	if len(lines) < 4 {
		return ""
	}
	for _, sep := range []string{"\t", ",", ";", "|"} {
		n := strings.Count(lines[0].Text, sep)
		if n < 2 || !isHead(lines[0].Text, sep) {
			continue
		}
		same := 0
		for _, u := range lines {
			// Quoted values may hold separators.
			if k := strings.Count(u.Text, sep); k == n || (k > n && strings.Contains(u.Text, `"`)) {
				same++
			}
		}
		if same*100 >= len(lines)*95 {
			return sep
		}
	}
	return ""
}

// isHead reports whether a line names columns: short names, none a number or a date.
func isHead(line, sep string) bool {
	for _, name := range strings.Split(line, sep) {
		name = strings.Trim(name, "\" ")
		if len(name) > 50 || strings.ContainsAny(name, "{}<>=") || (name != "" && content.IsDigit(name[0])) {
			return false
		}
	}
	return true
}

package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// lineText is a text of lines, such as a log or the output of a command.
type lineText struct {
	units     []choice.Unit
	templates []template
	// templateOf is the template of each unit.
	templateOf []int32
	lines      int
	// target is the maximum length of the extract in characters.
	target int
}

func newLineText(s source) *lineText {
	l := &lineText{units: s.units, lines: len(s.lines), target: s.target}
	l.templates, l.templateOf = groupByTemplate(l.units)
	return l
}

// repetitive reports whether most lines resemble others, as in a log.
func (l *lineText) repetitive() bool {
	return len(l.units) >= 12 && len(l.templates)*2 <= len(l.units)
}

// lineSelection collects the lines to show, in order of their scores.
type lineSelection struct {
	text    *lineText
	entries []choice.Entry
	// entryOf is the entry of each selected unit, speakers the unit that represents each template.
	entryOf  map[int]int
	speakers map[int32]int
}

func (l *lineText) newSelection() *lineSelection {
	return &lineSelection{text: l, entryOf: map[int]int{}, speakers: map[int32]int{}}
}

// add selects a unit of which at most most characters are shown. If it represents its template, its label says how many lines that has.
func (c *lineSelection) add(i, most int, speaks bool) {
	u, group := c.text.units[i], c.text.templates[c.text.templateOf[i]]
	if _, ok := c.entryOf[i]; !ok {
		c.entryOf[i] = len(c.entries)
		p := choice.Entry{Label: fmt.Sprintf("L%d: ", u.Line), Text: strings.TrimSpace(u.Text), MaxChars: most, Order: i, Unit: i, Represents: 1}
		if u.Rest {
			p.Represents = 0
		}
		p.Score = -float64(len(c.entries))
		c.entries = append(c.entries, p)
	}
	p := &c.entries[c.entryOf[i]]
	if _, spoken := c.speakers[c.text.templateOf[i]]; speaks && group.count > 1 && !spoken {
		c.speakers[c.text.templateOf[i]] = i
		p.Label, p.Represents = fmt.Sprintf("L%d ×%s: ", u.Line, grouped(group.count)), group.count
	}
	p.MaxChars = max(p.MaxChars, most)
}

// finished returns the selected lines. Lines that are too long lose their variable parts first.
func (c *lineSelection) finished() []choice.Entry {
	for i := range c.entries {
		p := &c.entries[i]
		if utf8.RuneCountInString(p.Text) > p.MaxChars {
			p.Text = dropVariables(p.Text, p.MaxChars)
		}
		if speaker, ok := c.speakers[c.text.templateOf[p.Unit]]; ok && speaker != p.Unit {
			p.Represents = 0 // the speaker represents this line too
		}
	}
	return c.entries
}

// draftLog shows rare errors, how the log begins and ends, and an example for each template.
func (l *lineText) draftLog(text string) draft {
	c := l.newSelection()
	bad := l.addRare(c, l.failures())
	l.addEnds(c)
	l.addExamples(c, bad)
	l.addSpread(c)
	d := draft{title: "Log", total: l.nonBlank(), unit: "lines"}
	if l.dated() {
		l.sortExamplesLast(c)
	} else {
		d.title, d.names, d.mentionShare = "Output", rankedNames(text), 15
	}
	d.title += fmt.Sprintf(", %s in %s", counted(l.lines, "lines"), counted(len(l.templates), "templates"))
	if n := l.countFailing(); n > 0 {
		d.title += ", " + grouped(n) + " with error words"
	}
	d.entries = c.finished()
	return d
}

// dated reports whether the lines begin with dates as those of logs do.
func (l *lineText) dated() bool {
	n := 0
	for _, u := range l.units {
		if facts.IsDated(u.Text) {
			n++
		}
	}
	return n*2 > len(l.units)
}

// countFailing counts the lines that look like error reports.
func (l *lineText) countFailing() (n int) {
	counted := 0
	for i, g := range l.templateOf {
		if l.templates[g].level >= facts.Failing && l.units[i].Line != counted {
			counted = l.units[i].Line
			n++
		}
	}
	return n
}

// nonBlank counts the lines that are not blank.
func (l *lineText) nonBlank() (n int) {
	for i := range l.units {
		if !l.units[i].Rest {
			n++
		}
	}
	return n
}

// rareShare is the percentage of an extract for rare errors, which come first.
const rareShare = 55

// addRare selects rare errors, which are shown whole, and returns the remaining templates.
func (l *lineText) addRare(c *lineSelection, bad []int) []int {
	room := l.target * rareShare / 100
	var left []int
	for k, g := range bad {
		t := l.templates[g]
		size := len(l.units[t.first].Text)
		if t.count > 2+len(l.units)/200 || (k > 0 && size > room) {
			left = append(left, g)
			continue
		}
		room -= size + len("L1234: ")
		c.add(t.first, max(60, l.target*rareShare/100), true)
	}
	return left
}

// addEnds selects the last error, and the first and last line.
func (l *lineText) addEnds(c *lineSelection) {
	short := max(60, l.target/8)
	n := len(l.units)
	if n == 0 {
		return
	}
	c.add(n-1, short, false)
	if last, ok := l.lastFailure(); ok {
		c.add(last, max(short, l.target*2/5), false)
	}
	c.add(0, short, false)
}

func (l *lineText) lastFailure() (last int, ok bool) {
	worst := facts.Failing
	for _, t := range l.templates {
		worst = max(worst, t.level)
	}
	last = -1
	for _, t := range l.templates {
		if t.level == worst {
			last = max(last, t.last)
		}
	}
	return last, last >= 0
}

// addExamples selects an example of each template, the most frequent first; every third is an error.
func (l *lineText) addExamples(c *lineSelection, bad []int) {
	most := max(90, min(400, l.target/6))
	for k, g := range sortedByCount(l.templates) {
		if len(c.entries) > l.target/20 {
			return
		}
		l.addExample(c, g, most)
		if k%2 == 1 && len(bad) > 0 {
			l.addExample(c, bad[0], 2*most)
			bad = bad[1:]
		}
	}
}

// addSpread selects lines spread over the text, if a few templates leave room.
func (l *lineText) addSpread(c *lineSelection) {
	for _, i := range spread(len(l.units), l.target/100) {
		if len(c.entries) > l.target/20 {
			return
		}
		c.add(i, max(90, min(400, l.target/6)), false)
	}
}

// addExample selects a unit that represents a template: one that is shown anyway, else the first.
func (l *lineText) addExample(c *lineSelection, g, most int) {
	t := l.templates[g]
	for _, i := range []int{t.first, t.last, len(l.units) - 1} {
		if _, shown := c.entryOf[i]; shown && l.templateOf[i] == int32(g) {
			c.add(i, most, true)
			return
		}
	}
	c.add(t.first, most, true)
}

// sortExamplesLast moves the examples below the other lines, the most frequent first.
func (l *lineText) sortExamplesLast(c *lineSelection) {
	for i := range c.entries {
		p := &c.entries[i]
		if l.templates[l.templateOf[p.Order]].level < facts.Failing && p.Represents > 1 {
			p.Order = len(l.units) - p.Represents + len(l.units)
		}
	}
}

// spread returns numbers below n such that any prefix of them is spread over the whole range: both ends, the middle, the quarters, and so
// on; at most most of them.
func spread(n, most int) []int {
	if n == 0 {
		return nil
	}
	order := []int{0}
	seen := map[int]bool{0: true}
	for parts := 1; len(order) < min(n, most) && parts < 2*n; parts *= 2 {
		for k := parts; k >= 1; k-- {
			at := k * (n - 1) / parts
			if !seen[at] && len(order) < most {
				seen[at] = true
				order = append(order, at)
			}
		}
	}
	return order
}

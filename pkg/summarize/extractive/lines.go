package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// lined is a text of lines, as logs and the output of commands are.
type lined struct {
	units  []choice.Unit
	groups []template
	// of is the template of each unit.
	of    []int32
	lines int
	// target is how many characters the extract may have.
	target int
}

func newLined(s source) *lined {
	l := &lined{units: s.units, lines: len(s.lines), target: s.target}
	l.groups, l.of = templates(l.units)
	return l
}

// repetitive says whether most lines are like others: whether this is a log.
func (l *lined) repetitive() bool {
	return len(l.units) >= 12 && len(l.groups)*2 <= len(l.units)
}

// lineChoice gathers the lines to be shown, those chosen first with the most worth.
type lineChoice struct {
	of      *lined
	entries []choice.Entry
	// at is the piece of each chosen unit, speakers the unit that speaks for each template.
	at       map[int]int
	speakers map[int32]int
}

func (l *lined) choose() *lineChoice {
	return &lineChoice{of: l, at: map[int]int{}, speakers: map[int32]int{}}
}

// add chooses a unit of which at most most characters are shown. If it speaks for its template it says for how many lines.
func (c *lineChoice) add(i, most int, speaks bool) {
	u, group := c.of.units[i], c.of.groups[c.of.of[i]]
	if _, ok := c.at[i]; !ok {
		c.at[i] = len(c.entries)
		p := choice.Entry{Label: fmt.Sprintf("L%d: ", u.Line), Text: strings.TrimSpace(u.Text), Most: most, Order: i, Unit: i, Stands: 1}
		if u.Rest {
			p.Stands = 0
		}
		p.Worth = -float64(len(c.entries))
		c.entries = append(c.entries, p)
	}
	p := &c.entries[c.at[i]]
	if _, spoken := c.speakers[c.of.of[i]]; speaks && group.count > 1 && !spoken {
		c.speakers[c.of.of[i]] = i
		p.Label, p.Stands = fmt.Sprintf("L%d ×%s: ", u.Line, grouped(group.count)), group.count
	}
	p.Most = max(p.Most, most)
}

// finish returns what was chosen. Lines that are too long lose their variable parts first.
func (c *lineChoice) finish() []choice.Entry {
	for i := range c.entries {
		p := &c.entries[i]
		if utf8.RuneCountInString(p.Text) > p.Most {
			p.Text = squeeze(p.Text, p.Most)
		}
		if speaker, ok := c.speakers[c.of.of[p.Unit]]; ok && speaker != p.Unit {
			p.Stands = 0 // the speaker stands for this line too
		}
	}
	return c.entries
}

// draftLog shows what is rare and bad, how the log begins and ends, and an example for each template.
func (l *lined) draftLog(text string) draft {
	c := l.choose()
	bad := l.addRare(c, l.failures())
	l.addEnds(c)
	l.addExamples(c, bad)
	l.addMore(c)
	d := draft{title: "Log", total: l.filled(), unit: "lines"}
	if l.dated() {
		l.frequentBelow(c)
	} else {
		d.title, d.mentions, d.named = "Output", names(text), 15
	}
	d.title += fmt.Sprintf(", %s in %s", counted(l.lines, "lines"), counted(len(l.groups), "templates"))
	if n := l.failing(); n > 0 {
		d.title += ", " + grouped(n) + " with error words"
	}
	d.entries = c.finish()
	return d
}

// dated says whether the lines of a text begin as those of logs do.
func (l *lined) dated() bool {
	n := 0
	for _, u := range l.units {
		if facts.IsDated(u.Text) {
			n++
		}
	}
	return n*2 > len(l.units)
}

// failing counts the lines that look like reports of errors.
func (l *lined) failing() (n int) {
	counted := 0
	for i, g := range l.of {
		if l.groups[g].level >= facts.Failing && l.units[i].Line != counted {
			counted = l.units[i].Line
			n++
		}
	}
	return n
}

// filled counts the lines that are not blank.
func (l *lined) filled() (n int) {
	for i := range l.units {
		if !l.units[i].Rest {
			n++
		}
	}
	return n
}

// rareShare is the part of an extract, in percent, that rare errors take before all else.
const rareShare = 55

// addRare chooses rare errors, which are shown whole, and returns the templates that are left.
func (l *lined) addRare(c *lineChoice, bad []int) []int {
	room := l.target * rareShare / 100
	var left []int
	for k, g := range bad {
		t := l.groups[g]
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

// addEnds chooses the last error, and the lines at both ends.
func (l *lined) addEnds(c *lineChoice) {
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

func (l *lined) lastFailure() (last int, ok bool) {
	worst := facts.Failing
	for _, t := range l.groups {
		worst = max(worst, t.level)
	}
	last = -1
	for _, t := range l.groups {
		if t.level == worst {
			last = max(last, t.last)
		}
	}
	return last, last >= 0
}

// addExamples chooses an example of each template, the most frequent first, every third time one of an error.
func (l *lined) addExamples(c *lineChoice, bad []int) {
	most := max(90, min(400, l.target/6))
	for k, g := range byCount(l.groups) {
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

// addMore chooses lines spread over the text, for the room that a few templates leave.
func (l *lined) addMore(c *lineChoice) {
	for _, i := range spread(len(l.units), l.target/100) {
		if len(c.entries) > l.target/20 {
			return
		}
		c.add(i, max(90, min(400, l.target/6)), false)
	}
}

// addExample chooses a unit that speaks for a template: one that is shown anyway, else the first.
func (l *lined) addExample(c *lineChoice, g, most int) {
	t := l.groups[g]
	for _, i := range []int{t.first, t.last, len(l.units) - 1} {
		if _, shown := c.at[i]; shown && l.of[i] == int32(g) {
			c.add(i, most, true)
			return
		}
	}
	c.add(t.first, most, true)
}

// frequentBelow puts the examples below what is shown for itself, the most frequent first.
func (l *lined) frequentBelow(c *lineChoice) {
	for i := range c.entries {
		p := &c.entries[i]
		if l.groups[l.of[p.Order]].level < facts.Failing && p.Stands > 1 {
			p.Order = len(l.units) - p.Stands + len(l.units)
		}
	}
}

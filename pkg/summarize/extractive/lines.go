package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// lined is a text of lines, as logs and the output of commands are.
type lined struct {
	units  []unit
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

// choice gathers the lines to be shown, those chosen first with the most worth.
type choice struct {
	of     *lined
	pieces []piece
	// at is the piece of each chosen unit, speakers the unit that speaks for each template.
	at       map[int]int
	speakers map[int32]int
}

func (l *lined) choose() *choice {
	return &choice{of: l, at: map[int]int{}, speakers: map[int32]int{}}
}

// add chooses a unit of which at most most characters are shown. If it speaks for its template it says for how many lines.
func (c *choice) add(i, most int, speaks bool) {
	u, group := c.of.units[i], c.of.groups[c.of.of[i]]
	if _, ok := c.at[i]; !ok {
		c.at[i] = len(c.pieces)
		p := piece{label: fmt.Sprintf("L%d: ", u.line), text: strings.TrimSpace(u.text), most: most, order: i, unit: i, stands: 1}
		if u.rest {
			p.stands = 0
		}
		p.worth = -float64(len(c.pieces))
		c.pieces = append(c.pieces, p)
	}
	p := &c.pieces[c.at[i]]
	if _, spoken := c.speakers[c.of.of[i]]; speaks && group.count > 1 && !spoken {
		c.speakers[c.of.of[i]] = i
		p.label, p.stands = fmt.Sprintf("L%d ×%s: ", u.line, grouped(group.count)), group.count
	}
	p.most = max(p.most, most)
}

// finish returns what was chosen. Lines that are too long lose their variable parts first.
func (c *choice) finish() []piece {
	for i := range c.pieces {
		p := &c.pieces[i]
		if utf8.RuneCountInString(p.text) > p.most {
			p.text = squeeze(p.text, p.most)
		}
		if speaker, ok := c.speakers[c.of.of[p.unit]]; ok && speaker != p.unit {
			p.stands = 0 // the speaker stands for this line too
		}
	}
	return c.pieces
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
	d.pieces = c.finish()
	return d
}

// dated says whether the lines of a text begin as those of logs do.
func (l *lined) dated() bool {
	n := 0
	for _, u := range l.units {
		if dated(u.text) {
			n++
		}
	}
	return n*2 > len(l.units)
}

// failing counts the lines that look like reports of errors.
func (l *lined) failing() (n int) {
	counted := 0
	for i, g := range l.of {
		if l.groups[g].level >= failing && l.units[i].line != counted {
			counted = l.units[i].line
			n++
		}
	}
	return n
}

// filled counts the lines that are not blank.
func (l *lined) filled() (n int) {
	for i := range l.units {
		if !l.units[i].rest {
			n++
		}
	}
	return n
}

// rareShare is the part of an extract, in percent, that rare errors take before all else.
const rareShare = 55

// addRare chooses rare errors, which are shown whole, and returns the templates that are left.
func (l *lined) addRare(c *choice, bad []int) []int {
	room := l.target * rareShare / 100
	var left []int
	for k, g := range bad {
		t := l.groups[g]
		size := len(l.units[t.first].text)
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
func (l *lined) addEnds(c *choice) {
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
	worst := failing
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
func (l *lined) addExamples(c *choice, bad []int) {
	most := max(90, min(400, l.target/6))
	for k, g := range byCount(l.groups) {
		if len(c.pieces) > l.target/20 {
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
func (l *lined) addMore(c *choice) {
	for _, i := range spread(len(l.units), l.target/100) {
		if len(c.pieces) > l.target/20 {
			return
		}
		c.add(i, max(90, min(400, l.target/6)), false)
	}
}

// addExample chooses a unit that speaks for a template: one that is shown anyway, else the first.
func (l *lined) addExample(c *choice, g, most int) {
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
func (l *lined) frequentBelow(c *choice) {
	for i := range c.pieces {
		p := &c.pieces[i]
		if l.groups[l.of[p.order]].level < failing && p.stands > 1 {
			p.order = len(l.units) - p.stands + len(l.units)
		}
	}
}

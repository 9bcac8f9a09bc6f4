package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

func newLined(text string, target int) *lined {
	lines := splitLines(text)
	l := &lined{units: units(lines), lines: len(lines), target: target}
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
	// at is the piece of each chosen unit.
	at map[int]int
}

// add chooses a unit of which at most most characters are shown. If it speaks for its template it says for how many lines.
func (c *choice) add(i, most int, speaks bool) {
	u, group := c.of.units[i], c.of.groups[c.of.of[i]]
	if _, ok := c.at[i]; !ok {
		c.at[i] = len(c.pieces)
		c.pieces = append(c.pieces, piece{
			label: fmt.Sprintf("L%d: ", u.line), text: strings.TrimSpace(u.text), most: most,
			order: i, worth: -float64(len(c.pieces)), stands: 1,
		})
	}
	p := &c.pieces[c.at[i]]
	if speaks && group.count > 1 {
		p.label, p.stands = fmt.Sprintf("L%d ×%s: ", u.line, grouped(group.count)), group.count
	}
	p.most = max(p.most, most)
}

// draftLog shows what is rare and bad, how the log begins and ends, and an example for each template.
func (l *lined) draftLog() draft {
	c := &choice{of: l, at: map[int]int{}}
	bad := l.failures()
	bad = l.addRare(c, bad)
	l.addEnds(c)
	l.addExamples(c, bad)
	l.frequentBelow(c)
	title := fmt.Sprintf("Log, %s in %s", counted(l.lines, "lines"), counted(len(l.groups), "templates"))
	if n := l.failing(); n > 0 {
		title += ", " + grouped(n) + " with error words"
	}
	return draft{title: title, pieces: c.pieces, total: len(l.units), unit: "lines"}
}

// failing counts the units that look like reports of errors.
func (l *lined) failing() (n int) {
	for _, g := range l.groups {
		if g.level >= failing {
			n += g.count
		}
	}
	return n
}

// failures returns the templates that report errors, those first that a reader must not miss: rare ones, in words that
// nothing else in the text uses.
func (l *lined) failures() []int {
	var bad []int
	for g, t := range l.groups {
		if t.level >= failing {
			bad = append(bad, g)
		}
	}
	worth := func(g int) float64 {
		t := l.groups[g]
		return 6*t.novelty + 2*rarity(t.count, len(l.units)) + float64(t.level)
	}
	slices.SortStableFunc(bad, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
	return bad
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
		room -= min(size, l.target*8/10) + len("L1234: ")
		c.add(t.first, l.target*8/10, true)
	}
	return left
}

// addEnds chooses the last error, and the lines at both ends.
func (l *lined) addEnds(c *choice) {
	short := max(60, l.target/6)
	if last, ok := l.lastFailure(); ok {
		c.add(last, max(short, l.target*2/5), false)
	}
	if n := len(l.units); n > 0 {
		c.add(0, short, false)
		c.add(n-1, short, false)
	}
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

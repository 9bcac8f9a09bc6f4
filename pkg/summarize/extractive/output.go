package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// draftOutput shows the lines of a command's output that say most: its errors, its ends, and of the rest what its words
// return to.
func (l *lined) draftOutput(text string) draft {
	c := l.choose()
	bad := l.addRare(c, l.failures())
	l.addEnds(c)
	l.addTelling(c, bad)
	return draft{
		title: "Text, " + counted(l.lines, "lines"), entries: c.finish(), mentions: names(text), named: 22, total: l.filled(), unit: "lines",
	}
}

// addTelling chooses lines for their words, one for each template; those of errors and sums count more.
func (l *lined) addTelling(c *lineChoice, bad []int) {
	most := max(100, min(400, l.target/5))
	speaker := make([]bool, len(l.units))
	for _, t := range l.groups {
		speaker[t.first] = true
	}
	boost := func(i int) float64 {
		if !speaker[i] {
			return 0
		}
		return prominence(l.units[i].Text)
	}
	for k, i := range choice.TermsOf(l.units).Cover(l.units, boost, l.target/25) {
		l.addExample(c, int(l.of[i]), most)
		if k%4 == 3 && len(bad) > 0 {
			l.addExample(c, bad[0], most)
			bad = bad[1:]
		}
	}
}

// prominence weighs a line by its form: headings and sums stand out, rules and code that goes on do not.
func prominence(line string) float64 {
	s := strings.TrimSpace(line)
	level := facts.SeverityOf(s)
	switch {
	case level >= facts.Failing:
		return 2
	case level == facts.Warning:
		return 1.4
	case strings.HasPrefix(s, "==") || strings.HasPrefix(s, "##") || strings.HasSuffix(s, ":"):
		return 1.3
	}
	return 1
}

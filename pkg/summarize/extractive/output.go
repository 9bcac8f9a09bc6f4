package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// draftOutput shows the most informative lines of a command's output: its errors, its first and last line, and those with recurring words.
func (l *lineText) draftOutput(text string) draft {
	c := l.newSelection()
	bad := l.addRare(c, l.failures())
	l.addEnds(c)
	l.addInformative(c, bad)
	return draft{
		title: "Text, " + counted(l.lines, "lines"), entries: c.finished(), names: rankedNames(text), mentionShare: 22, total: l.nonBlank(), unit: "lines",
	}
}

// addInformative selects lines by their words, one for each template; errors and totals count more.
func (l *lineText) addInformative(c *lineSelection, bad []int) {
	most := max(100, min(400, l.target/5))
	speaker := make([]bool, len(l.units))
	for _, t := range l.templates {
		speaker[t.first] = true
	}
	boost := func(i int) float64 {
		if !speaker[i] {
			return 0
		}
		return lineBoost(l.units[i].Text)
	}
	for k, i := range choice.Cover(l.units, boost, l.target/25) {
		l.addExample(c, int(l.templateOf[i]), most)
		if k%4 == 3 && len(bad) > 0 {
			l.addExample(c, bad[0], most)
			bad = bad[1:]
		}
	}
}

// lineBoost weighs a line by its form: headings and totals stand out.
func lineBoost(line string) float64 {
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

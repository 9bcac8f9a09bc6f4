package extractive

import (
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// isProse reports whether most of the text is sentences.
func (l *lineText) isProse() bool {
	prose, all := 0, 0
	for _, u := range l.units {
		all += len(u.Text)
		last, _ := utf8.DecodeLastRuneInString(u.Text)
		if strings.Count(u.Text, " ")*12 > len(u.Text) && (len(u.Text) > 80 || content.EndsSentence(last)) || last == '。' || last >= 0x4e00 {
			prose += len(u.Text)
		}
	}
	return prose*10 > all*6
}

// draftProse offers the most informative sentences, in order.
func draftProse(s source) draft {
	var all []choice.Unit
	for _, p := range content.Paragraphs(s.lines, s.line) {
		for _, text := range content.Sentences(p.Text) {
			all = append(all, choice.Unit{Text: text, Line: p.Line})
		}
	}
	d := draft{title: "Text, " + counted(len(all), "sentences"), names: rankedNames(s.text), mentionShare: 12, total: len(all), unit: "sentences"}
	boost := func(i int) float64 { return sentenceBoost(all[i].Text, i, len(all)) }
	for rank, i := range choice.Cover(all, boost, 10+s.target/30) {
		d.entries = append(d.entries, choice.Entry{Text: all[i].Text, MaxChars: max(150, s.target/3), Order: i, Score: -float64(rank), Represents: 1})
	}
	return d
}

// sentenceBoost weighs a sentence by its place and by what it reports.
func sentenceBoost(text string, i, n int) float64 {
	level := facts.SeverityOf(text)
	switch {
	case i == 0:
		return 2
	case len(text) < 40:
		return 0.5
	case level == facts.Grave:
		return 1.5
	case i == n-1 || strings.ContainsAny(text, "0123456789"):
		return 1.3
	}
	return 1
}

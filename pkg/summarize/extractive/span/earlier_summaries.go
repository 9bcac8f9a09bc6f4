package span

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// earlierSummaries is what earlier summaries say: the lines of extracts by heading, and those of all others as they are.
type earlierSummaries struct {
	byHeading map[string][]string
	seen      map[[2]string]bool // by heading and line
	lines     []string           // of summaries that are no extracts
}

// read adds a summary; later ones are newer.
func (o *earlierSummaries) read(text string) {
	if o.byHeading == nil {
		o.byHeading, o.seen = map[string][]string{}, map[[2]string]bool{}
	}
	extract, heading := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		if extract && slices.Contains(headings, line) {
			heading = line
			continue
		}
		begins := strings.HasPrefix(line, headBegins+".") || strings.HasPrefix(line, headBegins+headUpTo)
		entry, isItem := strings.CutPrefix(line, "- ")
		switch entry = oneLine(summarize.Filter(entry)); {
		case begins || strings.TrimSpace(line) == "":
			extract, heading = begins, "" // an extract begins or ends here
		case entry == "":
		case isItem && heading != "" && heading != headBefore:
			o.add(heading, entry)
		default:
			o.lines = append(o.lines, entry)
		}
	}
}

// add adds a line of an extract. Of what was open then, only unanswered calls remain open, and the assistant's last message becomes one of
// its statements.
func (o *earlierSummaries) add(heading, entry string) {
	if heading == headOpen && !strings.HasPrefix(entry, noResult) {
		said, isSaid := strings.CutPrefix(entry, saidLast)
		if !isSaid {
			return
		}
		heading, entry = headSaid, said
	}
	if at := [2]string{heading, entry}; !o.seen[at] {
		o.seen[at] = true
		o.byHeading[heading] = append(o.byHeading[heading], entry)
	}
}

func (o *earlierSummaries) items(heading string) []string { return o.byHeading[heading] }

// entries returns the lines under a heading, whole or not at all, so that they do not wear down from extract to extract. Newer lines have
// higher scores, and the first, which often says what everything is for.
func (o *earlierSummaries) entries(heading string) (all []choice.Entry) {
	lines := o.items(heading)
	for i, line := range lines {
		p := newEntry(line, i-len(lines)-1, float64(i), len(line))
		if i == 0 {
			p.Score = float64(len(lines))
		}
		p.Whole = true
		all = append(all, p)
	}
	return all
}

// names returns the names that were listed before.
func (o *earlierSummaries) names() (all []string) {
	for _, line := range o.items(headNamed) {
		all = append(all, strings.Split(line, ", ")...)
	}
	return all
}

// unstructured returns the most informative lines of summaries that are not extracts.
func (o *earlierSummaries) unstructured() (all []choice.Entry) {
	lines := make([]choice.Unit, len(o.lines))
	for i, line := range o.lines {
		lines[i] = choice.Unit{Text: line}
	}
	boost := func(i int) float64 {
		weight := 0.5 + float64(i+1)/float64(len(lines))
		if facts.IsRule(lines[i].Text) {
			weight *= 2
		}
		return weight
	}
	for rank, i := range choice.Cover(lines, boost, 200) {
		all = append(all, newEntry(lines[i].Text, i, -float64(rank), 600))
	}
	return all
}

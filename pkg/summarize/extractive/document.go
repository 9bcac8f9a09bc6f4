package extractive

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// blockKind is the kind of a block.
type blockKind int8

const (
	paragraph blockKind = iota
	heading
	code
	tableHead
	tableRow
)

// block is a part of a document.
type block struct {
	kind blockKind
	// level is a heading's level, from 1, or the number of rows of a table.
	level int
	text  string
	// aside is true for navigation rather than content.
	aside bool
}

// maxBlockBytes limits how many bytes of a block are read.
const maxBlockBytes = 100_000

// document is a text as headings and the blocks below them.
type document struct {
	title  string
	blocks []block
	// links are the links of the content, asides those of navigation, each once.
	links, asides []string
	linked        map[string]bool
	// headings tables and listings count the blocks outside navigation.
	headings, tables, listings int
}

func (o *document) add(b block) {
	if b.text == "" {
		return
	}
	if !b.aside {
		switch b.kind {
		case heading:
			o.headings++
		case code:
			o.listings++
		case tableHead:
			o.tables++
		}
	}
	o.blocks = append(o.blocks, b)
}

func (o *document) addTable(rows []string, aside bool) {
	if len(rows) == 0 {
		return
	}
	o.add(block{kind: tableHead, level: len(rows), text: rows[0], aside: aside})
	for _, row := range rows[1:] {
		o.add(block{kind: tableRow, text: row, aside: aside})
	}
}

func (o *document) addLink(href string, aside bool) {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || o.linked[href] || len(href) > 300 || !isReadableLink(href) {
		return
	}
	if o.linked == nil {
		o.linked = map[string]bool{}
	}
	o.linked[href] = true
	if aside || !strings.Contains(href, "/") {
		o.asides = append(o.asides, href)
		return
	}
	o.links = append(o.links, href)
}

// isReadableLink reports whether an address is meaningful to a reader.
func isReadableLink(href string) bool {
	return !strings.HasPrefix(href, "javascript:") && !strings.HasPrefix(href, "data:") && !strings.ContainsAny(href, " \n\t")
}

func (o *document) describe(name string) string {
	for _, c := range []struct {
		n    int
		what string
	}{{o.headings, "headings"}, {o.tables, "tables"}, {o.listings, "code blocks"}, {len(o.links), "links"}} {
		if c.n > 0 {
			name += ", " + counted(c.n, c.what)
		}
	}
	return name
}

// headingShare is the percentage of an extract for headings, before sentences.
const headingShare = 40

// draft offers the headings in order, and below them the most informative sentences, table heads and first lines of code.
func (o *document) draft(name string, target int) draft {
	d := draft{title: o.describe(name)}
	d.entries = o.headingEntries(target)
	all, of := o.sentences(target)
	boost := func(i int) float64 { return sentenceInBlockBoost(all[i], o.blocks[of[i]]) }
	for rank, i := range choice.Cover(all, boost, 20+target/30) {
		b := o.blocks[of[i]]
		d.entries = append(d.entries, choice.Entry{
			Label: b.label(all[i].Text), Text: all[i].Text, MaxChars: max(120, min(400, target/4)), Order: of[i]*64 + min(all[i].Line, 60), Score: 500 - float64(rank),
		})
	}
	d.names, d.mentionShare = o.mentions(), 20
	return d
}

// label returns the prefix of a block's line, unless its text shows what it is.
func (b *block) label(text string) string {
	switch {
	case b.kind == tableHead:
		return fmt.Sprintf("Table, %s: ", counted(b.level, "rows"))
	case b.kind == code:
		return "Code: "
	case strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "|"):
		return ""
	}
	return "- "
}

// headingEntries returns the headings: within their share the higher levels first, then the others with low scores.
func (o *document) headingEntries(target int) (entries []choice.Entry) {
	room := target * headingShare / 100
	for level := 1; level <= 6; level++ {
		for i, b := range o.blocks {
			if b.kind != heading || b.level != level || b.aside {
				continue
			}
			p := choice.Entry{Label: strings.Repeat("#", level) + " ", Text: b.text, MaxChars: 100, Order: i * 64, Score: 900 - float64(len(entries))/1000}
			if room -= len(b.text) + level + 2; room < 0 {
				p.Score = 400
			}
			entries = append(entries, p)
		}
	}
	return entries
}

// maxSentences is how many sentences of a document are compared.
const maxSentences = 20_000

// sentences splits the blocks into sentences; of are the blocks they come from. The unit's line is its number in its block.
func (o *document) sentences(target int) (all []choice.Unit, of []int) {
	for i, b := range o.blocks {
		switch {
		case b.kind == heading || len(all) > maxSentences:
			continue
		case b.kind == code:
			all = append(all, choice.Unit{Text: firstLines(b.text, max(100, target/10)), Line: 1})
		case b.kind == paragraph:
			for k, s := range content.Sentences(b.text) {
				all = append(all, choice.Unit{Text: s, Line: k + 1})
			}
		default:
			all = append(all, choice.Unit{Text: b.text, Line: 1})
		}
		for len(of) < len(all) {
			of = append(of, i)
		}
	}
	return all, of
}

// firstLines returns the start of a listing: its first line and, if that is short, the next one on the same line.
func firstLines(text string, n int) string {
	line, rest, _ := strings.Cut(text, "\n")
	if len(line) >= n/3 || rest == "" {
		return line
	}
	next, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line) + " ⏎ " + strings.TrimSpace(next)
}

// sentenceInBlockBoost weighs a sentence by its place: the first below a heading says what a section is about.
func sentenceInBlockBoost(u choice.Unit, b block) float64 {
	level := facts.SeverityOf(u.Text)
	switch {
	case b.aside:
		return 0.05
	case len(u.Text) < 15:
		return 0.3
	case b.kind == tableHead:
		return 1.5
	case level >= facts.Failing && b.kind == paragraph:
		return 1.4
	case u.Line == 1 && b.kind == paragraph:
		return 1.3
	case b.kind == code || b.kind == tableRow:
		return 0.8
	}
	return 1
}

// mentions returns the links of the content, absolute ones first, and the names in it.
func (o *document) mentions() []string {
	var whole, relative []string
	for _, l := range o.links {
		if strings.Contains(l, "://") {
			whole = append(whole, l)
		} else {
			relative = append(relative, l)
		}
	}
	var b strings.Builder
	for _, block := range o.blocks {
		if !block.aside {
			b.WriteString(block.text + "\n")
		}
	}
	all := interleave(rankedNames(b.String()), append(whole, relative...))
	return append(all, o.asides...)
}

// interleave alternates between two lists.
func interleave(a, b []string) (all []string) {
	for i := 0; i < max(len(a), len(b)); i++ {
		if i < len(a) {
			all = append(all, a[i])
		}
		if i < len(b) {
			all = append(all, b[i])
		}
	}
	return all
}

package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// column is a member that the objects of a list have, at any depth.
type column struct {
	path  []string
	shape *shape
	worth float64
	// width is about how many characters a cell takes.
	width int
}

func (c *column) name() string { return strings.Join(c.path, ".") }

// table is a list of objects of one form, or lists of such lists, shown as rows.
type table struct {
	*jsonReader
	list int32
	// shape is that of the objects, path that of the list.
	shape *shape
	path  string
	// rows are all objects, shown the numbers of those that are offered.
	rows    []int32
	shown   []int
	columns []column
	// rareColumns are the columns that few of the objects have; their rows show them by name. constantColumns are those in which all
	// objects are equal.
	rareColumns, constantColumns []column
	cellChars                    int
}

// addTable offers a list of objects: its columns, then its rows: first, last and spread between.
func (r *jsonReader) addTable(i int32, objects *shape, path string) {
	r.tables++
	t := &table{jsonReader: r, list: i, shape: objects, path: path}
	t.collectRows(i, objects.count)
	n := len(t.rows)
	t.shown = spread(n, min(n, 20+r.target/20))
	t.cellChars = max(32, min(600, r.target/2/max(n, 1)))
	t.chooseColumns()
	t.addHeader()
	switch size := t.addRows(); {
	case size*n > r.target*3/4:
		t.addNames()
	case size*n < r.target/3:
		t.addInnerLists()
	}
}

// maxInner is how many objects' inner lists are offered too.
const maxInner = 8

// addInnerLists offers the lists in the first objects of a table that leaves room.
func (t *table) addInnerLists() {
	for _, k := range t.shown[:min(len(t.shown), maxInner)] {
		i := t.rows[k]
		for c := t.doc.Nodes[i].First; c != content.NoNode; c = t.doc.Nodes[c].Next {
			if m := t.shape.byKey[t.doc.Key(c)]; m != nil && m.list && t.doc.Nodes[c].Size > 0 {
				t.collectList(c, m, t.jsonReader.path(c))
			}
		}
	}
}

// collectRows collects the objects of a list, and of the lists in it.
func (t *table) collectRows(i int32, most int) {
	for c := t.doc.Nodes[i].First; c != content.NoNode && len(t.rows) < most; c = t.doc.Nodes[c].Next {
		if kind := t.doc.Nodes[c].Kind; kind == '[' || (kind == '{' && t.shape.members == nil) || t.isList(c) {
			t.collectRows(c, most)
		} else {
			t.rows = append(t.rows, c)
		}
	}
}

// isList reports whether an object is a list of the table's objects rather than one of them.
func (t *table) isList(i int32) bool {
	first := t.doc.Nodes[i].First
	return t.doc.Nodes[i].Kind == '{' && first != content.NoNode && t.shape.byKey[t.doc.Key(first)] == nil
}

// leafColumns returns the columns of a shape.
func leafColumns(s *shape, path []string) (all []column) {
	for _, m := range s.members {
		p := append(slices.Clone(path), m.key)
		if m.kind == '{' && !m.list && len(p) < 4 {
			all = append(all, leafColumns(m, p)...)
			continue
		}
		worth := keyWorth(m.key) - float64(len(path))/2
		if m.list {
			worth = 1
		}
		all = append(all, column{path: p, shape: m, worth: worth, width: len(m.key)})
	}
	return all
}

// chooseColumns selects the columns that fit into a row: those that differ between items, by the importance of their names.
func (t *table) chooseColumns() {
	var candidates []column
	for _, c := range leafColumns(t.shape, nil) {
		_, same := c.shape.constant()
		switch {
		case c.shape.count*2 < t.shape.count:
			t.rareColumns = append(t.rareColumns, c)
		case same && t.shape.count == c.shape.count:
			t.constantColumns = append(t.constantColumns, c)
		case !t.isLabel(c):
			c.width = t.width(c)
			candidates = append(candidates, c)
		}
	}
	room := max(90, min(420, t.target/5), t.target/2/max(len(t.rows), 1))
	byWorth := make([]int, len(candidates))
	for k := range candidates {
		byWorth[k] = k
	}
	slices.SortStableFunc(byWorth, func(a, b int) int { return cmp.Compare(candidates[b].worth, candidates[a].worth) })
	var kept []int
	for _, k := range byWorth {
		if w := candidates[k].width + len(" | "); w <= room || len(kept) == 0 {
			kept = append(kept, k)
			room -= w
		}
	}
	slices.Sort(kept)
	t.covered = t.path == "" && len(kept) == len(candidates) && len(t.rareColumns) == 0 &&
		!slices.ContainsFunc(candidates, func(c column) bool { return c.shape.list })
	for _, k := range kept {
		t.columns = append(t.columns, candidates[k])
	}
}

// width returns the mean width of a column's cells in the rows that are offered.
func (t *table) width(c column) int {
	sum := 0
	for _, k := range t.shown {
		sum += len(content.Clip(t.cellAt(t.rows[k], c.path), t.cellChars))
	}
	return sum / max(len(t.shown), 1)
}

// isLabel reports whether a column repeats the keys of the objects.
func (t *table) isLabel(c column) bool {
	for _, k := range t.shown {
		if key := t.doc.Key(t.rows[k]); key == "" || key != t.cellAt(t.rows[k], c.path) {
			return false
		}
	}
	return true
}

// cellAt returns an item's value in a column, or "".
func (t *table) cellAt(i int32, path []string) string {
	for _, key := range path {
		if i = t.doc.Child(i, key); i == content.NoNode {
			return ""
		}
	}
	return t.bare(i)
}

// addHeader offers the column names, shortened if they share the parent of the one before.
func (t *table) addHeader() {
	names := make([]string, len(t.columns))
	before := ""
	for k, c := range t.columns {
		names[k] = c.name()
		at := strings.LastIndexByte(names[k], '.') + 1
		if k > 0 && at > 0 && names[k][:at] == before {
			names[k] = names[k][at-1:]
		}
		before = c.name()[:at]
	}
	label := ""
	if t.path != "" {
		label = fmt.Sprintf("%s (%s): ", t.path, grouped(len(t.rows)))
	}
	t.add(choice.Entry{Label: label, Text: strings.Join(names, " | "), MaxChars: max(120, t.target/4), Score: worthHeader - float64(t.tables)})
	t.addConstants()
}

// addConstants offers what all objects have in common.
func (t *table) addConstants() {
	if len(t.constantColumns) == 0 {
		return
	}
	parts := make([]string, len(t.constantColumns))
	for k, c := range t.constantColumns {
		raw, _ := c.shape.constant()
		parts[k] = c.name() + " " + raw
	}
	t.add(choice.Entry{Label: "all: ", Text: strings.Join(parts, ", "), MaxChars: max(80, t.target/8), Score: worthRow - 5})
}

// addRows offers rows, those between others with lower scores, and returns their mean length.
func (t *table) addRows() (size int) {
	base := t.nextOrder + 2
	for k, number := range t.shown {
		i := t.rows[number]
		p := choice.Entry{Label: t.label(i), Text: t.row(i), MaxChars: max(110, t.target/4), Score: worthRow - 10*float64(k), Order: base + number}
		if t.doc.Nodes[i].Parent == 0 {
			p.Represents = 1
		}
		size += len(p.Label) + len(p.Text) + 1
		t.entries = append(t.entries, p)
	}
	t.nextOrder = base + len(t.rows)
	return size / max(len(t.shown), 1)
}

// label returns where in its list an object is.
func (t *table) label(i int32) string {
	label := ""
	for ; i != t.list; i = t.doc.Nodes[i].Parent {
		label = t.pathStep(i) + label
	}
	if label[0] == '.' {
		return label[1:] + ": "
	}
	return label + " "
}

// row returns an item on one line: its cells, then the rare columns by name.
func (t *table) row(i int32) string {
	cells := make([]string, 0, len(t.columns))
	for _, c := range t.columns {
		cells = append(cells, content.Clip(t.cellAt(i, c.path), t.cellChars))
	}
	text := strings.Join(cells, " | ")
	for _, c := range t.rareColumns {
		if v := t.cellAt(i, c.path); v != "" {
			text += fmt.Sprintf(" | %s: %s", c.name(), content.Clip(v, t.cellChars))
		}
	}
	return text
}

// addNames offers the names of the items on one line, so that a reader sees which there are.
func (t *table) addNames() {
	name, of := "keys", t.doc.Key
	key := t.doc.Key(t.rows[0])
	c := t.identity()
	switch {
	case c != nil && (key == "" || !strings.ContainsFunc(key, unicode.IsLetter)):
		name, of = c.name(), func(i int32) string { return t.cellAt(i, c.path) }
	case key == "":
		return
	}
	var b strings.Builder
	seen := map[string]bool{}
	for k := 0; k < len(t.rows) && b.Len() < 2*t.target; k++ {
		value := content.Clip(of(t.rows[k]), 80)
		if seen[value] {
			continue
		}
		if seen[value] = true; k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(value)
	}
	t.add(choice.Entry{Label: fmt.Sprintf("%s (%s): ", name, grouped(len(t.rows))), Text: b.String(), MaxChars: t.target * 3 / 10, Score: worthNames})
}

// identity returns the column that best identifies the items, if there is one.
func (t *table) identity() *column {
	var best *column
	for k := range t.columns {
		c := &t.columns[k]
		if c.worth >= 4.5 && (c.shape.values.many || 2*len(c.shape.values.order) > t.shape.count) && (best == nil || c.worth > best.worth) {
			best = c
		}
	}
	return best
}

// keyWorth scores a member by its name, from 2 to 5: identifiers, outcomes, amounts, times, places.
func keyWorth(key string) float64 {
	if len(key) > 40 {
		return 2
	}
	k := strings.ToLower(key)
	weights := []struct {
		worth float64
		words []string
	}{
		{5, []string{"id", "number", "uuid", "code", "sku", "slug", "key", "ref"}},
		{4.6, []string{"name", "title", "subject", "label", "email", "user", "login"}},
		{4.2, []string{"status", "state", "error", "message", "reason", "level", "severity", "result", "exit", "type"}},
		{3.6, []string{"amount", "price", "total", "cost", "quantity", "count", "balance", "size", "score", "currency"}},
		{3.2, []string{"date", "time", "created", "updated", "expires", "url", "href", "link", "path", "file"}},
	}
	for _, w := range weights {
		if slices.ContainsFunc(w.words, func(word string) bool { return hasPart(k, word) }) {
			return w.worth
		}
	}
	return 2
}

// hasPart reports whether a name is a word, or begins or ends with it.
func hasPart(name, word string) bool {
	if !strings.Contains(name, word) {
		return false
	}
	return name == word || strings.HasSuffix(name, "_"+word) || strings.HasPrefix(name, word+"_") ||
		(len(word) > 3 && (strings.HasSuffix(name, word) || strings.HasPrefix(name, word)))
}

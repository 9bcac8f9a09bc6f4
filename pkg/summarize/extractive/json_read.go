package extractive

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// jsonReader offers what an extract of a JSON text may show: errors, the shape, then items and members.
type jsonReader struct {
	doc     *content.JSONTree
	target  int
	entries []choice.Entry
	// tables counts the lists that were offered as tables.
	tables int
	// nextOrder is the order of the next line.
	nextOrder int
	// covered is true if the head of the last table names all members of its objects.
	covered bool
}

// Higher scores get room first. Rows lose score with their number, so that several tables share the room.
const (
	worthError  = 1000.0
	worthShape  = 900.0
	worthHeader = 700.0
	worthRow    = 690.0
	worthNames  = 675.0
	worthMember = 640.0
)

// readJSON recognizes JSON and JSON lines.
func readJSON(s source) (draft, bool) {
	name := "JSON "
	doc, ok := content.ParseJSON(s.text)
	if !ok {
		if doc, ok = content.ParseJSONLines(s.text); !ok {
			return draft{}, false
		}
		name = "JSON lines"
	}
	if long := dominantString(doc); long != content.NoNode && s.depth < maxDepth {
		return draftString(doc, long, s), true
	}
	r := &jsonReader{doc: doc, target: s.target}
	shape := &shape{}
	observe(doc, 0, shape)
	r.addErrorMembers()
	r.collect(0, shape, "")
	r.addShape(shape)
	d := draft{title: r.title(name, shape), entries: r.entries}
	if shape.list && r.tables == 1 {
		d.total, d.unit = int(doc.Nodes[0].Size), "items"
	}
	return d, true
}

func (r *jsonReader) title(name string, shape *shape) string {
	root := r.doc.Nodes[0]
	what := "items"
	switch {
	case root.Kind == '{' && shape.list:
		name, what = "JSON object", "entries"
	case root.Kind == '{':
		name, what = "JSON object", "members"
	case name == "JSON ":
		name = "JSON array"
	}
	size := counted(int(root.Size), what)
	if root.Size == 1 && what == "entries" {
		size = "1 entry"
	}
	if r.doc.Cut >= 0 {
		return fmt.Sprintf("%s, broken off, at least %s", name, size)
	}
	return name + ", " + size
}

// shapeShare is the percentage of an extract for the shape of a JSON text.
const shapeShare = 33

func (r *jsonReader) addShape(shape *shape) {
	most := r.target * shapeShare / 100
	text := r.shapeText(shape, most)
	if strings.ContainsAny(text, "{[") {
		r.entries = append(r.entries, choice.Entry{Label: "Shape: ", Text: text, MaxChars: most, Order: 1, Score: worthShape})
	}
}

// shapeText describes a shape in about most characters, without what the head of a table says.
func (r *jsonReader) shapeText(shape *shape, most int) string {
	text := shape.describe(true, 0)
	covered := r.tables == 1 && r.covered
	switch {
	case len(text) <= most/2 || (len(text) <= most && !covered):
		return text
	case covered:
		return shape.describeLists()
	}
	return shape.describe(false, 0)
}

// add offers a line below all that were offered before.
func (r *jsonReader) add(p choice.Entry) {
	r.nextOrder++
	p.Order = r.nextOrder + 1
	r.entries = append(r.entries, p)
}

// maxPathBytes is the length up to which the path of a member is worth showing.
const maxPathBytes = 200

// collect offers the contents of a value: members by their path, lists of objects as tables.
func (r *jsonReader) collect(i int32, s *shape, path string) {
	n := &r.doc.Nodes[i]
	switch {
	case len(r.entries) > 60+r.target/8 || len(path) > maxPathBytes: // more than the target can use
	case n.Kind != '{' && n.Kind != '[':
		r.addMember(i, path)
	case n.Size == 0:
		r.add(choice.Entry{Text: path + ": " + r.raw(i), MaxChars: 200, Score: worthMember - 50})
	case !s.list && n.Kind == '{':
		for c := n.First; c != content.NoNode; c = r.doc.Nodes[c].Next {
			if m := s.byKey[r.doc.Key(c)]; m != nil {
				r.collect(c, m, join(path, r.doc.Key(c)))
			}
		}
	default:
		r.collectList(i, s, path)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (r *jsonReader) collectList(i int32, s *shape, path string) {
	n := &r.doc.Nodes[i]
	inner := s.item
	for inner.list && inner.item != nil {
		inner = inner.item
	}
	large := n.Size <= 3 && int(n.End-n.Start) > r.target/2 && !s.item.list
	switch {
	case inner.kind == '{' && !large:
		r.addTable(i, inner, path)
	case inner.kind == '{' || (s.item.list && n.Size <= 20):
		for c := n.First; c != content.NoNode; c = r.doc.Nodes[c].Next {
			r.collect(c, s.item, path+r.pathStep(c))
		}
	default:
		r.addValues(i, path)
	}
}

// pathStep returns how a path continues to an item: by its index, or by its key.
func (r *jsonReader) pathStep(i int32) string {
	n := &r.doc.Nodes[i]
	if r.doc.Nodes[n.Parent].Kind == '{' {
		return "." + r.doc.Key(i)
	}
	return fmt.Sprintf("[%d]", n.Index)
}

// path returns the path of a value from the root.
func (r *jsonReader) path(i int32) string {
	var steps []string
	for ; i != 0; i = r.doc.Nodes[i].Parent {
		steps = append(steps, r.pathStep(i))
	}
	var b strings.Builder
	for k := len(steps) - 1; k >= 0; k-- {
		b.WriteString(steps[k])
	}
	return strings.TrimPrefix(b.String(), ".")
}

// raw returns the first line of a value as it is in the text.
func (r *jsonReader) raw(i int32) string {
	n := &r.doc.Nodes[i]
	text := r.doc.Text[n.Start:n.End]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return strings.TrimRight(text[:end], " \r")
	}
	return text
}

// bare returns a value as it is in the text, a string without quotes; for lists and objects, their size.
func (r *jsonReader) bare(i int32) string {
	n := &r.doc.Nodes[i]
	switch n.Kind {
	case '"':
		return r.doc.Text[n.Start+1 : n.End-1]
	case '{', '[':
		return "(" + grouped(int(n.Size)) + ")"
	}
	return r.doc.Text[n.Start:n.End]
}

func (r *jsonReader) addMember(i int32, path string) {
	worth := worthMember + 10*keyWorth(r.doc.Key(i)) - 6*float64(strings.Count(path, "."))
	most := max(60, r.target/5)
	text := r.raw(i)
	worth -= float64(min(len(text), most))/5 + float64(len(r.entries))/50
	r.add(choice.Entry{Label: path + ": ", Text: text, MaxChars: most, Score: worth})
}

// addValues offers a list of scalars on one line.
func (r *jsonReader) addValues(i int32, path string) {
	n := &r.doc.Nodes[i]
	var b strings.Builder
	for c := n.First; c != content.NoNode && b.Len() < 4*r.target; c = r.doc.Nodes[c].Next {
		if c != n.First {
			b.WriteString(", ")
		}
		if r.doc.Nodes[i].Kind == '{' {
			b.WriteString(r.doc.Key(c) + " ")
		}
		b.WriteString(content.Clip(r.bare(c), 120))
	}
	most := max(100, r.target/4)
	if path == "" {
		most = r.target
	}
	r.add(choice.Entry{Label: fmt.Sprintf("%s (%s): ", path, grouped(int(n.Size))), Text: b.String(), MaxChars: most, Score: worthMember})
}

// shortText is the length in bytes up to which a string is a member like others.
const shortText = 400

// dominantString returns the string that is most of a document, or NoNode.
func dominantString(d *content.JSONTree) int32 {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Kind == '"' && int(n.End-n.Start)*10 > len(d.Text)*6 && n.End-n.Start > shortText {
			return int32(i)
		}
	}
	return content.NoNode
}

// draftString drafts the string that is most of a document, preceded by the other members.
func draftString(d *content.JSONTree, long int32, s source) draft {
	n := &d.Nodes[long]
	var text string
	if json.Unmarshal([]byte(d.Text[n.Start:n.End]), &text) != nil {
		text = d.Text[n.Start+1 : n.End-1]
	}
	inner := recognize(source{text: summarize.Plain(text), target: s.target * 9 / 10, depth: s.depth + 1})
	r := &jsonReader{doc: d, target: s.target}
	if path := r.path(long); path != "" {
		inner.title = fmt.Sprintf("JSON around %s: %s", content.Clip(path, 60), inner.title)
	}
	var beside []choice.Entry
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if int32(i) != long && n.Kind != '{' && n.Kind != '[' && len(beside) < maxBeside {
			beside = append(beside, choice.Entry{
				Label: r.path(int32(i)) + ": ", Text: r.raw(int32(i)), MaxChars: max(60, s.target/6), Score: keyWorth(d.Key(int32(i))),
			})
		}
	}
	inner.surround(beside, nil)
	return inner
}

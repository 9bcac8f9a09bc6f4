package extractive

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// jsonReader offers what an extract of a JSON text may show: errors, the shape, then items and members.
type jsonReader struct {
	doc    *document
	target int
	pieces []piece
	// tables is how many lists have been offered as tables.
	tables int
	// below is where the next line stands.
	below int
	// covered is whether the head of the last table says all of its objects' members.
	covered bool
}

// What is worth more gets room first. Rows lose with their number, so that several tables share the room.
const (
	worthError  = 1000.0
	worthShape  = 900.0
	worthHeader = 700.0
	worthRow    = 690.0
	worthNames  = 675.0
	worthMember = 640.0
)

// readJSON recognises a JSON text, or one of JSON lines.
func readJSON(s source) (draft, bool) {
	name := "JSON "
	doc, ok := parseJSON(s.text)
	if !ok {
		if doc, ok = parseLines(s.text); !ok {
			return draft{}, false
		}
		name = "JSON lines"
	}
	if long := doc.dominant(); long != none && s.depth < deepest {
		return doc.draftString(long, s), true
	}
	r := &jsonReader{doc: doc, target: s.target}
	shape := doc.shapeOf()
	r.addFailures()
	r.collect(0, shape, "")
	r.addShape(shape)
	d := draft{title: r.title(name, shape), pieces: r.pieces}
	if shape.list && r.tables == 1 {
		d.total, d.unit = int(doc.nodes[0].size), "items"
	}
	return d, true
}

func (r *jsonReader) title(name string, shape *shape) string {
	root := r.doc.nodes[0]
	what := "items"
	switch {
	case root.kind == '{' && shape.list:
		name, what = "JSON object", "entries"
	case root.kind == '{':
		name, what = "JSON object", "members"
	case name == "JSON ":
		name = "JSON array"
	}
	size := counted(int(root.size), what)
	if root.size == 1 && what == "entries" {
		size = "1 entry"
	}
	if r.doc.cut >= 0 {
		return fmt.Sprintf("%s, broken off, at least %s", name, size)
	}
	return name + ", " + size
}

// shapeShare is the part of an extract, in percent, that the shape of a JSON text may take.
const shapeShare = 33

func (r *jsonReader) addShape(shape *shape) {
	most := r.target * shapeShare / 100
	text := r.shapeText(shape, most)
	if strings.ContainsAny(text, "{[") {
		r.pieces = append(r.pieces, piece{label: "Shape: ", text: text, most: most, order: 1, worth: worthShape})
	}
}

// shapeText describes a shape in about most characters, and not what the head of a table says.
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
func (r *jsonReader) add(p piece) {
	r.below++
	p.order = r.below + 1
	r.pieces = append(r.pieces, p)
}

// mostJSONPieces is how many pieces a target of so many characters can use, with some to choose among.
func (r *jsonReader) mostJSONPieces() int {
	return 60 + r.target/8
}

// longestPath is how many bytes the way to a member may take to be worth showing.
const longestPath = 200

// collect offers what a value holds: members by their path, lists of objects as tables.
func (r *jsonReader) collect(i int32, s *shape, path string) {
	n := &r.doc.nodes[i]
	switch {
	case len(r.pieces) > r.mostJSONPieces() || len(path) > longestPath:
	case n.kind != '{' && n.kind != '[':
		r.addMember(i, path)
	case n.size == 0:
		r.add(piece{text: path + ": " + r.raw(i), most: 200, worth: worthMember - 50})
	case !s.list && n.kind == '{':
		for c := n.first; c != none; c = r.doc.nodes[c].next {
			if m := s.byKey[r.doc.key(c)]; m != nil {
				r.collect(c, m, join(path, r.doc.key(c)))
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
	n := &r.doc.nodes[i]
	inner := s.item
	for inner.list && inner.item != nil {
		inner = inner.item
	}
	large := n.size <= 3 && int(n.end-n.start) > r.target/2 && !s.item.list
	switch {
	case inner.kind == '{' && !large:
		r.addTable(i, inner, path)
	case inner.kind == '{' || (s.item.list && n.size <= 20):
		for c := n.first; c != none; c = r.doc.nodes[c].next {
			r.collect(c, s.item, path+r.place(c))
		}
	default:
		r.addValues(i, path)
	}
}

// place is how a path goes on to an item: by its index, or by its key.
func (r *jsonReader) place(i int32) string {
	n := &r.doc.nodes[i]
	if r.doc.nodes[n.parent].kind == '{' {
		return "." + r.doc.key(i)
	}
	return fmt.Sprintf("[%d]", n.index)
}

// path is the way to a value from the root.
func (r *jsonReader) path(i int32) string {
	var steps []string
	for ; i != 0; i = r.doc.nodes[i].parent {
		steps = append(steps, r.place(i))
	}
	var b strings.Builder
	for k := len(steps) - 1; k >= 0; k-- {
		b.WriteString(steps[k])
	}
	return strings.TrimPrefix(b.String(), ".")
}

// raw is a value as it stands in the text, on one line.
func (r *jsonReader) raw(i int32) string {
	n := &r.doc.nodes[i]
	text := r.doc.text[n.start:n.end]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return strings.TrimRight(text[:end], " \r")
	}
	return text
}

// bare is a value as it stands in the text, without the quotes of a string; of lists, how much they hold.
func (r *jsonReader) bare(i int32) string {
	n := &r.doc.nodes[i]
	switch n.kind {
	case '"':
		return r.doc.text[n.start+1 : n.end-1]
	case '{', '[':
		return "(" + grouped(int(n.size)) + ")"
	}
	return r.doc.text[n.start:n.end]
}

func (r *jsonReader) addMember(i int32, path string) {
	worth := worthMember + 10*keyWorth(r.doc.key(i)) - 6*float64(strings.Count(path, "."))
	most := max(60, r.target/5)
	text := r.raw(i)
	worth -= float64(min(len(text), most))/5 + float64(len(r.pieces))/50
	r.add(piece{label: path + ": ", text: text, most: most, worth: worth})
}

// addValues offers a list of scalars on one line.
func (r *jsonReader) addValues(i int32, path string) {
	n := &r.doc.nodes[i]
	var b strings.Builder
	for c := n.first; c != none && b.Len() < 4*r.target; c = r.doc.nodes[c].next {
		if c != n.first {
			b.WriteString(", ")
		}
		if r.doc.nodes[i].kind == '{' {
			b.WriteString(r.doc.key(c) + " ")
		}
		b.WriteString(clip(r.bare(c), 120))
	}
	most := max(100, r.target/4)
	if path == "" {
		most = r.target
	}
	r.add(piece{label: fmt.Sprintf("%s (%s): ", path, grouped(int(n.size))), text: b.String(), most: most, worth: worthMember})
}

// shortText is how many bytes a string may have and still be a member like others.
const shortText = 400

// dominant returns the string that is most of a document, or none.
func (d *document) dominant() int32 {
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.kind == '"' && int(n.end-n.start)*10 > len(d.text)*6 && n.end-n.start > shortText {
			return int32(i)
		}
	}
	return none
}

// draftString looks through a document to the one string that is most of it. What stands beside the string comes first.
func (d *document) draftString(long int32, s source) draft {
	n := &d.nodes[long]
	var text string
	if json.Unmarshal([]byte(d.text[n.start:n.end]), &text) != nil {
		text = d.text[n.start+1 : n.end-1]
	}
	inner := recognise(source{text: summarize.Plain(text), target: s.target * 9 / 10, depth: s.depth + 1})
	r := &jsonReader{doc: d, target: s.target}
	if path := r.path(long); path != "" {
		inner.title = fmt.Sprintf("JSON around %s: %s", clip(path, 60), inner.title)
	}
	var beside []piece
	for i := range d.nodes {
		n := &d.nodes[i]
		if int32(i) != long && n.kind != '{' && n.kind != '[' && len(beside) < mostBeside {
			beside = append(beside, piece{
				label: r.path(int32(i)) + ": ", text: r.raw(int32(i)), most: max(60, s.target/6), worth: keyWorth(d.key(int32(i))),
			})
		}
	}
	inner.around(beside, nil)
	return inner
}

package extractive

import "strings"

// node is a value in a JSON text; nodes refer to each other by their number.
type node struct {
	// kind is the value's first byte: { [ " t f n, or 0 for a number.
	kind byte
	// start and end are where the value stands in the text, keyStart and keyEnd where its key does, without its quotes.
	start, end, keyStart, keyEnd int32
	parent, first, next          int32
	// index is the value's place among its parent's, size how many values it holds itself.
	index, size int32
}

// document is a JSON text taken apart.
type document struct {
	text  string
	nodes []node
	// cut is where the text stops being JSON, if it does before its end: tools cut their output.
	cut int
}

const (
	none int32 = -1
	// deepestJSON is how deep values may be nested.
	deepestJSON = 10_000
	// longestJSON keeps positions within 32 bits.
	longestJSON = 1 << 30
	// nodeSize is about how many bytes of text a value takes, its key included.
	nodeSize = 12
)

// parseJSON takes a text apart that is one JSON value, or begins as a long one and breaks off.
func parseJSON(text string) (*document, bool) {
	at := skipSpace(text, 0)
	if len(text) > longestJSON || at == len(text) || (text[at] != '{' && text[at] != '[') {
		return nil, false
	}
	d := &document{text: text, cut: -1, nodes: make([]node, 0, len(text)/nodeSize+16)}
	end, ok := d.value(at, none, 0)
	if !ok {
		d.cut = d.broken(end)
		// What breaks off early was never JSON.
		return d, d.cut*5 >= len(text)*3 && len(d.nodes) > 10
	}
	return d, skipSpace(text, end) == len(text)
}

// parseLines takes a text apart of which each line is a JSON object or array. They become the items of one array.
func parseLines(text string) (*document, bool) {
	d := &document{text: text, cut: -1}
	root := d.add('[', 0, none)
	last := none
	for start := 0; start < len(text); {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		if at := skipSpace(text[:end], start); at < end {
			if text[at] != '{' && text[at] != '[' {
				return nil, false
			}
			item := int32(len(d.nodes))
			after, ok := d.value(at, root, 1)
			if !ok || after > end || skipSpace(text[:end], after) < end {
				return nil, false
			}
			last = d.link(root, last, item)
		}
		start = end + 1
	}
	d.nodes[root].end = int32(len(text))
	return d, d.nodes[root].size > 1
}

func (d *document) add(kind byte, start int, parent int32) int32 {
	d.nodes = append(d.nodes, node{kind: kind, start: int32(start), end: int32(start), parent: parent, first: none, next: none})
	return int32(len(d.nodes)) - 1
}

// link makes a node the next child of its parent after another, and returns it.
func (d *document) link(parent, after, child int32) int32 {
	if after == none {
		d.nodes[parent].first = child
	} else {
		d.nodes[after].next = child
	}
	d.nodes[child].index = d.nodes[parent].size
	d.nodes[parent].size++
	return child
}

// broken closes the values that are open where the text breaks off.
func (d *document) broken(at int) int {
	for i := range d.nodes {
		if n := &d.nodes[i]; n.end == n.start {
			n.end = int32(at)
		}
	}
	return at
}

// value parses the value at a position and returns where it ends, or where it is wrong.
func (d *document) value(at int, parent int32, depth int) (end int, ok bool) {
	if at >= len(d.text) || depth > deepestJSON {
		return at, false
	}
	switch c := d.text[at]; c {
	case '{', '[':
		return d.container(at, parent, depth)
	case '"':
		end, ok = stringEnd(d.text, at)
	default:
		end, ok = scalarEnd(d.text, at)
	}
	if ok {
		kind := d.text[at]
		if kind == '-' || isDigit(kind) {
			kind = 0
		}
		d.nodes[d.add(kind, at, parent)].end = int32(end)
	}
	return end, ok
}

// container parses an object or an array.
func (d *document) container(at int, parent int32, depth int) (end int, ok bool) {
	me := d.add(d.text[at], at, parent)
	closing := d.text[at] + 2 // } and ] stand two after { and [
	last := none
	at = skipSpace(d.text, at+1)
	if at < len(d.text) && d.text[at] == closing {
		d.nodes[me].end = int32(at) + 1
		return at + 1, true
	}
	for {
		child := int32(len(d.nodes))
		if at, ok = d.member(at, me, depth); !ok {
			if int(child) < len(d.nodes) && d.nodes[child].size > 0 {
				d.link(me, last, child) // what was there of it counts
			}
			return at, false
		}
		last = d.link(me, last, child)
		at = skipSpace(d.text, at)
		if at < len(d.text) && d.text[at] == closing {
			d.nodes[me].end = int32(at) + 1
			return at + 1, true
		}
		if at >= len(d.text) || d.text[at] != ',' {
			return at, false
		}
		at = skipSpace(d.text, at+1)
	}
}

// member parses a value with its key, if it is an object's.
func (d *document) member(at int, parent int32, depth int) (end int, ok bool) {
	if d.nodes[parent].kind == '[' {
		return d.value(at, parent, depth+1)
	}
	if at >= len(d.text) || d.text[at] != '"' {
		return at, false
	}
	keyEnd, ok := stringEnd(d.text, at)
	colon := skipSpace(d.text, keyEnd)
	if !ok || colon >= len(d.text) || d.text[colon] != ':' {
		return colon, false
	}
	me := len(d.nodes)
	end, ok = d.value(skipSpace(d.text, colon+1), parent, depth+1)
	if me < len(d.nodes) {
		d.nodes[me].keyStart, d.nodes[me].keyEnd = int32(at)+1, int32(keyEnd)-1
	}
	return end, ok
}

func skipSpace(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r' || s[at] == '\t') {
		at++
	}
	return at
}

// stringEnd returns where the string ends that begins at a position.
func stringEnd(s string, at int) (end int, ok bool) {
	for i := at + 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		case '\n':
			return i, false
		}
	}
	return len(s), false
}

// scalarEnd returns where the number or literal ends that begins at a position.
func scalarEnd(s string, at int) (end int, ok bool) {
	for _, literal := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s[at:], literal) {
			return at + len(literal), true
		}
	}
	end = at
	for end < len(s) && (isDigit(s[end]) || strings.IndexByte("+-.eE", s[end]) >= 0) {
		end++
	}
	return end, end > at && (isDigit(s[at]) || s[at] == '-')
}

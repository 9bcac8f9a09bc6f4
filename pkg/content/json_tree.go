package content

import "strings"

// JSONNode is a value in a JSON text; nodes refer to each other by number.
type JSONNode struct {
	// Kind is the value's first byte: { [ " t f n, or 0 for a number.
	Kind byte
	// Start and End are the range of the value in the text, keyStart and keyEnd that of its key without quotes.
	Start, End, keyStart, keyEnd int32
	// Parent First and Next are the value that contains this one, its first child, and its next sibling; or NoNode.
	Parent, First, Next int32
	// Index is the value's position among its siblings, Size the number of its children.
	Index, Size int32
}

// JSONTree is a parsed JSON text. The parser accepts what tools write rather than what the standard says: truncated texts, JSON lines,
// strings with control characters, and numbers of any form.
type JSONTree struct {
	Text  string
	Nodes []JSONNode
	// Cut is where a truncated text stops being JSON.
	Cut int
}

const (
	// NoNode is the number of none.
	NoNode int32 = -1
	// maxJSONBytes keeps positions within 32 bits.
	maxJSONBytes = 1 << 30
	// nodeSize is about how many bytes of text a value takes, its key included.
	nodeSize = 12
)

// ParseJSON parses a text that is one JSON value, or the start of a long one.
func ParseJSON(text string) (*JSONTree, bool) {
	at := SkipSpace(text, 0)
	if len(text) > maxJSONBytes || at == len(text) || (text[at] != '{' && text[at] != '[') {
		return nil, false
	}
	d := &JSONTree{Text: text, Cut: -1, Nodes: make([]JSONNode, 0, len(text)/nodeSize+16)}
	end, ok := d.value(at, NoNode, 0)
	if !ok {
		d.Cut = d.broken(end)
		// What breaks off early was never JSON.
		return d, d.Cut*5 >= len(text)*3 && len(d.Nodes) > 10
	}
	return d, SkipSpace(text, end) == len(text)
}

// JSONEnd returns where the JSON value ends that begins at a position, if it is one.
func JSONEnd(text string, at int) (end int, ok bool) {
	d := &JSONTree{Text: text, Cut: -1}
	return d.value(at, NoNode, 0)
}

// ParseJSONLines parses a text whose lines are JSON objects or arrays. They become the items of one array.
func ParseJSONLines(text string) (*JSONTree, bool) {
	d := &JSONTree{Text: text, Cut: -1}
	root := d.add('[', 0, NoNode)
	last := NoNode
	for start := 0; start < len(text); {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		if at := SkipSpace(text[:end], start); at < end {
			if text[at] != '{' && text[at] != '[' {
				return nil, false
			}
			item := int32(len(d.Nodes))
			after, ok := d.value(at, root, 1)
			if !ok || after > end || SkipSpace(text[:end], after) < end {
				return nil, false
			}
			last = d.link(root, last, item)
		}
		start = end + 1
	}
	d.Nodes[root].End = int32(len(text))
	return d, d.Nodes[root].Size > 1
}

func (d *JSONTree) add(kind byte, start int, parent int32) int32 {
	d.Nodes = append(d.Nodes, JSONNode{Kind: kind, Start: int32(start), End: int32(start), Parent: parent, First: NoNode, Next: NoNode})
	return int32(len(d.Nodes)) - 1
}

// link makes a node the next child of its parent, and returns it.
func (d *JSONTree) link(parent, after, child int32) int32 {
	if after == NoNode {
		d.Nodes[parent].First = child
	} else {
		d.Nodes[after].Next = child
	}
	d.Nodes[child].Index = d.Nodes[parent].Size
	d.Nodes[parent].Size++
	return child
}

// Key returns the key of a member as the text spells it, without quotes.
func (d *JSONTree) Key(i int32) string {
	return d.Text[d.Nodes[i].keyStart:d.Nodes[i].keyEnd]
}

// Child returns the member of an object with a key, or NoNode.
func (d *JSONTree) Child(i int32, key string) int32 {
	for c := d.Nodes[i].First; c != NoNode; c = d.Nodes[c].Next {
		if d.Key(c) == key {
			return c
		}
	}
	return NoNode
}

// broken closes the values that are open where the text is cut.
func (d *JSONTree) broken(at int) int {
	for i := range d.Nodes {
		if n := &d.Nodes[i]; n.End == n.Start {
			n.End = int32(at)
		}
	}
	return at
}

// value parses the value at a position and returns where it ends, or where it is malformed.
func (d *JSONTree) value(at int, parent int32, depth int) (end int, ok bool) {
	if at >= len(d.Text) || depth > maxJSONDepth {
		return at, false
	}
	switch c := d.Text[at]; c {
	case '{', '[':
		return d.container(at, parent, depth)
	case '"':
		end, ok = stringEnd(d.Text, at)
	default:
		end, ok = scalarEnd(d.Text, at)
	}
	if ok {
		kind := d.Text[at]
		if kind == '-' || IsDigit(kind) {
			kind = 0
		}
		d.Nodes[d.add(kind, at, parent)].End = int32(end)
	}
	return end, ok
}

// container parses an object or an array.
func (d *JSONTree) container(at int, parent int32, depth int) (end int, ok bool) {
	me := d.add(d.Text[at], at, parent)
	closing := d.Text[at] + 2 // in ASCII, } and ] are two after { and [
	last := NoNode
	at = SkipSpace(d.Text, at+1)
	if at < len(d.Text) && d.Text[at] == closing {
		d.Nodes[me].End = int32(at) + 1
		return at + 1, true
	}
	for {
		child := int32(len(d.Nodes))
		if at, ok = d.member(at, me, depth); !ok {
			if int(child) < len(d.Nodes) && d.Nodes[child].Size > 0 {
				d.link(me, last, child) // the part that exists counts
			}
			return at, false
		}
		last = d.link(me, last, child)
		at = SkipSpace(d.Text, at)
		if at < len(d.Text) && d.Text[at] == closing {
			d.Nodes[me].End = int32(at) + 1
			return at + 1, true
		}
		if at >= len(d.Text) || d.Text[at] != ',' {
			return at, false
		}
		at = SkipSpace(d.Text, at+1)
	}
}

// member parses an item, or a member with its key.
func (d *JSONTree) member(at int, parent int32, depth int) (end int, ok bool) {
	if d.Nodes[parent].Kind == '[' {
		return d.value(at, parent, depth+1)
	}
	if at >= len(d.Text) || d.Text[at] != '"' {
		return at, false
	}
	keyEnd, ok := stringEnd(d.Text, at)
	colon := SkipSpace(d.Text, keyEnd)
	if !ok || colon >= len(d.Text) || d.Text[colon] != ':' {
		return colon, false
	}
	me := len(d.Nodes)
	end, ok = d.value(SkipSpace(d.Text, colon+1), parent, depth+1)
	if me < len(d.Nodes) {
		d.Nodes[me].keyStart, d.Nodes[me].keyEnd = int32(at)+1, int32(keyEnd)-1
	}
	return end, ok
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
	for end < len(s) && (IsDigit(s[end]) || strings.IndexByte("+-.eE", s[end]) >= 0) {
		end++
	}
	return end, end > at && (IsDigit(s[at]) || s[at] == '-')
}

package content

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// sectionChars is the length in characters up to which an item or member is one section.
	sectionChars = 500
	// minSection is the minimum distance between the starts of sections, in bytes: without it, the index of a list of digits would be
	// larger than the list.
	minSection = 32
	// splitDepth limits how deep values are split, which keeps an index smaller than its content.
	splitDepth = 24
	// markInterval limits how many bytes of a list are read to find the index of an item.
	markInterval = 4 << 10
	// maxPointerBytes limits the length of a location.
	maxPointerBytes = 200
)

// jsonSections locates the values of a JSON document that are larger than a section.
type jsonSections struct {
	text  string
	nodes []jsonNode // in order of their beginning; the first is the document
	marks []jsonMark
}

// jsonNode is an array or object that is split into its members.
type jsonNode struct {
	start, end int32 // from its key on if it is a member
	parent     int32
	index      int32 // among its parent's members
}

// jsonMark is where a member of a long list begins.
type jsonMark struct{ at, node, index int32 }

// jsonSectioner finds sections in one pass over a JSON document.
type jsonSectioner struct {
	sections *jsonSections
	limit    int // bytes of a section
	starts   []int32
	open     []jsonFrame
	lastMark int // position of the last mark
	scalar   int // start of the last scalar
}

// jsonFrame is an open array or object.
type jsonFrame struct {
	node, members int32
	start         int32 // of the newest member
	array         bool
	starts        int // number of sections before it
}

// sectionJSON finds the values and the sections of a document. It returns nil if the text is neither array nor object.
func sectionJSON(text string) (*jsonSections, []int32) {
	chars := max(utf8.RuneCountInString(text), 1)
	s := &jsonSectioner{sections: &jsonSections{text: text}, limit: sectionChars * len(text) / chars, starts: []int32{0}}
	var scanner JSONScanner
	for event, at := range JSONEvents(&scanner, text) {
		s.take(event, at, scanner.Depth(), scanner.inArray())
	}
	if !scanner.IsComplete() || len(s.sections.nodes) == 0 {
		return nil, nil
	}
	return s.sections, s.starts
}

// take handles an event; depth is how many values are open after it.
func (s *jsonSectioner) take(event JSONEvent, at, depth int, inArray bool) {
	switch event {
	case JSONKey:
		s.member(at, depth)
	case JSONScalar:
		if inArray {
			s.member(at, depth)
		}
		s.scalar = at
	case JSONComma:
		s.split(at)
	case JSONOpen:
		s.openValue(at, depth)
	case JSONClose:
		s.split(at)
		s.closeValue(at+1, depth)
	}
}

// split begins sections at the lines of a long string that ended before a position.
func (s *jsonSectioner) split(end int) {
	if s.scalar == 0 || end-s.scalar <= s.limit {
		return
	}
	for at := s.scalar; ; {
		size := strings.IndexByte(s.sections.text[at:end], '\\')
		if size < 0 {
			break
		}
		escaped := s.sections.text[at+size+1]
		at += size + 2
		if escaped == 'n' && at-int(s.starts[len(s.starts)-1]) >= s.limit/2 {
			s.starts = append(s.starts, int32(at))
		}
	}
	s.scalar = 0
}

// member records that a member or item begins.
func (s *jsonSectioner) member(at, depth int) {
	if depth != len(s.open) {
		return // deeper than is split
	}
	f := &s.open[depth-1]
	f.members, f.start = f.members+1, int32(at)
	if at-s.lastMark >= markInterval && at-int(s.sections.nodes[f.node].start) > s.limit {
		s.lastMark = at
		s.sections.marks = append(s.sections.marks, jsonMark{at: int32(at), node: f.node, index: f.members - 1})
	}
	if at-int(s.starts[len(s.starts)-1]) >= minSection {
		s.starts = append(s.starts, int32(at))
	}
}

func (s *jsonSectioner) openValue(at, depth int) {
	node := jsonNode{start: int32(at), parent: -1}
	if depth > 1 && depth-1 == len(s.open) {
		if s.open[depth-2].array {
			s.member(at, depth-1)
		}
		parent := &s.open[depth-2]
		node = jsonNode{start: parent.start, parent: parent.node, index: parent.members - 1}
	}
	if depth-1 != len(s.open) || depth > splitDepth {
		return
	}
	s.open = append(s.open, jsonFrame{node: int32(len(s.sections.nodes)), array: s.sections.text[at] == '[', starts: len(s.starts)})
	s.sections.nodes = append(s.sections.nodes, node)
}

// closeValue records that a value ended; a small one is a single section.
func (s *jsonSectioner) closeValue(end, depth int) {
	if depth+1 != len(s.open) {
		return
	}
	f := s.open[depth]
	s.open = s.open[:depth]
	node := &s.sections.nodes[f.node]
	node.end = int32(end)
	if depth > 0 && end-int(node.start) <= s.limit {
		s.sections.nodes = s.sections.nodes[:f.node]
		s.starts = s.starts[:f.starts]
	}
}

// bracket returns where the value of a node begins, after its key.
func (n jsonNode) bracket(text string) int {
	at := int(n.start)
	if text[at] == '"' {
		at = skipJSONSpace(text, JSONStringEnd(text, at), ":")
	}
	return at
}

// location returns a JSON pointer to the value that contains a part of the document; if there are several, to the first and the last.
func (j *jsonSections) location(from, to int) string {
	first := j.firstValue(min(skipJSONSpace(j.text[:to], from, ",:"), max(from, to-1)), to)
	last := first + max(0, len(strings.TrimRight(j.text[first:to], " \n\r\t,:]}"))-1)
	a, b := j.path(first), j.path(last)
	shared := 0
	for shared < min(len(a), len(b)) && a[shared] == b[shared] {
		shared++
	}
	if shared == len(a) || shared == len(b) {
		return pointer(a[:shared])
	}
	return pointer(a) + " to " + pointer(b[:shared+1])
}

// firstValue returns where the first value begins that a part is about: the start of a list includes its first item.
func (j *jsonSections) firstValue(from, to int) int {
	i := sort.Search(len(j.nodes), func(i int) bool { return int(j.nodes[i].start) >= from })
	for ; i < len(j.nodes) && int(j.nodes[i].start) == from && int(j.nodes[i].end) > to; i++ {
		first := SkipSpace(j.text[:to], j.nodes[i].bracket(j.text)+1)
		if first >= to {
			break
		}
		from = first
	}
	return from
}

// pointer formats a path, as far as its length allows.
func pointer(path []string) string {
	var b strings.Builder
	for _, segment := range path {
		if b.Len()+1+len(segment) > maxPointerBytes {
			break
		}
		b.WriteByte('/')
		b.WriteString(segment)
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// path returns the keys and indices that lead to the section at a position.
func (j *jsonSections) path(at int) []string {
	node, child := j.nodeAt(at)
	var path []string
	if index, start, ok := j.memberAt(node, child, at); ok {
		path = append(path, j.pathSegment(node, index, start))
	}
	for n := j.nodes[node]; n.parent >= 0; n = j.nodes[n.parent] {
		path = append(path, j.pathSegment(n.parent, n.index, int(n.start)))
	}
	slices.Reverse(path)
	return path
}

// memberAt returns the index and the start of the member of a node that contains a position. child is the last of its split children that
// ends before it, or -1.
func (j *jsonSections) memberAt(node, child int32, at int) (index int32, start int, ok bool) {
	n := j.nodes[node]
	index, pos := -1, n.bracket(j.text)+1
	if child >= 0 {
		index, pos = j.nodes[child].index, int(j.nodes[child].end)
	}
	mark := sort.Search(len(j.marks), func(i int) bool { return int(j.marks[i].at) > at }) - 1
	if mark >= 0 && j.marks[mark].node == node && int(j.marks[mark].at) > pos {
		index, pos = j.marks[mark].index-1, int(j.marks[mark].at)
	}
	for pos <= at {
		start = skipJSONSpace(j.text, pos, ",")
		if start > at || j.text[start] == ']' || j.text[start] == '}' {
			break
		}
		index++
		if pos = j.memberEnd(start, at+1); at < pos {
			return index, start, true
		}
	}
	return index, start, false
}

// memberEnd returns the end of a member or item; it stops soon after limit.
func (j *jsonSections) memberEnd(at, limit int) int {
	end := jsonValueEnd(j.text, at, limit)
	if j.text[at] != '"' {
		return end
	}
	if colon := SkipSpace(j.text, end); colon < len(j.text) && j.text[colon] == ':' {
		return jsonValueEnd(j.text, SkipSpace(j.text, colon+1), limit)
	}
	return end
}

// pathSegment returns the key or index of the member of a node that begins at start.
func (j *jsonSections) pathSegment(node, index int32, start int) string {
	if j.text[j.nodes[node].bracket(j.text)] == '[' {
		return strconv.Itoa(int(index))
	}
	raw := j.text[start:JSONStringEnd(j.text, start)]
	var key string
	if json.Unmarshal([]byte(raw), &key) != nil || strings.ContainsFunc(key, unicode.IsControl) {
		key = strings.Trim(raw, `"`)
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// nodeAt returns the innermost node that contains a position, and the last of its children that ends before it, or -1.
func (j *jsonSections) nodeAt(at int) (node, child int32) {
	node, child = int32(max(0, sort.Search(len(j.nodes), func(i int) bool { return int(j.nodes[i].start) > at })-1)), -1
	for j.nodes[node].parent >= 0 && int(j.nodes[node].end) <= at {
		node, child = j.nodes[node].parent, node
	}
	return node, child
}

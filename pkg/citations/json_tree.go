package citations

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// jsonValue is a value of a JSON document, with as much detail as a citation needs.
type jsonValue struct {
	text    string // as in the document
	key     string // as in the document, in quotes; empty for items
	end     int    // where it ends in the document
	cut     bool   // the document ends within it
	count   int    // of its members or items
	objects int    // how many of them are objects
	arrays  int    // how many of them are arrays
	members []*jsonValue
	longest *jsonValue // for an object: its longest array or object that is not in members; only its text and key are known
}

// Limits on what is kept: items of an array, members of the document (fewer for objects that lie deeper), and values in all.
const (
	maxItems       = 24
	maxMembersKept = 32
	fewerPerLevel  = 5 // per level
	maxValues      = 4096
)

// keeps reports whether there is room for another member of the innermost open value.
func (b *treeBuilder) keeps(parent *jsonValue) bool {
	depth := len(b.open) - 1
	width := maxMembersKept - fewerPerLevel*depth
	if b.text[b.starts[depth]] == '[' {
		width = min(width, maxItems)
	}
	return len(parent.members) < width && (depth == 0 || b.kept < maxValues)
}

// treeBuilder builds the tree of a document while it is scanned.
type treeBuilder struct {
	text         string
	root         *jsonValue
	open         []*jsonValue // kept open values
	starts       []int        // where they begin
	kept         int
	scalar       *jsonValue // the newest scalar, if its end is not known yet
	scalarStart  int        // where it began
	key          int        // where the newest key began; -1 if it was used
	skippedStart int        // where the array or object began that is open and not kept, directly in the document
	skippedKey   int        // where its key began
}

// readTree reads a document, or as much of it as there is. It is nil if that is malformed, or neither array nor object.
func readTree(text string) *jsonValue {
	b := &treeBuilder{text: text, key: -1}
	var scanner content.JSONScanner
	for event, where := range content.JSONEvents(&scanner, text) {
		b.handle(event, where, scanner.Depth())
	}
	if scanner.Failed() || b.root == nil {
		return nil
	}
	b.finish(len(text))
	for i, v := range b.open {
		v.text, v.end, v.cut = text[b.starts[i]:], len(text), true
	}
	return b.root
}

// handle handles an event; depth is how many values are open after it.
func (b *treeBuilder) handle(event content.JSONEvent, where, depth int) {
	switch event {
	case content.JSONKey:
		if depth == len(b.open) {
			b.key = where
		}
	case content.JSONScalar:
		if depth == len(b.open) && depth > 0 {
			b.scalar, b.scalarStart = b.value(where), where
		}
	case content.JSONOpen:
		if depth-1 == len(b.open) {
			b.begin(where)
		}
	case content.JSONComma:
		b.finish(where)
	case content.JSONClose:
		b.finish(where)
		b.end(where+1, depth)
	}
}

// value counts a value that begins, and keeps it if there is room.
func (b *treeBuilder) value(where int) *jsonValue {
	parent := b.open[len(b.open)-1]
	parent.count++
	switch b.text[where] {
	case '{':
		parent.objects++
	case '[':
		parent.arrays++
	}
	b.skippedKey, b.key = b.key, -1
	if !b.keeps(parent) {
		return nil
	}
	b.kept++
	v := &jsonValue{text: b.text[where:], key: b.keyAt(b.skippedKey)}
	parent.members = append(parent.members, v)
	return v
}

func (b *treeBuilder) keyAt(at int) string {
	if at < 0 {
		return ""
	}
	return b.text[at:content.JSONStringEnd(b.text, at)]
}

// begin handles the start of an array or object.
func (b *treeBuilder) begin(where int) {
	var v *jsonValue
	if b.root == nil {
		b.root = &jsonValue{}
		v = b.root
	} else if v = b.value(where); v == nil {
		b.skippedStart = where
		return
	}
	b.open, b.starts = append(b.open, v), append(b.starts, where)
}

// finish handles the end of what may have been a scalar.
func (b *treeBuilder) finish(end int) {
	if b.scalar != nil {
		b.scalar.text = strings.TrimRight(b.text[b.scalarStart:end], content.JSONSpace)
		b.scalar.end = b.scalarStart + len(b.scalar.text)
		b.scalar = nil
	}
}

// end handles the end of an array or object; depth is how many are open after it.
func (b *treeBuilder) end(at, depth int) {
	if last := len(b.open) - 1; depth == last {
		b.open[last].text, b.open[last].end = b.text[b.starts[last]:at], at
		b.open, b.starts = b.open[:last], b.starts[:last]
		return
	}
	if depth != 1 || len(b.open) != 1 || b.skippedKey < 0 {
		return
	}
	if root := b.root; root.longest == nil || len(root.longest.text) < at-b.skippedStart {
		root.longest = &jsonValue{text: b.text[b.skippedStart:at], end: at, key: b.keyAt(b.skippedKey)}
	}
}

func (v *jsonValue) isArray() bool  { return v.text[0] == '[' }
func (v *jsonValue) isObject() bool { return v.text[0] == '{' }
func (v *jsonValue) isString() bool { return v.text[0] == '"' }

// minRecords is the minimum number of members of an object that counts as a list.
const minRecords = 3

// isList reports whether a value is a list: a non-empty array, or a map of records. One without kept items does not count.
func (v *jsonValue) isList() bool {
	if v.isArray() {
		return len(v.members) > 0
	}
	return v.isObject() && v.count >= minRecords && v.objects == v.count && len(v.members) > 1 && v.members[1].isLike(v.members[0])
}

// isLike reports whether an object has half of another one's members, as the records of a map do.
func (v *jsonValue) isLike(other *jsonValue) bool {
	shared := 0
	for _, m := range other.members {
		if slices.ContainsFunc(v.members, func(own *jsonValue) bool { return own.key == m.key }) {
			shared++
		}
	}
	return shared > 0 && 2*shared >= len(other.members)
}

// member returns the member of an object with one of some names, ignoring case, or nil.
func (v *jsonValue) member(names ...string) *jsonValue {
	for _, name := range names {
		for _, m := range v.members {
			if v.isObject() && len(m.key) == len(name)+2 && strings.EqualFold(m.key[1:len(m.key)-1], name) {
				return m
			}
		}
	}
	return nil
}

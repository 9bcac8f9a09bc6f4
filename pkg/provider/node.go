package provider

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// maxNesting limits how deep a document may nest.
const maxNesting = 1000

// isDocument reports whether a text is one JSON value in UTF-8. It must be fast: it reads whole lists at every step of an agent.
func isDocument(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	var scanner content.JSONScanner
	for event := range content.JSONEvents(&scanner, text) {
		around := scanner.Depth()
		if event == content.JSONOpen {
			around--
		}
		if around > maxNesting {
			return false
		}
	}
	return scanner.IsComplete()
}

// Node is a value of a valid JSON document, with its place. A missing value is a node too, so that an error can name its place.
type Node struct {
	JSON  string // as it was sent, without surrounding white space; empty if it is missing or null
	up    *Node
	key   string // name in its object; empty in a list
	index int
}

// Missing reports whether the value is absent or null.
func (n *Node) Missing() bool { return n.JSON == "" }

// Is reports whether the value begins with a byte, which tells its kind: { [ " t f or a digit.
func (n *Node) Is(first byte) bool { return n.JSON != "" && n.JSON[0] == first }

// Says reports whether the value is the given string. Escapes do not matter.
func (n *Node) Says(text string) bool { return n.Is('"') && unquote(n.JSON) == text }

// place names where the value stands, such as choices[0].message; empty for the document.
func (n *Node) place() string {
	switch {
	case n.up == nil:
		return ""
	case n.key == "":
		return n.up.place() + "[" + strconv.Itoa(n.index) + "]"
	}
	if up := n.up.place(); up != "" {
		return up + "." + n.key
	}
	return n.key
}

// present turns null into a missing value.
func present(json string) string {
	if json == "null" {
		return ""
	}
	return json
}

// Object is a JSON object whose members are read one by one.
type Object struct {
	Node    Node
	members []Node
}

// Get returns the member with a name; a missing node if there is none.
func (o *Object) Get(key string) Node {
	for i := range o.members {
		if o.members[i].key == key {
			return o.members[i]
		}
	}
	return Node{up: &o.Node, key: key}
}

// Has reports whether a member is there and not null.
func (o *Object) Has(key string) bool {
	n := o.Get(key)
	return !n.Missing()
}

// Len is the number of members that are not null.
func (o *Object) Len() int { return len(o.members) }

// Others reports whether an object has members other than keys.
func (o *Object) Others(keys ...string) bool {
	return slices.ContainsFunc(o.members, func(n Node) bool { return !slices.Contains(keys, n.key) })
}

// elements calls f with each value of a list, as it is written.
func elements(list string, f func(i int, json string)) {
	for i, n := content.SkipSpace(list, 1), 0; list[i] != ']'; n++ {
		end := content.JSONValueEnd(list, i)
		f(n, list[i:end])
		if i = content.SkipSpace(list, end); list[i] == ',' {
			i = content.SkipSpace(list, i+1)
		}
	}
}

// members calls f with each quoted name and value of an object, as they are written, until f returns false.
func members(object string, f func(key, json string) bool) {
	for i := content.SkipSpace(object, 1); object[i] != '}'; {
		keyEnd := content.JSONStringEnd(object, i)
		at := content.SkipSpace(object, content.SkipSpace(object, keyEnd)+1)
		end := content.JSONValueEnd(object, at)
		if !f(object[i:keyEnd], object[at:end]) {
			return
		}
		if i = content.SkipSpace(object, end); object[i] == ',' {
			i = content.SkipSpace(object, i+1)
		}
	}
}

// unquote returns the text of a JSON string. The result shares no memory with the document, which may be much larger.
func unquote(quoted string) string {
	s := quoted[1 : len(quoted)-1]
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return strings.Clone(s)
	}
	out := make([]byte, 0, len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		out = append(out, s[:i]...)
		var n int
		out, n = appendUnescaped(out, s[i:])
		s = s[i+n:]
	}
	return string(append(out, s...))
}

// appendUnescaped appends what the escape at the start of s stands for, and returns its length.
func appendUnescaped(dst []byte, s string) (out []byte, length int) {
	const letters, values = `bfnrt`, "\b\f\n\r\t"
	if k := strings.IndexByte(letters, s[1]); k >= 0 {
		return append(dst, values[k]), 2
	}
	if s[1] != 'u' {
		return append(dst, s[1]), 2
	}
	r := rune(codeUnit(s, 0))
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if pair := utf16.DecodeRune(r, rune(codeUnit(s, 6))); pair != utf8.RuneError {
		return utf8.AppendRune(dst, pair), 12
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// memberKey returns the name of a member as the API spells it. Python's SDKs print names that are keywords of the language with an
// underscore at the end, and send them without it.
func memberKey(quoted string, camel bool) string {
	key := unquote(quoted)
	if key == "from_" || key == "async_" {
		key = key[:len(key)-1]
	}
	if camel {
		return camelKey(key)
	}
	return key
}

// camelKey makes lowerCamelCase of snake_case.
func camelKey(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		if key[i] == '_' && i+1 < len(key) && 'a' <= key[i+1] && key[i+1] <= 'z' && i > 0 {
			i++
			b.WriteByte(key[i] - 'a' + 'A')
			continue
		}
		b.WriteByte(key[i])
	}
	return b.String()
}

// snakeKey makes snake_case of lowerCamelCase.
func snakeKey(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		if 'A' <= key[i] && key[i] <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(key[i] - 'A' + 'a')
			continue
		}
		b.WriteByte(key[i])
	}
	return b.String()
}

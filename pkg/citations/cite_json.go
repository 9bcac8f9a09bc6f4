package citations

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// maxLists is how many lists of a document a citation describes.
const maxLists = 3

// readJSON reads what a citation says about a JSON document besides its beginning.
func (c *composer) readJSON() {
	root := readTree(c.head)
	if root == nil || root.cut && c.whole {
		return // not a JSON document after all: it is read as text
	}
	if root.isArray() || root.arrays == 1 {
		c.units += ", items"
	}
	if root.isList() || !root.isObject() {
		c.addList("", root)
		return
	}
	var large []string
	for _, m := range root.knownMembers() {
		if _, ok := m.small(smallChars); ok {
			c.members = append(c.members, m)
		} else if !c.addNestedList(m) {
			large = append(large, strings.TrimSuffix(m.keyText()+" "+m.size()+": "+m.displayName(), ": "))
		}
	}
	if len(large) > 0 {
		c.lists = append(c.lists, "Large members: "+strings.Join(large, ", "))
	}
}

// knownMembers returns the members that were kept, and the longest of the others.
func (v *jsonValue) knownMembers() []*jsonValue {
	if v.longest == nil || len(v.longest.text) < smallChars {
		return v.members
	}
	longest := readTree(v.longest.text)
	longest.key, longest.end = v.longest.key, v.longest.end
	return append(v.members[:len(v.members):len(v.members)], longest)
}

// addNestedList adds a member that is not small if it is a list or contains one.
func (c *composer) addNestedList(m *jsonValue) bool {
	if m.isList() {
		return c.addList("/"+m.segment(), m)
	}
	for _, inner := range m.members {
		if _, small := inner.small(smallChars); !small && m.isObject() && inner.isList() {
			return c.addList("/"+m.segment()+"/"+inner.segment(), inner)
		}
	}
	return false
}

// maxKey is how much of a key is shown in a list of keys, in characters.
const maxKey = 40

// segment returns a key without quotes.
func (v *jsonValue) segment() string {
	return (&jsonValue{text: v.key}).plainString(maxKey)
}

// size describes how large a value is.
func (v *jsonValue) size() string {
	switch {
	case v.isArray():
		return fmt.Sprintf("[%d items]", v.count)
	case v.isObject():
		return fmt.Sprintf("{%d members}", v.count)
	default:
		return fmt.Sprintf("(%d bytes)", len(v.text))
	}
}

// addList adds a list: its number of items, its keys, and its first item or the first results of a search. It is false if there are enough
// lists already.
func (c *composer) addList(pointer string, v *jsonValue) bool {
	if len(v.members) == 0 || c.limit == maxListTokens && len(c.lists) >= 3*maxLists {
		return false
	}
	c.limit = maxListTokens
	head := fmt.Sprintf("%d items", v.count)
	if v.isObject() {
		head = fmt.Sprintf("%d records: %s", v.count, v.keys())
	}
	if v.cut {
		head = "more than " + head
	}
	if pointer != "" {
		head = pointer + ": " + head
	}
	first := v.members[0]
	if first.isObject() && first.count > 0 {
		head += "; keys: " + first.keys()
	}
	c.lists = append(c.lists, head)
	if results := v.searchResults(); len(results) > 0 {
		c.lists = append(c.lists, results...)
	} else if pointer != "" || content.CharOffset(c.head, c.chars) < first.end { // otherwise the excerpt shows it
		c.lists = append(c.lists, "First: "+first.describe(0))
	}
	if named := v.namedItems(); named != "" && len(v.searchResults()) == 0 {
		c.lists = append(c.lists, named)
	}
	return true
}

// maxKeysListed is how many keys are named.
const maxKeysListed = 12

// keys returns the first keys of an object.
func (v *jsonValue) keys() string {
	told := v.members[:min(len(v.members), maxKeysListed)]
	names := make([]string, 0, maxKeysListed)
	for _, m := range told {
		names = append(names, m.segment())
	}
	return strings.Join(names, ", ") + andMore(v.count > len(names))
}

// maxResults is how many results of a search are listed.
const maxResults = 5

// searchResults returns lines with title, URL and snippet of each item, if a list is the output of a search.
func (v *jsonValue) searchResults() []string {
	var lines []string
	for i, m := range v.members[:min(len(v.members), maxResults)] {
		title := m.member("title", "name", "heading")
		link := m.member("url", "link", "href", "uri", "source_url", "sourceUrl")
		if !v.isArray() || title == nil || link == nil || !title.isString() || !link.isString() {
			return nil
		}
		line := fmt.Sprintf("%d. %s | %s", i+1, title.plainString(smallChars), shortURL(link.plainString(maxShownURL)))
		if snippet := m.member("snippet", "description", "summary", "abstract", "excerpt", "content", "text"); snippet != nil && snippet.isString() {
			line += " | " + snippet.plainString(smallChars)
		}
		lines = append(lines, line)
	}
	return lines
}

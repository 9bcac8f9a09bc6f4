package citations

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// How many entities of a list are named, and with how many characters of each of their names.
const (
	maxEntities = 24
	entityChars = 40
)

// namedItems names the items of a list, because a model can only ask for what it knows to exist.
func (v *jsonValue) namedItems() string {
	var names []string
	for _, m := range v.members[:min(len(v.members), maxEntities)] {
		if name := m.displayName(); name != "" {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	return "Named: " + strings.Join(names, "; ") + andOthers(v.count-len(names))
}

// displayName returns what identifies an object: its type, name and id, as far as it has them; empty if it has neither name nor id.
func (v *jsonValue) displayName() string {
	name := v.scalar("name", "title", "display_name", "displayName", "label", "actionName", "action_name", "action", "tool", "tool_name")
	id := v.scalar("id", "key", "uuid", "primary_key", "primaryKey", "_id", "contentId", "content_id")
	kind := v.scalar("type", "entity_type", "entityType", "@type", "kind")
	switch {
	case name == "" && id == "":
		return ""
	case name == "":
		return strings.TrimSpace(kind + " " + id)
	case id != "":
		name = fmt.Sprintf("%s (%s)", name, id)
	}
	return strings.TrimSpace(kind + " " + name)
}

// scalar returns a string or number that an object has under one of some names, on one line.
func (v *jsonValue) scalar(names ...string) string {
	m := v.member(names...)
	switch {
	case m == nil || m.isArray() || m.isObject():
		return ""
	case m.isString():
		return m.plainString(entityChars)
	default:
		return content.Head(m.text, entityChars)
	}
}

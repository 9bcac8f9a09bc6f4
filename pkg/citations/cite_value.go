package citations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// plainString returns at most limit characters of a JSON string, on one line.
func (v *jsonValue) plainString(limit int) string {
	raw := v.text
	if most := 12 * limit; len(raw) > most { // an escaped character takes at most this many bytes
		raw = raw[:most]
		if escape := strings.LastIndexByte(raw[most-6:], '\\'); escape >= 0 {
			raw = raw[:most-6+escape]
		}
		for strings.HasSuffix(raw, `\`) { // a cut-off escape
			raw = raw[:len(raw)-1]
		}
		raw += `"`
	}
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return content.CutChars(replaceControls(strings.Join(strings.Fields(text), " ")), limit)
}

// small returns a value unchanged if it has fewer than limit characters without spaces.
func (v *jsonValue) small(limit int) (string, bool) {
	if v.cut || len(v.text) > 8*limit {
		return "", false
	}
	text := compact(v.text)
	return text, text != "" && utf8.RuneCountInString(text) < limit
}

// compact returns a JSON text without insignificant spaces and invisible characters; empty if it is malformed.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return ""
	}
	return replaceControls(b.String())
}

// How much of a value is shown, in characters, and how many of its members.
const (
	smallChars  = 200
	briefChars  = 80
	briefFields = 5
)

// describe describes a value: all of it if it is small. For a large object, it shows the fields that identify it and the
// first others.
func (v *jsonValue) describe(depth int) string {
	limit := smallChars
	if depth > 0 {
		limit = briefChars
	}
	if text, ok := v.small(limit); ok {
		return text
	}
	switch {
	case v.isString():
		text, _ := json.Marshal(v.plainString(limit))
		return replaceControls(string(text))
	case v.isArray():
		return v.describeArray(depth)
	case v.isObject():
		return v.describeObject(depth)
	default: // a number with more digits than anybody needs
		return content.Head(v.text, briefChars) + "..."
	}
}

// describeArray describes an array: its length, and the names of its items or its first one.
func (v *jsonValue) describeArray(depth int) string {
	var names []string
	for _, m := range v.members {
		name := m.member("name", "title", "id", "key")
		if name == nil || len(names) == briefFields {
			break
		}
		text, _ := name.small(briefChars)
		names = append(names, strings.Trim(text, `"`))
	}
	switch {
	case len(names) > 1:
		return fmt.Sprintf("[%d: %s%s]", v.count, strings.Join(names, ", "), andMore(len(names) < v.count))
	case depth < 2 && len(v.members) > 0:
		return fmt.Sprintf("[%s%s]", v.members[0].describe(depth+1), andOthers(v.count-1))
	default:
		return fmt.Sprintf("[%d items]", v.count)
	}
}

func andMore(is bool) string {
	if is {
		return ", ..."
	}
	return ""
}

func andOthers(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", ... %d more", n)
}

// describeObject describes an object: name, description and key, if it has them, and the first fields.
func (v *jsonValue) describeObject(depth int) string {
	if depth > 1 {
		return fmt.Sprintf("{%d members}", v.count)
	}
	told := v.descriptiveMembers()
	var fields []string
	for _, m := range told {
		fields = append(fields, m.keyText()+":"+m.describe(depth+1))
	}
	return "{" + strings.Join(fields, ",") + andOthers(v.count-len(told)) + "}"
}

// descriptiveMembers returns the members of an object that are shown: those that identify it first.
func (v *jsonValue) descriptiveMembers() []*jsonValue {
	var told []*jsonValue
	for _, names := range [][]string{{"name", "title", "display_name", "label"}, {"description", "summary", "snippet"}, {"id", "key", "uuid", "primary_key", "_id"}} {
		if m := v.member(names...); m != nil {
			told = append(told, m)
		}
	}
	known := len(told)
	for _, m := range v.members {
		if len(told) == known+briefFields {
			break
		}
		if !slices.Contains(told[:known], m) {
			told = append(told, m)
		}
	}
	return told
}

// keyText returns the key of a member as the document spells it, cut if it is long.
func (v *jsonValue) keyText() string {
	if utf8.RuneCountInString(v.key) <= briefChars {
		return replaceControls(v.key)
	}
	key := jsonValue{text: v.key}
	text, _ := json.Marshal(key.plainString(briefChars))
	return replaceControls(string(text))
}

package provider

import (
	"encoding/json"
	"maps"
	"slices"
)

// Fields are the members of a JSON object by name, as they are written.
type Fields map[string]json.RawMessage

// ReadFields returns the members of an object. It is false if the text is not an object that can be embedded.
func ReadFields(object string) (Fields, bool) {
	if !IsObject(object) {
		return nil, false
	}
	var fields Fields
	err := json.Unmarshal([]byte(object), &fields)
	return fields, err == nil
}

// Object returns the members of a member that is an object; nil if it is none.
func (f Fields) Object(key string) Fields {
	fields, _ := ReadFields(string(f[key]))
	return fields
}

// Text returns a member that is a string, or empty.
func (f Fields) Text(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

// Texts returns the strings of a member that is a list; none of anything else.
func (f Fields) Texts(key string) (texts []string) {
	if json.Unmarshal(f[key], &texts) != nil {
		return nil
	}
	return texts
}

// Without returns an object without some of its members.
func (f Fields) Without(leave func(key string) bool) []byte {
	out := []byte("{}")
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !leave(key) {
			out = appendMember(out, key, string(f[key]))
		}
	}
	return out
}

// Is reports whether a member is there and of a kind: { [ " or 0 for numbers.
func (f Fields) Is(key string, kind byte) bool {
	value := f[key]
	if len(value) == 0 {
		return false
	}
	return value[0] == kind || kind == '0' && '0' < value[0] && value[0] <= '9'
}

// IsNull reports whether a member is not there, or null.
func (f Fields) IsNull(key string) bool { return len(f[key]) == 0 || string(f[key]) == "null" }

// Only reports whether there are no other members than keys, because providers refuse requests with unknown ones.
func (f Fields) Only(keys ...string) bool {
	for key := range f {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

// List returns the objects of a member that is a list of them; none of anything else.
func (f Fields) List(key string) (objects []Fields) {
	if json.Unmarshal(f[key], &objects) != nil {
		return nil
	}
	return objects
}

// Blocks reports whether a member is a list of blocks, at least one, each of which says its type.
func (f Fields) Blocks(key string) bool {
	blocks := f.List(key)
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b Fields) bool { return b.Text("type") == "" })
}

// Append puts members behind those of an object, if they are of a kind.
func (f Fields) Append(object []byte, kind byte, keys ...string) []byte {
	for _, key := range keys {
		if !f.Is(key, kind) {
			continue
		}
		object = appendMember(object, key, string(f[key]))
	}
	return object
}

// AppendUnread puts the members of a member that is an object behind those of an object, but for those that it has already, or not take.
func (f Fields) AppendUnread(object []byte, key string, but ...string) []byte {
	if !f.Is(key, '{') {
		return object
	}
	has := map[string]bool{}
	for _, name := range but {
		has[name] = true
	}
	members(string(object), func(quoted, _ string) bool {
		has[unquote(quoted)] = true
		return true
	})
	members(string(f[key]), func(quoted, value string) bool {
		if name := unquote(quoted); !has[name] {
			has[name] = true
			object = appendMember(object, name, value)
		}
		return true
	})
	return object
}

// Head are the members of a member that is an object, as they stand in one, but for some; empty if there are none.
func (f Fields) Head(key string, but ...string) string {
	head := f.AppendUnread([]byte("{}"), key, but...)
	return string(head[1 : len(head)-1])
}

// WithoutNulls is an object without the members that are null: SDKs print what an API left out as null, and the API refuses it.
func WithoutNulls(object string) []byte {
	out := []byte("{}")
	members(object, func(quoted, value string) bool {
		if value != "null" {
			out = appendMember(out, unquote(quoted), value)
		}
		return true
	})
	return out
}

// appendMember puts a member behind those of an object.
func appendMember(object []byte, name, value string) []byte {
	object = object[:len(object)-1]
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(AppendString(object, name), ':')
	return append(append(object, value...), '}')
}

package provider

import (
	"encoding/json"
	"maps"
	"slices"
)

// Fields are the members of a JSON object, by name, with their values as they are written.
type Fields map[string]json.RawMessage

// ReadFields returns the members of an object; none if the text is not an object that can be embedded.
func ReadFields(object string) (fields Fields) {
	if !IsObject(object) || json.Unmarshal([]byte(object), &fields) != nil {
		return nil
	}
	return fields
}

// Object returns the members of the object under a key; nil if there is no object.
func (f Fields) Object(key string) Fields {
	return ReadFields(string(f[key]))
}

// Text returns the string under a key; empty if there is none.
func (f Fields) Text(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

// Texts returns the strings in the list under a key; none if there is no such list.
func (f Fields) Texts(key string) (texts []string) {
	if json.Unmarshal(f[key], &texts) != nil {
		return nil
	}
	return texts
}

// Without returns the object without the members for which leave is true.
func (f Fields) Without(leave func(key string) bool) []byte {
	out := []byte("{}")
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !leave(key) {
			out = appendMember(out, key, string(f[key]))
		}
	}
	return out
}

// Is reports whether the value under a key is of a kind: { for objects, [ for lists, " for strings, 0 for numbers.
func (f Fields) Is(key string, kind byte) bool {
	value := f[key]
	if len(value) == 0 {
		return false
	}
	return value[0] == kind || kind == '0' && '0' < value[0] && value[0] <= '9'
}

// IsNull reports whether a member is missing or null.
func (f Fields) IsNull(key string) bool { return len(f[key]) == 0 || string(f[key]) == "null" }

// Only reports whether the object has no members other than keys. Providers refuse unknown members.
func (f Fields) Only(keys ...string) bool {
	for key := range f {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

// List returns the objects in the list under a key; none if there is no such list.
func (f Fields) List(key string) (objects []Fields) {
	if json.Unmarshal(f[key], &objects) != nil {
		return nil
	}
	return objects
}

// Blocks reports whether the value under a key is a non-empty list of blocks, each with a type.
func (f Fields) Blocks(key string) bool {
	blocks := f.List(key)
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b Fields) bool { return b.Text("type") == "" })
}

// Append adds the members under the keys to an object, if their values are of a kind.
func (f Fields) Append(object []byte, kind byte, keys ...string) []byte {
	for _, key := range keys {
		if !f.Is(key, kind) {
			continue
		}
		object = appendMember(object, key, string(f[key]))
	}
	return object
}

// AppendUnread adds the members of the object under a key to another object, except those in but and those that it has already.
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

// Head returns the members of the object under a key as JSON text without braces, except those in but; empty if there are none.
func (f Fields) Head(key string, but ...string) string {
	head := f.AppendUnread([]byte("{}"), key, but...)
	return string(head[1 : len(head)-1])
}

// WithoutNulls returns an object without members that are null: SDKs print a missing member as null, and the API refuses that.
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

// appendMember adds a member to an object.
func appendMember(object []byte, name, value string) []byte {
	object = object[:len(object)-1]
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(AppendString(object, name), ':')
	return append(append(object, value...), '}')
}

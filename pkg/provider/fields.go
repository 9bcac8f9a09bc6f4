package provider

import (
	"encoding/json"
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

// Blocks reports whether a member is a list of blocks, at least one, each of which says its type.
func (f Fields) Blocks(key string) bool {
	var blocks []Fields
	if json.Unmarshal(f[key], &blocks) != nil {
		return false
	}
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b Fields) bool { return b.Text("type") == "" })
}

// Append puts members behind those of an object, if they are of a kind.
func (f Fields) Append(object []byte, kind byte, keys ...string) []byte {
	for _, key := range keys {
		if !f.Is(key, kind) {
			continue
		}
		object = object[:len(object)-1]
		if object[len(object)-1] != '{' {
			object = append(object, ',')
		}
		object = append(AppendString(object, key), ':')
		object = append(append(object, f[key]...), '}')
	}
	return object
}

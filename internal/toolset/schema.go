package toolset

import (
	"bytes"
	"encoding/json"
)

// Schema is as much of JSON Schema (draft 2020-12) as every provider takes in the parameters of a function. Types are never lists,
// and nothing is said of further properties: Gemini refuses a whole request for either.
type Schema struct {
	Type        string     `json:"type"`
	Description string     `json:"description,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Items       *Schema    `json:"items,omitempty"`
	Properties  Properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
}

// The types that are used.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeInteger = "integer"
)

// Property is a named member of an object.
type Property struct {
	Name   string
	Schema Schema
}

// Properties are members of an object in the order in which a model reads them.
type Properties []Property

// MarshalJSON writes an object whose members keep their order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, property := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeMember(&b, property); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeMember(b *bytes.Buffer, p Property) error {
	name, err := json.Marshal(p.Name)
	if err != nil {
		return err
	}
	schema, err := json.Marshal(p.Schema)
	if err != nil {
		return err
	}
	b.Write(name)
	b.WriteByte(':')
	b.Write(schema)
	return nil
}

func object(properties Properties, required ...string) Schema {
	return Schema{Type: typeObject, Properties: properties, Required: required}
}

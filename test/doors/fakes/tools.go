package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

var (
	toolName       = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	longToolName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	geminiToolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
)

// offer adds a tool's name, which must match and be new.
func (r *request) offer(where, name string, pattern *regexp.Regexp) {
	if !pattern.MatchString(name) {
		r.fault("%s.name: does not match %s", where, pattern)
	}
	if slices.Contains(r.offered, name) {
		r.fault("%s.name: is there twice", where)
	}
	r.offered = append(r.offered, name)
}

// schema judges the JSON schema of a tool's arguments.
func (r *request) schema(where string, raw json.RawMessage, strict bool) {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		r.fault("%s: is no JSON schema", where)
		return
	}
	if schema["type"] != "object" && len(schema) > 0 {
		r.fault("%s: schema must be of type object", where)
	}
	if strict {
		r.strict(where, schema)
	}
	r.arrays(where, schema)
}

// strict: in strict mode nothing is optional, and nothing is free.
func (r *request) strict(where string, schema map[string]any) {
	if schema["additionalProperties"] != false {
		r.fault("%s: additionalProperties must be false where strict is true", where)
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			r.fault("%s: required must have %q where strict is true", where, name)
		}
	}
}

// arrays: an array says what it holds.
func (r *request) arrays(where string, schema map[string]any) {
	if kind, ok := schema["type"].(string); ok && (kind == "array" || kind == "ARRAY") && schema["items"] == nil {
		r.fault("%s: array schema missing items", where)
	}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		inner, ok := schema[key].([]any)
		if !ok {
			inner = []any{schema[key]}
		}
		for _, element := range inner {
			if m, ok := element.(map[string]any); ok {
				r.arrays(where+"."+key, m)
			}
		}
	}
}

// geminiSchema judges a schema in Gemini's own words, which are fewer than JSON schema's.
func (r *request) geminiSchema(where string, raw json.RawMessage) {
	m := r.members(raw, where,
		"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties",
		"maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum",
		"additionalProperties", "$defs", "$ref")
	r.one(m, "type",
		"object", "array", "string", "integer", "number", "boolean", "null",
		"OBJECT", "ARRAY", "STRING", "INTEGER", "NUMBER", "BOOLEAN", "NULL")
	var properties map[string]json.RawMessage
	if m.has("properties") && json.Unmarshal(m["properties"], &properties) != nil {
		r.fault("%s.properties: is no JSON object", where)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		r.geminiSchema(where+"."+name, properties[name])
	}
	if m.has("items") {
		r.geminiSchema(where+".items", m["items"])
	} else if kind := m.text("type"); kind == "array" || kind == "ARRAY" {
		r.fault("%s: array schema missing items", where)
	}
}

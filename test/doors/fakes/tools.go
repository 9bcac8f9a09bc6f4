package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

var (
	toolName       = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	longToolName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	geminiToolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
)

// offer adds a tool's name, which must match and be new.
func (r *request) offer(where, name string, pattern *regexp.Regexp) (faults []string) {
	if !pattern.MatchString(name) {
		faults = append(faults, where+".name: does not match "+pattern.String())
	}
	if slices.Contains(r.offered, name) {
		faults = append(faults, where+".name: is there twice")
	}
	r.offered = append(r.offered, name)
	return faults
}

// checkSchema judges the JSON schema of a tool's arguments.
func checkSchema(where string, raw json.RawMessage, strict bool) []string {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return []string{where + ": is no JSON schema"}
	}
	var faults []string
	if schema["type"] != "object" && len(schema) > 0 {
		faults = append(faults, where+": schema must be of type object")
	}
	if strict {
		faults = append(faults, checkStrict(where, schema)...)
	}
	return append(faults, checkArrays(where, schema)...)
}

// checkStrict: in strict mode nothing is optional, and nothing is free.
func checkStrict(where string, schema map[string]any) (faults []string) {
	if schema["additionalProperties"] != false {
		faults = append(faults, where+": additionalProperties must be false where strict is true")
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			faults = append(faults, fmt.Sprintf("%s: required must have %q where strict is true", where, name))
		}
	}
	slices.Sort(faults)
	return faults
}

// checkArrays: an array says what it holds.
func checkArrays(where string, schema map[string]any) (faults []string) {
	if kind, ok := schema["type"].(string); ok && (kind == "array" || kind == "ARRAY") && schema["items"] == nil {
		faults = append(faults, where+": array schema missing items")
	}
	for key, value := range schema {
		switch inner := value.(type) {
		case map[string]any:
			faults = append(faults, checkArrays(where+"."+key, inner)...)
		case []any:
			for _, element := range inner {
				if m, ok := element.(map[string]any); ok {
					faults = append(faults, checkArrays(where+"."+key, m)...)
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// checkGeminiSchema judges a schema in Gemini's own words, which are fewer than JSON schema's.
func checkGeminiSchema(where string, raw json.RawMessage) []string {
	m, faults := readMembers(raw, where,
		"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties",
		"maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum",
		"additionalProperties", "$defs", "$ref")
	if m == nil {
		return faults
	}
	faults = append(faults, m.one("type",
		"object", "array", "string", "integer", "number", "boolean", "null",
		"OBJECT", "ARRAY", "STRING", "INTEGER", "NUMBER", "BOOLEAN", "NULL")...)
	var properties map[string]json.RawMessage
	if m.has("properties") && json.Unmarshal(m["properties"], &properties) != nil {
		faults = append(faults, where+".properties: is no JSON object")
	}
	for name, property := range properties {
		faults = append(faults, checkGeminiSchema(where+"."+name, property)...)
	}
	if m.has("items") {
		faults = append(faults, checkGeminiSchema(where+".items", m["items"])...)
	} else if kind := m.text("type"); kind == "array" || kind == "ARRAY" {
		faults = append(faults, where+": array schema missing items")
	}
	slices.Sort(faults)
	return faults
}

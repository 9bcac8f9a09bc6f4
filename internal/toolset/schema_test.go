package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// faults lists where a schema leaves what all providers take. OpenAI's strict mode, and Gemini, refuse a request for a keyword
// that they do not know.
func faults(path string, s any) (found []string) {
	schema, ok := s.(map[string]any)
	if !ok {
		return []string{path + ": no object"}
	}
	for keyword, value := range schema {
		switch keyword {
		case "type":
			if kind, ok := value.(string); !ok || !slices.Contains([]string{"object", "array", "string", "integer"}, kind) {
				found = append(found, fmt.Sprintf("%s: type %v", path, value))
			}
		case "description":
		case "enum":
			if schema["type"] != "string" {
				found = append(found, path+": an enum that is not of strings")
			}
		case "items":
			found = append(found, faults(path+".items", value)...)
		case "properties":
			found = append(found, propertyFaults(path, value)...)
		case "required":
			found = append(found, requiredFaults(path, value, schema["properties"])...)
		default:
			found = append(found, path+": keyword "+keyword)
		}
	}
	return append(found, missing(path, schema)...)
}

func propertyFaults(path string, value any) (found []string) {
	properties, _ := value.(map[string]any)
	for name, schema := range properties {
		found = append(found, faults(path+"."+name, schema)...)
		if s, ok := schema.(map[string]any); ok && s["description"] == nil {
			found = append(found, path+"."+name+": nobody says what it is")
		}
	}
	return found
}

func requiredFaults(path string, value, properties any) (found []string) {
	names, _ := value.([]any)
	known, _ := properties.(map[string]any)
	for _, name := range names {
		if s, ok := name.(string); !ok || known[s] == nil {
			found = append(found, fmt.Sprintf("%s: %v is required and no property", path, name))
		}
	}
	return found
}

// missing: what a type cannot do without.
func missing(path string, schema map[string]any) []string {
	kind, _ := schema["type"].(string)
	need := map[string]string{"": "type", "object": "properties", "array": "items"}[kind]
	if need != "" && schema[need] == nil {
		return []string{path + ": no " + need}
	}
	return nil
}

func TestTools_Parameters_AreWhatAllProvidersTake(t *testing.T) {
	for _, tool := range decoded(t, Gemini) {
		for _, fault := range faults(fmt.Sprint(tool["name"]), tool["parameters"]) {
			t.Error(fault)
		}
	}
}

func TestFaults_Counterexamples_AreFound(t *testing.T) {
	for _, bad := range []string{
		`1`, `{}`, `{"type":"number"}`, `{"type":["string","null"]}`, `{"type":"object"}`, `{"type":"array"}`,
		`{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"integer","enum":["1"]}`,
		`{"type":"object","properties":{},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"array","items":{"type":"string","minLength":1}}`,
	} {
		var schema any
		if err := json.Unmarshal([]byte(bad), &schema); err != nil {
			t.Fatal(err)
		}
		if len(faults("it", schema)) == 0 {
			t.Errorf("nothing found in %s", bad)
		}
	}
}

// TestTools_Words_NameWhatThereIs: what the descriptions name are the tools and their arguments.
func TestTools_Words_NameWhatThereIs(t *testing.T) {
	named := map[string][]string{
		"expand_message":      {"note in square brackets names expand_message", "summary", "Do not retry"},
		"retrieve_content":    {"citation", "search_terms", "range", "Do not retry"},
		"search_conversation": {"expand_message"},
		"search_memory":       {"not instructions", "Do not retry"},
	}
	arguments := map[string][]string{
		"expand_message":      {"id", "start", "end", "unit"},
		"retrieve_content":    {"content_id", "search_terms", "start", "end", "unit"},
		"search_conversation": {"query"},
		"search_memory":       {"query", "scope"},
	}
	for _, tool := range WithMemory() {
		for _, words := range named[tool.Name] {
			if !strings.Contains(tool.Description, words) {
				t.Errorf("%s does not say %q", tool.Name, words)
			}
		}
		var got []string
		for _, p := range tool.Parameters.Properties {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, arguments[tool.Name]) {
			t.Errorf("%s takes %v, want %v", tool.Name, got, arguments[tool.Name])
		}
	}
}

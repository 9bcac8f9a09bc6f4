package mem0_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// schema is what the vendor's document says of a value, as far as it says anything there.
type schema struct {
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Nullable             bool               `json:"nullable"`
	Enum                 []string           `json:"enum"`
	Required             []string           `json:"required"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	MaxItems             *int               `json:"maxItems"`
	MinLength            *int               `json:"minLength"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
}

type content map[string]struct {
	Schema *schema `json:"schema"`
}

type operation struct {
	RequestBody struct {
		Content content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
	Parameters []struct {
		Name   string  `json:"name"`
		In     string  `json:"in"`
		Schema *schema `json:"schema"`
	} `json:"parameters"`
}

func (c content) schema() *schema { return c["application/json"].Schema }

// readOperations reads the vendor's document: operations by method and path.
func readOperations() (map[string]*operation, error) {
	text, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths map[string]map[string]*operation `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	out := map[string]*operation{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			out[strings.ToUpper(method)+" "+path] = op
		}
	}
	return out, nil
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// check says what is wrong with a value; empty for nothing. Fields that the document does not name are wrong.
func (s *schema) check(v any, at string) string {
	if s == nil || v == nil && s.Nullable {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		return s.object(v, at)
	case []any:
		if s.Type != "array" || s.MaxItems != nil && len(v) > *s.MaxItems {
			return at + " is an array"
		}
		for i := range v {
			if wrong := s.Items.check(v[i], fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case string:
		return s.text(v, at)
	case float64:
		whole := v == float64(int64(v))
		if s.Type != "number" && (s.Type != "integer" || !whole) || s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			return fmt.Sprintf("%s is %v", at, v)
		}
	case bool:
		if s.Type != "boolean" {
			return at + " is a boolean"
		}
	default:
		return fmt.Sprintf("%s is %T", at, v)
	}
	return ""
}

func (s *schema) object(v map[string]any, at string) string {
	if s.Type != "object" {
		return at + " is an object"
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return at + " has no " + name
		}
	}
	open := s.Properties == nil || len(s.AdditionalProperties) > 0
	for name, value := range v {
		field, ok := s.Properties[name]
		if !ok && !open {
			return at + " has a field that is not documented: " + name
		}
		if wrong := field.check(value, at+"."+name); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s *schema) text(v, at string) string {
	switch {
	case s.Type != "string" || s.MinLength != nil && len(v) < *s.MinLength,
		len(s.Enum) > 0 && !slices.Contains(s.Enum, v),
		s.Format == "uuid" && !uuid.MatchString(v):
		return fmt.Sprintf("%s is %q", at, v)
	case s.Format == "date-time":
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return at + " is no time"
		}
	}
	return ""
}

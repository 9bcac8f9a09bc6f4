package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Tool is the definition of a tool: an element of a request's tools or, for Gemini, of functionDeclarations.
type Tool struct {
	Name string
	JSON json.RawMessage
}

var errNoTools = errors.New("provider: tools are an array of objects")

// ReadTools returns the elements of a request's tools; none for an empty text.
func ReadTools(text string) ([]json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var tools []json.RawMessage
	if err := json.Unmarshal([]byte(text), &tools); err != nil {
		return nil, errNoTools
	}
	for _, t := range tools {
		if !bytes.HasPrefix(t, []byte("{")) {
			return nil, errNoTools
		}
	}
	return tools, nil
}

// toolNames holds the members in which formats name a tool.
type toolNames struct {
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
	Declarations      []toolName `json:"functionDeclarations"`
	SnakeDeclarations []toolName `json:"function_declarations"`
}

type toolName struct {
	Name string `json:"name"`
}

func namesOf(tool json.RawMessage) []string {
	var n toolNames
	_ = json.Unmarshal(tool, &n) // a tool of another form has no name that could be ours
	names := make([]string, 0, 2+len(n.Declarations)+len(n.SnakeDeclarations))
	names = append(names, n.Name, n.Function.Name)
	for _, d := range slices.Concat(n.Declarations, n.SnakeDeclarations) {
		names = append(names, d.Name)
	}
	return names
}

// WithTools adds tools to those of a request, except those with a name that the request already has.
func WithTools(f conversation.Format, tools []json.RawMessage, more []Tool) []json.RawMessage {
	known := make([]string, 0, 2*len(tools))
	for _, t := range tools {
		known = append(known, namesOf(t)...)
	}
	var added []json.RawMessage
	for _, t := range more {
		if !slices.Contains(known, t.Name) {
			added = append(added, t.JSON)
		}
	}
	switch {
	case len(added) == 0:
		return tools
	case f == conversation.FormatGemini:
		return withDeclarations(tools, added)
	default:
		return slices.Concat(tools, added)
	}
}

// withDeclarations adds functions to the first of Gemini's tools that declares any: some Gemini models refuse two such
// tools.
func withDeclarations(tools, added []json.RawMessage) []json.RawMessage {
	out := slices.Clone(tools)
	for i, t := range out {
		var members map[string]json.RawMessage
		if json.Unmarshal(t, &members) != nil {
			continue
		}
		for _, key := range []string{"functionDeclarations", "function_declarations"} {
			var declared []json.RawMessage
			if json.Unmarshal(members[key], &declared) != nil {
				continue
			}
			members[key] = AppendArray(nil, slices.Concat(declared, added))
			merged, err := json.Marshal(members)
			if err == nil {
				out[i] = merged
				return out
			}
		}
	}
	tool := AppendArray([]byte(`{"functionDeclarations":`), added)
	return append(out, append(tool, '}'))
}

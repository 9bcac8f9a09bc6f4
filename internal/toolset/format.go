package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Format is the form in which a provider takes tools.
type Format string

// The formats.
const (
	OpenAIChat      Format = "openai-chat"
	OpenAIResponses Format = "openai-responses"
	Anthropic       Format = "anthropic"
	Gemini          Format = "gemini"
)

// Formats lists the formats.
func Formats() []Format { return []Format{OpenAIChat, OpenAIResponses, Anthropic, Gemini} }

// Render writes tools as one JSON array, indented, with a line end: what the request's tools hold, for Gemini what the member
// functionDeclarations of one of its tools holds. It fails for a format that is none of Formats.
func Render(f Format, tools []Tool) ([]byte, error) {
	var rendered []any
	for _, tool := range tools {
		r, err := f.render(tool)
		if err != nil {
			return nil, err
		}
		rendered = append(rendered, r)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(rendered); err != nil {
		return nil, fmt.Errorf("toolset: %w", err)
	}
	return b.Bytes(), nil
}

// Encode writes one tool, on one line: an element of what Render writes.
func Encode(f Format, t Tool) (json.RawMessage, error) {
	r, err := f.render(t)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("toolset: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (f Format) render(t Tool) (any, error) {
	switch f {
	case OpenAIChat:
		return chatTool{typeFunction, function(t)}, nil
	case OpenAIResponses:
		return responsesTool{Type: typeFunction, function: function(t)}, nil
	case Anthropic:
		return anthropicTool{t.Name, t.Description, t.Parameters}, nil
	case Gemini:
		return function(t), nil
	default:
		return nil, fmt.Errorf("toolset: there is no format %q", string(f))
	}
}

const typeFunction = "function"

// function is a tool by itself, as Gemini declares it.
type function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  Schema `json:"parameters"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// responsesTool says that it is not strict: Responses makes every argument required where nothing is said, and the model then
// invents those that it does not need.
type responsesTool struct {
	Type string `json:"type"`
	function
	Strict bool `json:"strict"`
}

type anthropicTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema Schema `json:"input_schema"`
}

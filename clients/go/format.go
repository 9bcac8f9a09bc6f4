package palimpsest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/clients/tools"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Format is a provider's API.
type Format string

// The formats.
const (
	OpenAI    Format = "openai" // Chat Completions
	Responses Format = "responses"
	Anthropic Format = "anthropic"
	Gemini    Format = "gemini"
)

func (f Format) code() (pb.ContextFormat, error) {
	switch f {
	case OpenAI:
		return pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, nil
	case Responses:
		return pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES, nil
	case Anthropic:
		return pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, nil
	case Gemini:
		return pb.ContextFormat_CONTEXT_FORMAT_GEMINI, nil
	case "":
		return 0, fmt.Errorf("palimpsest: no build has said yet which provider's JSON this is: name its format")
	default:
		return 0, fmt.Errorf("palimpsest: there is no format %q", string(f))
	}
}

// Tools are the definitions of the tools by which a model gets text back, an
// array in a provider's form, for loops that offer them themselves. A sidecar
// with a memory has one more. It fails for what is no format.
func Tools(f Format, memory bool) (json.RawMessage, error) {
	if _, err := f.code(); err != nil {
		return nil, err
	}
	name := string(f)
	switch f {
	case OpenAI, Responses:
		name = map[Format]string{OpenAI: "openai_chat", Responses: "openai_responses"}[f]
	}
	if memory {
		name += "_memory"
	}
	return tools.Definitions(name)
}

// request makes the body of the provider's call: the sidecar's part, the model where the body names it, and what the caller adds.
func (f Format) request(sidecars, model string, more map[string]any) (json.RawMessage, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(sidecars), &body); err != nil {
		return nil, fmt.Errorf("palimpsest: the sidecar sent no request: %w", err)
	}
	if model != "" && f != Gemini {
		more = with(object{"model": model}, more)
	}
	for key, value := range more {
		text, err := encode(value)
		if err != nil {
			return nil, fmt.Errorf("palimpsest: %s: %w", key, err)
		}
		body[key] = text
	}
	return joined(body)
}

// list is the member of a request that holds its messages.
func (f Format) list() string {
	return map[Format]string{OpenAI: "messages", Responses: "input", Anthropic: "messages", Gemini: "contents"}[f]
}

// plain is the request that a list makes by itself, without the list.
func (f Format) plain(r *Request) string {
	body := map[string]any{f.list(): []any{}}
	if len(r.Tools) > 0 {
		body["tools"] = r.Tools
	}
	switch {
	case r.System == "":
	case f == OpenAI:
		body["messages"] = []any{map[string]any{"role": "system", "content": r.System}}
	case f == Gemini:
		body["systemInstruction"] = map[string]any{"parts": []any{map[string]any{"text": r.System}}}
	default:
		body[map[Format]string{Responses: "instructions", Anthropic: "system"}[f]] = r.System
	}
	text, _ := encode(body) // of what is JSON
	return string(text)
}

// extended is a request with more messages.
func (f Format) extended(request string, more []json.RawMessage) (string, error) {
	var body map[string]json.RawMessage
	list := make([]json.RawMessage, 0, len(more))
	if err := json.Unmarshal([]byte(request), &body); err != nil {
		return "", fmt.Errorf("palimpsest: the sidecar sent no request: %w", err)
	}
	if err := json.Unmarshal(body[f.list()], &list); err != nil {
		return "", fmt.Errorf("palimpsest: the sidecar sent no messages: %w", err)
	}
	body[f.list()] = array(append(list, more...))
	text, err := joined(body)
	return string(text), err
}

// joined writes an object whose values stay as they are, byte for byte.
func joined(members map[string]json.RawMessage) (json.RawMessage, error) {
	b := bytes.NewBufferString("{")
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name, err := encode(key)
		if err != nil {
			return nil, err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(members[key])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON that keeps raw parts as they are.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// decodeExact reads JSON whose numbers go on as they came.
func decodeExact(text json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

package summarize

import (
	"bytes"
	_ "embed" // for the prompts
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// The prompts of our own. system goes with every call, whoever wrote its template; compact is the built-in template for contents,
// span for stretches of conversation, live for those that the model sees itself, facts for what is remembered of them.
var (
	//go:embed prompts/system.md
	systemPrompt string
	//go:embed prompts/compact.md
	compactPrompt string
	//go:embed prompts/span.md
	spanPrompt string
	//go:embed prompts/facts.md
	factsPrompt string
	//go:embed prompts/live.md
	livePrompt string
	//go:embed prompts/live_answer.md
	liveAnswerPrompt string
)

// How many characters of a content are sent; a longer one loses its middle. The head tells what a text is and the tail how it ended, and
// together they fit the context windows of the models that summarize.
const (
	maxSentHead = 300_000
	maxSentTail = 100_000
)

// The token limit of an answer if the prompt sets none: room for the target at one token per character, plus what a reasoning model thinks
// before it writes.
const thinkingTokens = 1024

// placeholder is a name in a template that a value replaces.
type placeholder string

const contentPlaceholder placeholder = "content"

// templatePart is literal text or a placeholder.
type templatePart struct {
	text        string
	placeholder placeholder
}

// CheckTemplate returns an error that tells the author of a prompt's template what is wrong with it; nil if it is valid. A template has
// {{content}} exactly once, which becomes a JSON string with its quotation marks, or the JSON document of a span. It may have {{length}},
// {{target_length}} and {{turn_added}}, which become numbers, and {{message_type}} and {{tool}}, which become JSON strings. Spaces inside
// the braces are ignored. Nothing else may follow two opening braces.
func CheckTemplate(template string) error {
	_, err := parseTemplate(template)
	return err
}

func parseTemplate(template string) ([]templatePart, error) {
	var parts []templatePart
	contents := 0
	for template != "" {
		text, rest, found := strings.Cut(template, "{{")
		parts = append(parts, templatePart{text: text})
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}}")
		name = strings.TrimSpace(name)
		if _, known := new(Request).placeholderValue(placeholder(name)); !closed || !known {
			return nil, fmt.Errorf("has %s, which is none of {{content}}, {{length}}, {{target_length}}, {{message_type}}, {{turn_added}}, {{tool}}",
				strconv.Quote("{{"+headChars(name, 30)))
		}
		if placeholder(name) == contentPlaceholder {
			contents++
		}
		parts = append(parts, templatePart{placeholder: placeholder(name)})
		template = after
	}
	if contents != 1 {
		return nil, errors.New("must have {{content}}, and only once")
	}
	return parts, nil
}

// placeholderValue returns the value of a placeholder. Everything but numbers becomes a JSON string, which no text can break out of.
func (r *Request) placeholderValue(p placeholder) (string, bool) {
	switch p {
	case contentPlaceholder:
		return r.contentJSON(), true
	case "length":
		return strconv.Itoa(r.Chars), true
	case "target_length":
		return strconv.Itoa(r.Target), true
	case "message_type":
		return encodeJSON(r.MessageType), true
	case "turn_added":
		return strconv.Itoa(int(r.TurnAdded)), true
	case "tool":
		return encodeJSON(r.Tool), true
	default:
		return "", false
	}
}

// template returns the request's own template, or the built-in one.
func (r *Request) template() string {
	if r.Prompt.Template != "" {
		return r.Prompt.Template
	}
	switch {
	case r.Facts:
		return factsPrompt
	case r.Live != nil:
		return livePrompt
	case r.Span:
		return spanPrompt
	default:
		return compactPrompt
	}
}

// contentJSON returns the content as JSON. A span already is, and its length was limited by whoever made it.
func (r *Request) contentJSON() string {
	if (r.Span || r.Facts) && json.Valid([]byte(r.Content)) {
		return r.Content
	}
	return encodeJSON(truncated(r.Content))
}

// newCall returns the call for the request.
func (r *Request) newCall(model string) (Call, error) {
	if r.Live != nil {
		return Call{Model: model, Body: r.Live.Body, Format: r.Live.Format, MaxOutput: r.maxOutput()}, nil
	}
	task, err := r.task()
	return Call{Model: model, System: systemPrompt, Prompt: task, MaxOutput: r.maxOutput()}, err
}

// task is the template with its values. It is parsed before any value is inserted, so no content can change it.
func (r *Request) task() (string, error) {
	parts, err := parseTemplate(r.template())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		text, isValue := r.placeholderValue(p.placeholder)
		if !isValue {
			text = p.text
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (r *Request) maxOutput() int {
	if r.Prompt.MaxOutput > 0 {
		return int(r.Prompt.MaxOutput)
	}
	return thinkingTokens + r.Target
}

// encodeJSON does not escape < > &: escaped, markup would take several times the tokens.
func encodeJSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // texts and numbers cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// truncated returns what is sent of a content.
func truncated(content string) string {
	if len(content) <= maxSentHead+maxSentTail {
		return content
	}
	chars := countChars(content)
	left := chars - maxSentHead - maxSentTail
	if left <= 0 {
		return content
	}
	return headChars(content, maxSentHead) + fmt.Sprintf("\n\n[%d characters left out here]\n\n", left) + content[facts.TailOffset(content, maxSentTail):]
}

package summarize

import (
	"bytes"
	_ "embed" // for the prompts
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The prompts of our own. system goes with every call, whoever wrote its template; compact is the built-in template for contents,
// span for stretches of conversation.
var (
	//go:embed prompts/system.md
	systemPrompt string
	//go:embed prompts/compact.md
	compactPrompt string
	//go:embed prompts/span.md
	spanPrompt string
)

// What is sent of a content at most, in characters: a longer one loses its middle. A head tells what a text is, a tail how it
// ended, and all of it together fits the windows of the models that summarize.
const (
	maxSentHead = 300_000
	maxSentTail = 100_000
)

// The most tokens of an answer where the prompt does not say: room for the target where a character is a token, and for what a
// reasoning model thinks before it writes.
const thinkingTokens = 1024

// placeholder stands in a template for a value.
type placeholder string

const contentPlaceholder placeholder = "content"

// templatePart is a stretch of a template: text that stays, or a placeholder.
type templatePart struct {
	text        string
	placeholder placeholder
}

// CheckTemplate returns what is wrong with a prompt's template, in words for whoever wrote it; nil if nothing is. A template has
// {{content}} once, which becomes a JSON string with its quotation marks, or the JSON document of a span, and may have {{length}}, {{target_length}},
// {{turn_added}}, which become numbers, and {{message_type}} and {{tool}}, which become JSON strings. Spaces inside the braces do not
// count. Nothing else may follow two opening braces.
func CheckTemplate(template string) error {
	_, err := parseTemplate(template)
	return err
}

func parseTemplate(template string) ([]templatePart, error) {
	var pieces []templatePart
	contents := 0
	for template != "" {
		text, rest, found := strings.Cut(template, "{{")
		pieces = append(pieces, templatePart{text: text})
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
		pieces = append(pieces, templatePart{placeholder: placeholder(name)})
		template = after
	}
	if contents != 1 {
		return nil, errors.New("must have {{content}}, and only once")
	}
	return pieces, nil
}

// placeholderValue returns what a placeholder becomes. Everything that is not a number becomes a JSON string, which no text can leave.
func (r *Request) placeholderValue(p placeholder) (string, bool) {
	switch p {
	case contentPlaceholder:
		return r.contentJSON(), true
	case "length":
		return strconv.Itoa(r.Chars), true
	case "target_length":
		return strconv.Itoa(r.Target), true
	case "message_type":
		return jsonString(r.MessageType), true
	case "turn_added":
		return strconv.Itoa(int(r.TurnAdded)), true
	case "tool":
		return jsonString(r.Tool), true
	default:
		return "", false
	}
}

// template returns the request's own, or the built-in one.
func (r *Request) template() string {
	if r.Prompt.Template != "" {
		return r.Prompt.Template
	}
	if r.Span {
		return spanPrompt
	}
	return compactPrompt
}

// contentJSON returns the content as JSON. A span is JSON already, and whoever made it has seen to its length.
func (r *Request) contentJSON() string {
	if r.Span && json.Valid([]byte(r.Content)) {
		return r.Content
	}
	return jsonString(truncated(r.Content))
}

// newCall returns what a model is told for the request. The template is read once, before any value is in it: what a content looks like
// cannot change that.
func (r *Request) newCall(model string) (Call, error) {
	pieces, err := parseTemplate(r.template())
	if err != nil {
		return Call{}, err
	}
	var b strings.Builder
	for _, p := range pieces {
		text, isValue := r.placeholderValue(p.placeholder)
		if !isValue {
			text = p.text
		}
		b.WriteString(text)
	}
	return Call{Model: model, System: systemPrompt, Prompt: b.String(), MaxOutput: r.maxOutput()}, nil
}

func (r *Request) maxOutput() int {
	if r.Prompt.MaxOutput > 0 {
		return int(r.Prompt.MaxOutput)
	}
	return thinkingTokens + r.Target
}

// jsonString returns a text as a JSON string. The characters < > & stay as they are: escaped, markup would take several times the tokens.
func jsonString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always can be
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
	return headChars(content, maxSentHead) + fmt.Sprintf("\n\n[%d characters left out here]\n\n", left) + tailChars(content, maxSentTail)
}

func tailChars(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return text[at:]
}

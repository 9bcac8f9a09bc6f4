package history

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Contents reads what lies beside the record.
type Contents interface {
	// Text is a content's bytes, or false if they are gone.
	Text(c conversation.Content) (string, bool)
	// Is says of content that is not in memory whether it is, or was, exactly the text.
	Is(c conversation.Content, text string) bool
}

// space says whether a byte is white space. Other white space of Unicode is text: no framework joins with it.
func space(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

// advance follows a text along another from an offset, white space apart, and returns how far it came, and whether it was all of it. What it
// has not found is left of the text.
func advance(text, in string, from int) (left string, at int, ok bool) {
	if from == 0 && strings.HasPrefix(in, text) {
		return "", len(text), true
	}
	i := 0
	for {
		for i < len(text) && space(text[i]) {
			i++
		}
		for from < len(in) && space(in[from]) {
			from++
		}
		switch {
		case i == len(text) || from == len(in):
			return text[i:], from, true
		case text[i] != in[from]:
			return text[i:], from, false
		}
		i, from = i+1, from+1
	}
}

// sameWords says whether two texts are the same but for white space.
func sameWords(a, b string) bool {
	left, at, ok := advance(a, b, 0)
	return ok && left == "" && blank(b[at:])
}

// sameMedia says whether two media have the same bytes or lie at the same address.
func (l *list) sameMedia(a, b *conversation.Media) bool {
	if a.URI != "" || b.URI != "" {
		return a.URI == b.URI
	}
	return l.isText(a.Data, b.Data.Inline)
}

// isText says whether content of the record is exactly a text.
func (l *list) isText(c conversation.Content, text string) bool {
	if c.Ref == nil && c.Erased == nil {
		return c.Inline == text
	}
	return c.Bytes() == int64(len(text)) && l.contents.Is(c, text)
}

// text is content of the record, if it may be in a text of some length: what is much longer is not read.
func (l *list) text(c conversation.Content, length int) (string, bool) {
	if c.Ref == nil && c.Erased == nil {
		return c.Inline, true
	}
	const spread = 4
	if c.Bytes() > spread*int64(length) {
		return "", false
	}
	return l.contents.Text(c)
}

// sameCall says whether two calls ask the same: frameworks and formats rewrite ids, names that a provider refuses, and the order of members.
func (l *list) sameCall(recorded, given *conversation.ToolCall) bool {
	if recorded.Name != given.Name && cleanName(recorded.Name) != cleanName(given.Name) {
		return false
	}
	if l.isText(recorded.Arguments, given.Arguments.Inline) {
		return true
	}
	arguments, ok := l.text(recorded.Arguments, len(given.Arguments.Inline))
	return ok && sameArguments(arguments, given.Arguments.Inline)
}

func cleanName(name string) string {
	const shortest = 63 // what is left of a name of 64 behind a letter that Gemini wants in front
	clean := strings.TrimPrefix(provider.CleanName(name), "_")
	return clean[:min(len(clean), shortest)]
}

func sameArguments(a, b string) bool {
	return sameWords(a, b) || canonicalArguments(a) == canonicalArguments(b)
}

// canonicalArguments undoes what formats do to arguments that are no object.
func canonicalArguments(text string) string {
	if blank(text) {
		return "{}"
	}
	value, ok := parse(text)
	if object, is := value.(map[string]any); is && len(object) == 1 {
		if raw, is := object["_raw"].(string); is {
			return canonicalArguments(raw)
		}
	}
	if !ok {
		return strings.TrimSpace(text)
	}
	return write(value)
}

// sameResult says whether a result of the record says what one of the list does.
func (l *list) sameResult(recorded *conversation.ToolResult, given *listResult) bool {
	if recorded.Output == conversation.OutputParts || given.result.Output == conversation.OutputParts {
		return l.sameParts(recorded, given.result)
	}
	return l.sameOutput(recorded.Text, given.result.Text.Inline)
}

func (l *list) sameOutput(recorded conversation.Content, given string) bool {
	if l.isText(recorded, given) {
		return true
	}
	if given == provider.SilentError {
		given = ""
	}
	text, ok := l.text(recorded, len(given))
	return ok && (sameWords(text, given) || sameJSON(text, given))
}

// sameParts follows the pieces of a recorded result along those of a given one.
func (l *list) sameParts(recorded, given *conversation.ToolResult) bool {
	s := segment{}
	if given.Output != conversation.OutputParts {
		s.pieces = []piece{{text: given.Text.Inline}}
	}
	for i := range given.Parts {
		s.pieces = append(s.pieces, piece{text: given.Parts[i].Text.Inline, media: given.Parts[i].Media})
	}
	at, ok := l.takeResult(&s, place{}, recorded)
	return ok && at == place{piece: len(s.pieces)}
}

// sameJSON says whether two texts are the same value, as text or as JSON, in the objects in which formats put values, or not.
func sameJSON(a, b string) bool {
	if !mayBeJSON(a) && !mayBeJSON(b) {
		return false
	}
	return canonical(a) == canonical(b)
}

func mayBeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["`, text[0]) >= 0
}

func canonical(text string) string {
	value, ok := parse(text)
	if !ok {
		return strings.TrimSpace(text)
	}
	if object, is := value.(map[string]any); is && len(object) == 1 {
		for _, key := range []string{"result", "error", "output"} {
			if inner, has := object[key]; has {
				value = inner
			}
		}
	}
	if text, is := value.(string); is {
		if inner, ok := parse(text); ok {
			return write(inner)
		}
		return strings.TrimSpace(text)
	}
	return write(value)
}

func parse(text string) (value any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	return numbers(value), true
}

// numbers writes equal numbers alike: 1.0 is 1.
func numbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return value
}

func write(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

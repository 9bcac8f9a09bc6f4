// Package toolcalls reads the arguments with which models call the sidecar's tools.
package toolcalls

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Arguments are what a model passed with a call. Models write numbers as strings and lists as plain words; both are accepted.
type Arguments struct {
	Index     *int32
	Summary   int64
	ContentID string
	Terms     []string
	Query     string
	Scope     string
	Ranged    bool
	From, End int64
	Unit      contents.ContentUnit
}

// Limits on what a model may search for in one call.
const (
	maxTerms     = 64
	maxTermBytes = 8_192
	maxQuery     = 65_536
)

// Invalid is the error for the named argument, in words for the model.
func Invalid(name, text string) error {
	return conversation.Errorf(conversation.InvalidField, "the argument %s: %s", name, text)
}

// Parse reads the arguments of a tool. For a tool that is not one of the sidecar's, it accepts the arguments of any recall tool.
func Parse(tool, text string) (*Arguments, error) {
	var given map[string]json.RawMessage
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	if json.Unmarshal([]byte(text), &given) != nil {
		return nil, conversation.Errorf(conversation.InvalidField, "the arguments are no JSON object")
	}
	if err := foreignArguments(tool, given); err != nil {
		return nil, err
	}
	a := &Arguments{ContentID: strings.Trim(stringIn(given["content_id"]), "[]\"'` "), Query: stringIn(given["query"]), Scope: stringIn(given["scope"])}
	if len(a.Query) > maxQuery {
		return nil, Invalid("query", "it is longer than 65,536 bytes")
	}
	for _, read := range []func(map[string]json.RawMessage) error{a.readID, a.readTerms, a.readRange} {
		if err := read(given); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// foreignArguments refuses arguments that another tool accepts and this one does not. Arguments that no tool accepts are ignored, and
// so are empty ones: models fill in whatever they are offered.
func foreignArguments(tool string, given map[string]json.RawMessage) error {
	own := conversation.RecallArguments(tool)
	if own == nil {
		return nil
	}
	for _, other := range conversation.RecallToolNames() {
		if other == conversation.ToolSearchMemory {
			continue // most models are not offered this tool
		}
		for _, name := range conversation.RecallArguments(other) {
			if !slices.Contains(own, name) && says(given[name]) {
				return conversation.Errorf(conversation.InvalidField, "%s takes %s; %s is an argument of %s", tool, strings.Join(own, ", "), name, other)
			}
		}
	}
	return nil
}

func says(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text != "" && text != "null" && text != `""` && text != "[]"
}

// stringIn reads a string. A number is returned as it is written.
func stringIn(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

func (a *Arguments) readID(given map[string]json.RawMessage) error {
	id := stringIn(given["id"])
	if id == "" {
		return nil
	}
	bad := Invalid("id", "must be the number of a message, such as 12, or of a summary, such as s7")
	if rest, ok := strings.CutPrefix(id, "s"); ok {
		n, ok := wholeNumber(rest)
		if !ok || n == 0 {
			return bad
		}
		a.Summary = n
		return nil
	}
	n, ok := wholeNumber(strings.TrimPrefix(id, "m"))
	if !ok || n > view.MaxIndex {
		return bad
	}
	index := int32(n)
	a.Index = &index
	return nil
}

// wholeNumber reads a number that is not negative. 12.0 counts as whole.
func wholeNumber(text string) (int64, bool) {
	text = strings.TrimSuffix(text, ".0")
	var n int64
	if text == "" || len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	for _, c := range text {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (a *Arguments) readTerms(given map[string]json.RawMessage) error {
	raw := given["search_terms"]
	if json.Unmarshal(raw, &a.Terms) != nil {
		a.Terms = nil
		if s := stringIn(raw); s != "" {
			a.Terms = []string{s}
		}
	}
	a.Terms = slices.DeleteFunc(a.Terms, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(a.Terms) > maxTerms {
		return Invalid("search_terms", "there are more than 64")
	}
	for _, t := range a.Terms {
		if len(t) > maxTermBytes {
			return Invalid("search_terms", "one is longer than 8,192 bytes")
		}
	}
	return nil
}

func (a *Arguments) readRange(given map[string]json.RawMessage) error {
	start, end, unit := stringIn(given["start"]), stringIn(given["end"]), stringIn(given["unit"])
	a.End, a.Unit = 1<<42, contents.ContentChars
	if start == "" && end == "" {
		return nil
	}
	a.Ranged = true
	var ok bool
	if start != "" {
		if a.From, ok = wholeNumber(start); !ok {
			return Invalid("start", "must be a number from 0 on")
		}
	}
	if end != "" {
		if a.End, ok = wholeNumber(end); !ok || a.End < a.From {
			return Invalid("end", "must be a number, and not less than start")
		}
	}
	units := map[string]contents.ContentUnit{"": contents.ContentChars, "chars": contents.ContentChars, "lines": contents.ContentLines, "items": contents.ContentItems, "bytes": contents.ContentBytes}
	if a.Unit, ok = units[unit]; !ok {
		return Invalid("unit", "must be chars, lines, items or bytes")
	}
	return nil
}

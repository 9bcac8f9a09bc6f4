package summarize

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits on what is read of an answer: its bytes, and the positions tried as the start of its JSON object.
const (
	maxAnswerBytes = 1 << 20
	maxObjects     = 16
)

// readAnswer returns the filtered summary in an answer, or the reason to refuse it (behaviour §5 and §8): a call of a tool, not the
// requested JSON, empty, an echo, over its cap, or not shorter than the content.
func readAnswer(a Answer, r *Request) (string, Reason) {
	if r.Facts {
		return readFacts(a)
	}
	summary, ok := findSummary(a.Text)
	switch {
	case a.ToolCall:
		return "", ToolCall
	case !ok && a.Truncated:
		return "", Truncated
	case !ok:
		return "", BadAnswer
	}
	summary = strings.TrimSpace(Filter(summary))
	chars := countChars(summary)
	switch {
	case !strings.ContainsFunc(summary, showsSomething):
		return "", Empty
	case isEcho(summary, r):
		return "", Echo
	case chars > maxSummaryChars(r.Target):
		return "", TooLong
	case chars >= r.Chars:
		return "", NotShorter
	default:
		return summary, ""
	}
}

// maxSummaryChars returns the cap for a target length. It is generous because models count badly, and a summary half as dense as requested
// is still useful.
func maxSummaryChars(target int) int { return 2*target + 200 }

// findSummary finds the one JSON object with a string "summary" in a text that may have words or a Markdown fence around it. Two objects
// with different summaries count as none, because there is no way to tell which was meant.
func findSummary(text string) (summary string, found bool) {
	if len(text) > maxAnswerBytes || !utf8.ValidString(text) {
		return "", false
	}
	for range maxObjects {
		begin := strings.IndexByte(text, '{')
		if begin < 0 {
			return summary, found
		}
		s, ok, length := decodeObject(text[begin:])
		if ok && found && s != summary {
			return "", false
		}
		if ok {
			summary, found = s, true
		}
		text = text[begin+length:]
	}
	return summary, found && !strings.Contains(text, "{")
}

// decodeObject reads the JSON object at the start of a text and returns its length; 1, just the brace, if it is not one.
func decodeObject(text string) (summary string, ok bool, length int) {
	d := json.NewDecoder(strings.NewReader(text))
	var members map[string]json.RawMessage
	if d.Decode(&members) != nil {
		return "", false, 1
	}
	var value *string
	if json.Unmarshal(members["summary"], &value) != nil || value == nil {
		return "", false, int(d.InputOffset())
	}
	return *value, true, int(d.InputOffset())
}

// showsSomething reports whether a character is visible. Spaces, layout characters and the ellipsis are not.
func showsSomething(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) && c != '…' }

// An answer is an echo if it repeats this much in a row, ignoring white space: bytes of the prompt itself, or all of the first characters
// of a longer content.
const (
	minPromptEcho  = 80
	minContentEcho = 200
)

func isEcho(summary string, r *Request) bool {
	said := collapseSpace(summary)
	if head := collapseSpace(headChars(r.Content, 2*minContentEcho)); countChars(head) > minContentEcho &&
		strings.Contains(said, headChars(head, minContentEcho)) {
		return true
	}
	own := map[string]struct{}{}
	addSubstrings(own, systemPrompt)
	parts, _ := parseTemplate(r.template()) // it was read before the call
	if r.Live != nil {
		addSubstrings(own, liveAnswerPrompt)
	}
	for _, p := range parts {
		addSubstrings(own, p.text)
	}
	for i := minPromptEcho; i <= len(said); i++ {
		if _, echoed := own[said[i-minPromptEcho:i]]; echoed {
			return true
		}
	}
	return false
}

// addSubstrings adds every substring of a text that is long enough to be an echo.
func addSubstrings(runs map[string]struct{}, text string) {
	text = collapseSpace(text)
	for i := minPromptEcho; i <= len(text); i++ {
		runs[text[i-minPromptEcho:i]] = struct{}{}
	}
}

func collapseSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

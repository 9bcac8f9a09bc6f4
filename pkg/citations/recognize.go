package citations

import (
	"encoding/json"
	"fmt"
	"strings"
)

// header returns the start of a citation, up to its URL.
func (s *Source) header() string {
	return fmt.Sprintf("[%s: %d chars, %s, %s", bracketSafe(s.Handle), s.TotalChars, bracketSafe(s.ContentType), bracketSafe(s.Type))
}

// retrievePrefix returns the start of a citation's last line.
func (s *Source) retrievePrefix() string {
	return fmt.Sprintf(`[More: retrieve_content("%s", search_terms) or by `, bracketSafe(s.Handle))
}

// maxCitation is the maximum length of a citation in bytes, far above what its token limit allows in any script.
const maxCitation = 16 << 10

// HandleOf returns the handle that a text cites, if it has the form of a citation; empty otherwise.
func HandleOf(text string) string {
	handle, _, ok := strings.Cut(strings.TrimPrefix(text, "["), ": ")
	if !ok || len(text) > maxCitation || text[0] != '[' {
		return ""
	}
	s := Source{Handle: handle}
	if last := text[strings.LastIndexByte(text, '\n')+1:]; strings.HasPrefix(last, s.retrievePrefix()) && strings.HasSuffix(last, "]") {
		return handle
	}
	return ""
}

// Cites reports whether a text is a citation of a source, as Make produces it.
func Cites(text string, s Source) bool {
	return HandleOf(text) == s.Handle && strings.HasPrefix(text, s.header())
}

// InForm returns the text of a citation; empty if the text does not have that form. It also recognizes a citation inside a
// JSON string, as some frameworks pass it on.
func InForm(text string) string {
	const longest = 64 << 10 // in bytes: no escaped citation is longer
	if len(text) > longest {
		return ""
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			text = s
		}
	}
	if HandleOf(text) == "" {
		return ""
	}
	return text
}

package citations

import (
	"fmt"
	"strings"
)

// header returns how a citation begins, up to its URL.
func (s *Source) header() string {
	return fmt.Sprintf("[%s: %d chars, %s, %s", bracketSafe(s.Handle), s.TotalChars, bracketSafe(s.ContentType), bracketSafe(s.Type))
}

// retrievePrefix returns how the last line of a citation begins.
func (s *Source) retrievePrefix() string {
	return fmt.Sprintf(`[More: retrieve_content("%s", search_terms) or by `, bracketSafe(s.Handle))
}

// maxCitation is how long a citation may be, in bytes: far above what weighs as much as a citation may, in any script.
const maxCitation = 16 << 10

// Cited returns the handle of what a text cites, if it has the form of a citation; empty otherwise.
func Cited(text string) string {
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

// IsOf reports whether a text is a citation of a source, as Make makes it.
func IsOf(text string, s Source) bool {
	return Cited(text) == s.Handle && strings.HasPrefix(text, s.header())
}

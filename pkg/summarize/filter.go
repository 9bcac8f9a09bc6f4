package summarize

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// Filter returns a text as it may stand in a summary or in an extract: what a model writes, and what is quoted, must not pass for what
// the sidecar itself says, or a provider (behaviour §8). It leaves out control characters and others that show nothing, the notes
// that stand in a view for what it does not show, and the tokens that part a chat's turns. Headings of ours lose their form, and so
// do the names of roles that begin a line. Invalid UTF-8 bytes become U+FFFD.
func Filter(text string) string {
	text = dropInvisible(Plain(strings.ToValidUTF8(text, "\uFFFD")))
	return neutralizeHeadings(dropMarkers(text))
}

// escapeStart begins a sequence that colors a terminal.
const escapeStart = "\x1b["

// Plain leaves out the sequences that color a terminal: they are for no reader, and hide what lines have in common.
func Plain(text string) string {
	if !strings.Contains(text, escapeStart) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, after, found := strings.Cut(text, escapeStart)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = after[sequenceEnd(after):]
	}
}

// sequenceEnd returns how many bytes of what follows an escape belong to the sequence: parameters, then one final byte.
func sequenceEnd(s string) int {
	i := 0
	for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == ';' || s[i] == '?') {
		i++
	}
	if i < len(s) && isLetter(s[i]) {
		i++
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// dropInvisible leaves out the characters that show nothing. Whatever begins a line anew is a line feed.
func dropInvisible(text string) string {
	if !strings.ContainsFunc(text, isInvisible) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029':
			return '\n'
		case isInvisible(c):
			return -1
		default:
			return c
		}
	}, text)
}

func isInvisible(c rune) bool {
	return c != '\n' && c != '\t' && unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || facts.IsUnseen(c)
}

// ellipsis stands for what is left out within a line. It is there so that what stood around cannot join to a marker.
const ellipsis = "…"

// recallNote is how notes say what brings a text back.
var recallNote = regexp.MustCompile(`(?i)full\s+(?:text|message):\s*(?:expand_message|retrieve_content)\([^()\n]*\)?`)

func hasRecallCall(text string) bool {
	return strings.Contains(text, "expand_message(") || strings.Contains(text, "retrieve_content(")
}

// dropMarkers leaves out notes and the tokens of chats, and lines that hold nothing else.
func dropMarkers(text string) string {
	if hasRecallCall(text) {
		text = recallNote.ReplaceAllLiteralString(text, ellipsis)
	}
	var b strings.Builder
	rest := text
	for at := strings.IndexAny(rest, "[<"); at >= 0; at = strings.IndexAny(rest, "[<") {
		n := markerSize(rest[at:])
		if n == 0 {
			b.WriteString(rest[:at+1])
			rest = rest[at+1:]
			continue
		}
		b.WriteString(rest[:at] + ellipsis)
		rest = rest[at+n:]
	}
	b.WriteString(rest)
	return dropEmptiedLines(b.String())
}

func dropEmptiedLines(text string) string {
	if !strings.Contains(text, ellipsis) {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if trimmed := strings.TrimSpace(line); trimmed == "" || strings.Trim(trimmed, ellipsis+" ") != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func markerSize(text string) int {
	if text[0] == '[' {
		return noteSize(text)
	}
	return tokenSize(text)
}

// notePrefixes are what begins the notes of views, and of answers to tools that recall (behaviour §5 to §9), behind their bracket; and the
// brackets with which some models part instructions.
var notePrefixes = []string{
	"compacted", "clipped", "shortened to fit", "summary of", "summary s", "extract of", "old tool result content cleared",
	"expired tool result removed", "expired text removed", "system message", "speaker:", "late result of", "no result", "more follows", "one in full",
	"conversation continues", "the middle is left out", "inst", "/inst",
}

// maxNoteBytes bounds how far the end of a note is looked for, in bytes.
const maxNoteBytes = 400

// noteSize returns the length of the note that a text begins with: to its bracket's end, if that is on the line. It is 0 if there is none.
func noteSize(text string) int {
	end := strings.IndexAny(text[1:min(len(text), maxNoteBytes)], "[]\n") + 1
	closed := end > 0 && text[end] == ']'
	first := 1 + leadingSpace(text[1:])
	for _, begin := range notePrefixes {
		if first == len(text) || text[first]|0x20 != begin[0]|0x20 { // nearly all brackets
			continue
		}
		switch n := matchWords(text[1:], begin); {
		case n == 0:
		case closed && end > n:
			return end + 1
		default:
			return n + 1
		}
	}
	if closed && hasRecallCall(text[:end]) {
		return end + 1
	}
	return 0
}

// matchWords returns how many bytes some words take at the beginning of a text, in any case, with any white space before and between
// them; 0 if they are not there.
func matchWords(text, words string) int {
	at := 0
	for word := range strings.SplitSeq(words, " ") {
		at += leadingSpace(text[at:])
		if len(text)-at < len(word) || !strings.EqualFold(text[at:at+len(word)], word) {
			return 0
		}
		at += len(word)
	}
	if next, _ := utf8.DecodeRuneInString(text[at:]); unicode.IsLetter(next) {
		return 0
	}
	return at
}

// leadingSpace returns how many bytes of white space a text begins with, as far as one looks.
func leadingSpace(text string) int {
	text = text[:min(len(text), maxNoteBytes)]
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// What chats are parted with: turns, and elements that stand for who speaks.
const (
	maxTokenBytes = 80
	chatElements  = " system system_prompt system-prompt system-reminder developer assistant human start_of_turn end_of_turn s im_start im_end begin_of_text eot_id "
)

// tokenSize returns the length of the token that a text begins with, which parts the turns of a chat; 0 if there is none.
func tokenSize(text string) int {
	line, _, _ := strings.Cut(text[:min(len(text), maxTokenBytes)], "\n")
	for _, pair := range [][2]string{{"<|", "|>"}, {"<｜", "｜>"}, {"<<", ">>"}} {
		if !strings.HasPrefix(line, pair[0]) {
			continue
		}
		if end := strings.Index(line, pair[1]); end > 0 && (pair[0] != "<<" || isSysTag(line[2:end])) {
			return end + len(pair[1])
		}
	}
	end := strings.IndexByte(line, '>')
	if end < 0 {
		return 0
	}
	name, _, _ := strings.Cut(strings.TrimLeft(line[1:end], "/ "), " ")
	if name != "" && strings.Contains(chatElements, " "+strings.ToLower(name)+" ") {
		return end + 1
	}
	return 0
}

// isSysTag knows <<SYS>> and its end.
func isSysTag(name string) bool { return strings.EqualFold(strings.TrimPrefix(name, "/"), "sys") }

package summarize

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// Filter makes a text safe to stand in a summary or an extract: neither a model's output nor a quotation may pass for the sidecar's or a
// provider's own words (behaviour §8). It removes control and other invisible characters, the notes with which views mark omissions, and
// the tokens that separate turns in chat formats. It disarms the sidecar's own headings and role names at the start of a line. Invalid
// UTF-8 becomes U+FFFD.
func Filter(text string) string {
	text = dropInvisible(Plain(strings.ToValidUTF8(text, "\uFFFD")))
	return neutralizeHeadings(dropMarkers(text))
}

// escapeStart begins an ANSI color sequence.
const escapeStart = "\x1b["

// Plain removes ANSI color sequences: they are of no use to a reader and hide what lines have in common.
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

// sequenceEnd returns how many bytes after the escape belong to the sequence: parameters, then one final byte.
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

// dropInvisible removes invisible characters. Every kind of line break becomes a line feed.
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

// ellipsis replaces what is removed within a line, so that the text on both sides cannot join to form a new marker.
const ellipsis = "…"

// recallNote matches the part of a note that names the call which retrieves the full text.
var recallNote = regexp.MustCompile(`(?i)full\s+(?:text|message):\s*(?:expand_message|retrieve_content)\([^()\n]*\)?`)

func hasRecallCall(text string) bool {
	return strings.Contains(text, "expand_message(") || strings.Contains(text, "retrieve_content(")
}

// dropMarkers removes notes and chat tokens, and lines that hold nothing else.
func dropMarkers(text string) string {
	if hasRecallCall(text) {
		text = recallNote.ReplaceAllLiteralString(text, ellipsis)
	}
	var b strings.Builder
	rest := text
	for at := strings.IndexAny(rest, "[<"); at >= 0; at = strings.IndexAny(rest, "[<") {
		size := noteSize
		if rest[at] == '<' {
			size = tokenSize
		}
		n := size(rest[at:])
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

// notePrefixes begin the notes of views and of recall tools (behaviour §5 to §9), after the bracket, and the instruction brackets of some
// models.
var notePrefixes = []string{
	"compacted", "clipped", "shortened to fit", "summary of", "summary s", "extract of", "old tool result content cleared",
	"expired tool result removed", "expired text removed", "system message", "speaker:", "late result of", "no result", "more follows", "one in full",
	"conversation continues", "the middle is left out", "inst", "/inst",
}

// copiedNote begins the note that stands for lines of another message (behaviour §21), after the bracket and their number.
const copiedNote = "lines as in message"

// maxNoteBytes limits how far the end of a note is searched for.
const maxNoteBytes = 400

// noteSize returns the length of the note at the start of a text, up to its closing bracket if that is on the same line; 0 if there is
// none.
func noteSize(text string) int {
	end := strings.IndexAny(text[1:min(len(text), maxNoteBytes)], "[]\n") + 1
	closed := end > 0 && text[end] == ']'
	switch n := noteWords(text[1:]); {
	case n > 0 && closed && end > n:
		return end + 1
	case n > 0:
		return n + 1
	case closed && hasRecallCall(text[:end]):
		return end + 1
	default:
		return 0
	}
}

// noteWords returns the length of the words with which a note begins, if a text starts with them; 0 otherwise.
func noteWords(text string) int {
	first := leadingSpace(text)
	if first == len(text) {
		return 0
	}
	if number := first + leadingDigits(text[first:]); number > first {
		if n := matchWords(text[number:], copiedNote); n > 0 {
			return number + n
		}
		return 0
	}
	for _, begin := range notePrefixes {
		if text[first]|0x20 != begin[0]|0x20 { // nearly all brackets
			continue
		}
		if n := matchWords(text, begin); n > 0 {
			return n
		}
	}
	return 0
}

// leadingDigits returns how many digits a text starts with.
func leadingDigits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// matchWords returns the length of some words at the start of a text, ignoring case and with any white space before and between them; 0 if
// they are not there.
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

// leadingSpace returns the length of the white space at the start of a text, up to maxNoteBytes.
func leadingSpace(text string) int {
	text = text[:min(len(text), maxNoteBytes)]
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// Chat tokens: the tags that separate turns or name the speaker.
const (
	maxTokenBytes = 80
	chatElements  = " system system_prompt system-prompt system-reminder developer assistant human start_of_turn end_of_turn s im_start im_end begin_of_text eot_id "
)

// tokenSize returns the length of the chat token at the start of a text; 0 if there is none.
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

// isSysTag reports whether a name is that of <<SYS>> or its closing tag.
func isSysTag(name string) bool { return strings.EqualFold(strings.TrimPrefix(name, "/"), "sys") }

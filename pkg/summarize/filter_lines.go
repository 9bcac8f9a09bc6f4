package summarize

import (
	"strings"
	"unicode"
)

// reservedHeadings are the headings with which extracts and loss lists attribute their lines. Any other text loses such a heading, but
// keeps what follows it.
var reservedHeadings = []string{
	"rules of the user", "the user's rules", "the user’s rules", "the user said", "the assistant said", "told before", "also named",
	"not told above, in the words of the original", "not told above",
}

// commonHeadings are headings of extracts that any text may use: they lose only the colon that marks them.
var commonHeadings = []string{
	"files and addresses", "tools", "calls", "open", "open calls", "files", "addresses", "names", "figures", "errors",
}

// spanExtractStart is how every extract of a span begins.
const spanExtractStart = "extract of the conversation"

// rolePrefixes begin a turn in chats written as text.
var rolePrefixes = []string{"system", "system prompt", "system message", "developer", "user", "human", "assistant", "tool"}

// neutralizeHeadings disarms the sidecar's own headings and role names at the start of lines.
func neutralizeHeadings(text string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		body, ended := strings.CutSuffix(line, "\n")
		shown := neutralizeHeading(body)
		if shown == "" && body != "" {
			continue // it was nothing else
		}
		b.WriteString(shown)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// neutralizeHeading returns the disarmed line; "" if it is only a heading.
func neutralizeHeading(line string) string {
	if line = dropReservedHeadings(line); line == "" {
		return ""
	}
	if at := leadingSize(line, bullets); isCommonHeading(line[at:]) {
		return strings.Replace(line, ":", "", 1)
	}
	at := leadingSize(line, "*_>#`")
	for _, role := range rolePrefixes {
		n := headingSize(line[at:], role)
		if name := strings.TrimRight(line[at:at+n], ":："); len(name) < n {
			return line[:at] + strings.TrimRight(name, " \t") + " –" + line[at+n:]
		}
	}
	return line
}

// dropReservedHeadings removes reserved headings from the start of a line; "" if nothing is left.
func dropReservedHeadings(line string) string {
	at := leadingSize(line, bullets)
	rest := line[at:]
	for n := reservedSize(rest); n > 0; {
		rest = strings.TrimLeft(rest[n:], "*_ ")
		again := leadingSize(rest, bullets)
		if n = reservedSize(rest[again:]); n > 0 {
			rest = rest[again:]
		}
	}
	if len(rest) < len(line)-at && strings.Trim(rest, "*_:.` \t") == "" {
		return ""
	}
	return line[:at] + rest
}

// reservedSize returns the length of a reserved heading at the start of a text.
func reservedSize(text string) int {
	n := 0
	if text != "" && text[0]|0x20 == spanExtractStart[0] {
		n = matchWords(text, spanExtractStart)
	}
	for _, heading := range reservedHeadings {
		n = max(n, headingSize(text, heading))
	}
	return n
}

// bullets may stand before a heading, besides white space: list markers, Markdown and quotation marks.
const bullets = "-•*_>#`0123456789.)"

// leadingSize returns the length of the white space and the given characters at the start of a line.
func leadingSize(line, of string) int {
	for i, c := range line {
		if !strings.ContainsRune(of, c) && !unicode.IsSpace(c) {
			return i
		}
	}
	return len(line)
}

// headingSize returns the length of a heading at the start of a text, including its colon, or up to the end of the line; 0 if it is not
// there.
func headingSize(text, heading string) int {
	if text == "" || text[0]|0x20 != heading[0] { // nearly all lines
		return 0
	}
	n := matchWords(text, heading)
	if n == 0 {
		return 0
	}
	end := n + leadingSize(text[n:], "*_`")
	switch {
	case end == len(text):
		return end
	case strings.HasPrefix(text[end:], ":"):
		return end + 1
	case strings.HasPrefix(text[end:], "："):
		return end + len("：")
	default:
		return 0
	}
}

func isCommonHeading(line string) bool {
	for _, heading := range commonHeadings {
		if n := headingSize(line, heading); n > 0 && strings.TrimSpace(line[n:]) == "" && strings.HasSuffix(line[:n], ":") {
			return true
		}
	}
	return false
}

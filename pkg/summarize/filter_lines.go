package summarize

import (
	"strings"
	"unicode"
)

// reservedHeadings are the headings under which extracts, and the lists of what a summary lacks, tell whose words follow. Nothing else may say
// that: they go, and what stands behind them stays.
var reservedHeadings = []string{
	"rules of the user", "the user's rules", "the user’s rules", "the user said", "the assistant said", "told before", "also named",
	"not told above, in the words of the original", "not told above",
}

// commonHeadings are headings of ours that anybody may use: they stay, without the colon that makes them ours.
var commonHeadings = []string{
	"files and addresses", "tools", "calls", "open", "open calls", "files", "addresses", "names", "figures", "errors",
}

// spanExtractStart is how every extract of a span begins.
const spanExtractStart = "extract of the conversation"

// rolePrefixes are the names that begin a turn where chats are written as text.
var rolePrefixes = []string{"system", "system prompt", "system message", "developer", "user", "human", "assistant", "tool"}

// neutralizeHeadings takes the form from headings of ours and from names of roles that begin a line.
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

// neutralizeHeading returns a line, "" if it says no more than a heading.
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

// dropReservedHeadings takes the headings of ours from the beginning of a line; "" if nothing is left.
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

// reservedSize returns how many bytes a heading of ours takes at the beginning of a text.
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

// bullets are what may stand before a heading, beside white space: marks of entries, of Markdown, of quotations.
const bullets = "-•*_>#`0123456789.)"

// leadingSize returns how many bytes of white space and of some other characters a line begins with.
func leadingSize(line, of string) int {
	for i, c := range line {
		if !strings.ContainsRune(of, c) && !unicode.IsSpace(c) {
			return i
		}
	}
	return len(line)
}

// headingSize returns how many bytes a heading takes at the beginning of a text, with its colon, or where the line ends behind it; 0 if it
// is not there.
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

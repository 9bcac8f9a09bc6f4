package content

import "strings"

// sniffBytes is how much of a content is examined to detect its kind.
const sniffBytes = 16 << 10

// headBytes is the length from which a content may be the head of a larger one.
const headBytes = 64 << 10

// sniff detects the kind of a content by its form.
func sniff(content string) Kind {
	body := strings.TrimLeft(strings.TrimPrefix(content, "\ufeff"), JSONSpace)
	if body == "" {
		return KindText
	}
	if body[0] == '{' || body[0] == '[' {
		if s := scanAll(content); s.IsComplete() || s.state != broken && len(content) >= headBytes { // JSON, or the head of a larger one
			return KindJSON
		}
	}
	begin := Head(body, sniffBytes)
	if looksHTML(begin) {
		return KindHTML
	}
	return statsOf(begin).kind()
}

func scanAll(text string) *JSONScanner {
	s := &JSONScanner{}
	for range JSONEvents(s, text) { // only what the scanner knows in the end counts
	}
	return s
}

// looksHTML reports whether a text begins like a page or a fragment of one. Tags further down are not enough: they occur in the output of
// many tools.
func looksHTML(head string) bool {
	head = strings.ToLower(head)
	for {
		end := "-->"
		if strings.HasPrefix(head, "<?xml") {
			end = "?>"
		} else if !strings.HasPrefix(head, "<!--") {
			return startsWithTag(head, "!doctype html", "html", "head", "body") || startsFragment(head)
		}
		_, after, found := strings.Cut(head, end)
		if !found {
			return false
		}
		head = strings.TrimLeft(after, JSONSpace)
	}
}

// startsFragment reports whether a text begins with an element of a page, and closes more of them.
func startsFragment(lower string) bool {
	elements := []string{"div", "p", "table", "ul", "ol", "h1", "h2", "h3", "section", "article", "main", "header", "nav", "form", "dl", "pre", "blockquote"}
	if !startsWithTag(lower, elements...) {
		return false
	}
	closed := 0
	for _, name := range elements {
		closed += strings.Count(lower, "</"+name+">")
	}
	return closed >= 2
}

func startsWithTag(lower string, names ...string) bool {
	for _, name := range names {
		rest, ok := strings.CutPrefix(lower, "<"+name)
		if ok && rest != "" && (rest[0] == '>' || rest[0] == '/' || isJSONSpace(rest[0])) {
			return true
		}
	}
	return false
}

// lineStats counts what the lines of a text look like.
type lineStats struct {
	lines, blank, chars int // lines are those that are not blank
	json                int // JSON values on a line of their own
	code                int
	prose               int // that are of paragraphs
	stamped             int // that begin with a time
	titles, marks       int // Markdown headings among blank lines, and other marks of it
}

func statsOf(head string) lineStats {
	var s lineStats
	before := line{}
	fenced := false
	for at := 0; at < len(head); {
		now := lineAt(head, at)
		at = now.end
		next := line{}
		if at < len(head) {
			next = lineAt(head, at)
		}
		if strings.HasPrefix(now.text, "```") {
			fenced = !fenced
			s.marks++
		} else if !fenced {
			s.take(now, before, next)
		}
		before = now
	}
	return s
}

// take counts a line, given its neighbors.
func (s *lineStats) take(now, before, next line) {
	if now.text == "" {
		s.blank++
		return
	}
	s.lines++
	s.chars += len(now.text)
	if c := now.text[0]; (c == '{' || c == '[') && s.json == s.lines-1 && scanAll(now.text).IsComplete() {
		s.json++
	}
	if looksCode(now) {
		s.code++
	}
	if looksProse(now.text) {
		s.prose++
	}
	if now.indent == 0 && countDigits(now.text[:min(len(now.text), stampBytes)]) >= stampDigits {
		s.stamped++
	}
	if isATXHeading(now) && before.text == "" && next.text == "" {
		s.titles++
	}
	if looksMarkdown(now.text) {
		s.marks++
	}
}

// The thresholds for a kind, in lines and in percent of the lines.
const (
	minLines         = 5
	minCodePercent   = 45
	maxBlankPercent  = 8
	maxProsePercent  = 30
	maxMeanLineBytes = 400 // bytes of a line, on average
	stampedPercent   = 50
)

// A line begins with a time if it has so many digits among its first bytes.
const (
	stampBytes  = 24
	stampDigits = 6
)

func (s lineStats) kind() Kind {
	percent := func(n int) int { return n * 100 / max(1, s.lines) }
	switch {
	case s.json >= 2 && s.json >= s.lines-1: // the last line may be cut
		return KindLines
	case s.lines >= minLines && percent(s.stamped) >= stampedPercent:
		return KindLines
	case s.titles >= 2 && s.marks >= 1 && percent(s.code) < minCodePercent, s.titles == 1 && s.marks >= 3 && percent(s.code) < minCodePercent/2:
		return KindMarkdown
	case s.lines >= minLines && percent(s.code) >= minCodePercent:
		return KindCode
	case s.lines >= minLines && percent(s.blank) <= maxBlankPercent && percent(s.prose) <= maxProsePercent && s.chars/s.lines <= maxMeanLineBytes:
		return KindLines
	default:
		return KindText
	}
}

// looksMarkdown reports whether a line has a mark that is rare outside of Markdown.
func looksMarkdown(text string) bool {
	return strings.Contains(text, "](") || strings.Contains(text, "**") || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") ||
		strings.HasPrefix(text, "|--") || strings.HasPrefix(text, "| --")
}

// looksProse reports whether a line could belong to a wrapped paragraph: words, and little else.
func looksProse(text string) bool {
	words, letters := 1, 0
	for i := range len(text) {
		if text[i] == ' ' {
			words++
		} else if IsLetter(text[i]) {
			letters++
		}
	}
	return words >= 6 && (letters+words)*100 >= len(text)*minProsePercent
}

// minProsePercent is the share of letters and single spaces in a line of prose.
const minProsePercent = 92

func countDigits(text string) int {
	n := 0
	for i := range len(text) {
		if IsDigit(text[i]) {
			n++
		}
	}
	return n
}

// looksCode reports whether a line has a form that is common in programs.
func looksCode(l line) bool {
	text := codeText(l.text)
	if text == "" {
		return false
	}
	switch text[len(text)-1] {
	case ';', '{', '}':
		return true
	case ':', ',', '(', ')', '[', ']':
		return strings.ContainsAny(text, "=([{") || l.indent > 0 && strings.Count(text, " ") < 6
	}
	if strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#include") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, `"""`) {
		return true
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "def", "class", "import", "from", "return", "func", "fn", "const", "let", "var", "package", "public", "private", "static",
		"struct", "elif", "else", "assert", "raise", "export", "type", "use", "end", "try", "pass", "break", "yield":
		return l.indent > 0 || rest == "" || strings.Count(rest, " ") < 6
	}
	return strings.Contains(text, " = ") || strings.Contains(text, "():") || strings.Contains(text, " := ")
}

// codeText removes the line number that tools print before a line ("12\t", "12:", "12-").
func codeText(text string) string {
	rest := strings.TrimLeft(text, "0123456789")
	if len(rest) == len(text) || rest == "" || strings.IndexByte(":-|\t", rest[0]) < 0 {
		return text
	}
	return strings.Trim(rest[1:], " \t")
}

// IsBareTag reports whether a line is one tag without attributes.
func IsBareTag(line string) bool {
	if len(line) < 3 || line[0] != '<' || line[len(line)-1] != '>' {
		return false
	}
	for _, c := range []byte(strings.TrimPrefix(line[1:len(line)-1], "/")) {
		if !IsWord(c) && c != '-' {
			return false
		}
	}
	return true
}

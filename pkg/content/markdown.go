package content

import "strings"

// markdown handles a line of Markdown, and reports whether it begins a section. A heading belongs to what follows it.
func (l *lineReader) markdown(now line) bool {
	if now.text == "" {
		return false
	}
	headed := l.onlyHeadings
	l.onlyHeadings = false
	if l.inFence(now) {
		return false
	}
	if isATXHeading(now) {
		l.addHeading(now)
		return true
	}
	if isUnderline(now, l.previous) {
		l.addHeading(l.previous) // it already began a section, after a blank line
		return false
	}
	return l.previous.text == "" && !headed
}

// addHeading notes that a line is a heading.
func (l *lineReader) addHeading(title line) {
	from := title.from + title.indent
	l.headings = append(l.headings, heading{int32(from), int32(from + len(title.text))})
	l.onlyHeadings = true
}

// frontMatter delimits the metadata at the start of a document.
const frontMatter = "---"

// inFence reports whether a line belongs to a fenced block or to the front matter.
func (l *lineReader) inFence(now line) bool {
	if l.fence != "" {
		if strings.HasPrefix(now.text, l.fence) && strings.Trim(now.text, l.fence[:1]) == "" {
			l.fence = ""
		}
		return true
	}
	if now.from == 0 && now.text == frontMatter {
		l.fence = frontMatter
		return true
	}
	for _, mark := range []string{"```", "~~~"} {
		if rest, ok := strings.CutPrefix(now.text, mark); ok && !strings.Contains(rest, mark[:1]) {
			l.fence = mark
		}
	}
	return false
}

// isATXHeading reports whether a line is an ATX heading.
func isATXHeading(l line) bool {
	title := strings.TrimLeft(l.text, "#")
	level := len(l.text) - len(title)
	return l.indent <= 3 && 1 <= level && level <= 6 && title != "" && (title[0] == ' ' || title[0] == '\t')
}

// isUnderline reports whether a line makes the one before it a heading.
func isUnderline(now, before line) bool {
	if len(now.text) < 3 || now.indent > 3 || before.text == "" || before.indent > 3 || strings.ContainsAny(before.text[:1], "|-#>`~=*") {
		return false
	}
	return strings.Trim(now.text, "=") == "" || strings.Trim(now.text, "-") == ""
}

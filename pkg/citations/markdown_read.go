package citations

import "strings"

// markdown takes a line of Markdown, and says whether a unit begins with it. A heading belongs to what follows it.
func (l *liner) markdown(now line) bool {
	if now.text == "" {
		return false
	}
	headed := l.headed
	l.headed = false
	if l.inFence(now) {
		return false
	}
	if from, ok := titleOf(now); ok {
		l.headings = append(l.headings, heading{int32(from), int32(now.from + now.indent + len(now.text))})
		l.headed = true
		return true
	}
	if underlines(now, l.before) {
		from := l.before.from + l.before.indent
		l.headings = append(l.headings, heading{int32(from), int32(from + len(l.before.text))})
		l.headed = true
		l.beginBefore()
		return false
	}
	return l.before.text == "" && !headed
}

// inFence says whether a line is part of a fenced block.
func (l *liner) inFence(now line) bool {
	if l.fence != "" {
		if strings.HasPrefix(now.text, l.fence) && strings.Trim(now.text, l.fence[:1]) == "" {
			l.fence = ""
		}
		return true
	}
	for _, mark := range []string{"```", "~~~"} {
		if rest, ok := strings.CutPrefix(now.text, mark); ok && !strings.Contains(rest, mark[:1]) {
			l.fence = mark
		}
	}
	return false
}

// titleOf is where the title of an ATX heading begins.
func titleOf(l line) (from int, ok bool) {
	title := strings.TrimLeft(l.text, "#")
	level := len(l.text) - len(title)
	if l.indent > 3 || level < 1 || level > 6 || title == "" || title[0] != ' ' && title[0] != '\t' {
		return 0, false
	}
	return l.from + l.indent + len(l.text) - len(strings.TrimLeft(title, " \t")), true
}

// underlines says whether a line makes the one before it a heading.
func underlines(now, before line) bool {
	if len(now.text) < 3 || now.indent > 3 || before.text == "" || before.indent > 3 || strings.ContainsAny(before.text[:1], "|-#>`~=*") {
		return false
	}
	return strings.Trim(now.text, "=") == "" || strings.Trim(now.text, "-") == ""
}

// beginBefore begins a unit with the line before.
func (l *liner) beginBefore() {
	if from := int32(l.before.from); from-l.starts[len(l.starts)-1] >= leastUnit {
		l.starts = append(l.starts, from)
	}
}

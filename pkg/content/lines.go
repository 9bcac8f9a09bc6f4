package content

import "strings"

// line is a line of a text.
type line struct {
	from, end int    // with the end of the line
	text      string // without indentation and the end of the line; empty for a blank one
	indent    int
}

// lineReader finds the sections of a text that is read line by line.
type lineReader struct {
	kind         Kind
	limit        int // bytes of a section
	knownStarts  []int32
	starts       []int32
	headings     []heading
	previous     line
	fence        string // the end of the open fenced block of Markdown
	onlyHeadings bool   // the newest section has only headings and blank lines
}

// readLines finds the sections of a text: as its kind defines them, and within long ones at line borders.
func (r *Reading) readLines() {
	l := &lineReader{kind: r.Kind, limit: r.sectionBytes(), knownStarts: r.starts}
	for at := 0; at < len(r.Text); {
		now := lineAt(r.Text, at)
		l.take(now)
		l.previous, at = now, now.end
	}
	r.starts = l.starts
	if r.Kind == KindMarkdown {
		r.headings = l.headings
	}
}

// sectionBytes converts the length of a section from characters to bytes for this content.
func (r *Reading) sectionBytes() int {
	return sectionChars * len(r.Content) / max(1, int(r.positions.charAt(len(r.Content))))
}

func lineAt(text string, at int) line {
	l := line{from: at, end: len(text)}
	if size := strings.IndexByte(text[at:], '\n'); size >= 0 {
		l.end = at + size + 1
	}
	for at < l.end && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	l.indent = at - l.from
	end := l.end
	for end > at && isJSONSpace(text[end-1]) {
		end--
	}
	l.text = text[at:end]
	return l
}

// take handles the next line.
func (l *lineReader) take(now line) {
	if len(l.starts) == 0 {
		l.starts = append(l.starts, 0)
		l.onlyHeadings = true
	}
	size := now.from - int(l.starts[len(l.starts)-1])
	begins := now.text != "" && size >= l.limit
	switch l.kind {
	case KindHTML:
		begins = l.isKnown(now.from) || begins
	case KindMarkdown:
		begins = l.markdown(now) || begins
	case KindLines:
		begins = begins || now.text != "" && now.indent == 0
	case KindCode:
		begins = begins || beginsDeclaration(l.previous, now, size)
	default:
		begins = begins || now.text != "" && l.previous.text == ""
	}
	if begins && size >= minSection {
		l.starts = append(l.starts, int32(now.from))
	}
}

// isKnown reports whether a section is known to begin at a position. Positions must not decrease.
func (l *lineReader) isKnown(at int) bool {
	for len(l.knownStarts) > 0 && int(l.knownStarts[0]) < at {
		l.knownStarts = l.knownStarts[1:]
	}
	return len(l.knownStarts) > 0 && int(l.knownStarts[0]) == at
}

// declarationBytes is the size from which code is split at a blank line.
const declarationBytes = 200

// beginsDeclaration reports whether a line begins a declaration in code. Comments and decorators before it belong to it.
func beginsDeclaration(before, now line, size int) bool {
	if now.text == "" {
		return false
	}
	top := now.indent == 0 && strings.IndexByte("})]", now.text[0]) < 0
	closed := before.text == "" || before.indent == 0 && strings.IndexByte("})]", before.text[0]) >= 0
	return top && closed || before.text == "" && size >= declarationBytes
}

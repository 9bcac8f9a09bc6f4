package extractive

import (
	"strings"
)

// mostBeside is how many lines are shown of what stands around a text.
const mostBeside = 8

// around puts lines before and after what a draft shows, of more worth than all of it.
func (d *draft) around(before, after []piece) {
	top, first, last := 0.0, 0, 0
	for _, p := range d.pieces {
		top, first, last = max(top, p.worth), min(first, p.order), max(last, p.order)
	}
	for k := range before {
		before[k].order = first - len(before) + k
		before[k].worth = top + 10 + before[k].worth - float64(k)/10
	}
	for k := range after {
		after[k].order = last + 1 + k
		after[k].worth = top + 5 - float64(k)/10
	}
	d.pieces = append(append(before, d.pieces...), after...)
}

// readWrapped looks through what a tool puts around its result: a pair of tags, a code fence, a few lines of text.
func readWrapped(s source) (draft, bool) {
	if s.depth >= deepest {
		return draft{}, false
	}
	for _, find := range []func(string) (start, end int){taggedPart, fencedPart, jsonPart} {
		start, end := find(s.text)
		if (end-start)*10 < len(s.text)*6 || end-start < 200 {
			continue
		}
		inner := recognise(source{
			text: s.text[start:end], target: s.target * 9 / 10, line: s.line + strings.Count(s.text[:start], "\n"), depth: s.depth + 1,
		})
		inner.around(linesBeside(s.text[:start], s.target), linesBeside(s.text[end:], s.target))
		return inner, true
	}
	return draft{}, false
}

func linesBeside(text string, target int) (beside []piece) {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !isBareTag(line) && !strings.HasPrefix(line, "```") && len(beside) < mostBeside {
			beside = append(beside, piece{text: line, most: max(60, target/6)})
		}
	}
	return beside
}

// wrapWithin is how many bytes from an end of a text a tool's wrapping is looked for.
const wrapWithin = 2000

// taggedPart finds what stands between a line that is an opening tag and one that is its closing tag, such as <output>.
func taggedPart(text string) (start, end int) {
	for at := 0; at < min(len(text), wrapWithin); {
		line, _, more := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		line = strings.TrimSpace(line)
		if !more {
			break
		}
		if isBareTag(line) && line[1] != '/' && !isPageTag(line[1:len(line)-1]) {
			if end := strings.LastIndex(text, "</"+line[1:]); end > next {
				return next, end
			}
		}
		at = next
	}
	return 0, 0
}

// isBareTag says whether a line is one tag without attributes.
func isBareTag(line string) bool {
	if len(line) < 3 || line[0] != '<' || line[len(line)-1] != '>' {
		return false
	}
	for _, c := range []byte(strings.TrimPrefix(line[1:len(line)-1], "/")) {
		if !isWord(c) && c != '-' {
			return false
		}
	}
	return true
}

// isPageTag says whether a tag belongs to a page.
func isPageTag(name string) bool {
	switch strings.ToLower(name) {
	case "html", "head", "body", "div", "main", "article", "section", "table", "ul", "ol", "pre", "p", "svg", "xml":
		return true
	}
	return false
}

// fencedPart finds what stands in a code fence that begins near the text's beginning.
func fencedPart(text string) (start, end int) {
	const fence = "```"
	open := strings.Index(clipBytes(text, wrapWithin), fence)
	if open < 0 || (open > 0 && text[open-1] != '\n') {
		return 0, 0
	}
	line := strings.IndexByte(text[open:], '\n')
	if line < 0 {
		return 0, 0
	}
	start = open + line + 1
	if end = strings.Index(text[start:], "\n"+fence); end < 0 {
		return 0, 0
	}
	return start, start + end
}

// jsonTries is at how many places a JSON text is looked for inside another.
const jsonTries = 4

// jsonPart finds a JSON object or array that begins near the text's beginning.
func jsonPart(text string) (start, end int) {
	within := clipBytes(text, wrapWithin)
	tries := 0
	for at := 0; at < len(within) && tries < jsonTries; at++ {
		if (text[at] != '{' && text[at] != '[') || !opensJSON(text, at) {
			continue
		}
		tries++
		d := &document{text: text, cut: -1}
		if end, ok := d.value(at, none, 0); ok && (end-at)*10 >= len(text)*6 {
			return at, end
		}
	}
	return 0, 0
}

// opensJSON says whether a bracket stands where a JSON text would begin: after a space or line break, before a value.
func opensJSON(text string, at int) bool {
	if at > 0 && text[at-1] != '\n' && text[at-1] != ' ' && text[at-1] != ':' && text[at-1] != '\t' {
		return false
	}
	next := skipSpace(text, at+1)
	return next < len(text) && strings.IndexByte("\"{[-0123456789", text[next]) >= 0
}

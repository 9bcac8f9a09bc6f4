package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// maxBeside is how many lines around a text are shown.
const maxBeside = 8

// surround puts lines before and after what a draft shows, with higher scores than all of it.
func (d *draft) surround(before, after []choice.Entry) {
	top, first, last := 0.0, 0, 0
	for _, p := range d.entries {
		top, first, last = max(top, p.Score), min(first, p.Order), max(last, p.Order)
	}
	for k := range before {
		before[k].Order = first - len(before) + k
		before[k].Score = top + 10 + before[k].Score - float64(k)/10
	}
	for k := range after {
		after[k].Order = last + 1 + k
		after[k].Score = top + 5 - float64(k)/10
	}
	d.entries = append(append(before, d.entries...), after...)
}

// readWrapped unwraps what a tool puts around its result: a pair of tags, a code fence, a few lines of text.
func readWrapped(s source) (draft, bool) {
	if s.depth >= maxDepth {
		return draft{}, false
	}
	for _, find := range []func(string) (start, end int){taggedPart, fencedPart, jsonPart} {
		start, end := find(s.text)
		if (end-start)*10 < len(s.text)*6 || end-start < 200 {
			continue
		}
		inner := recognize(source{
			text: s.text[start:end], target: s.target * 9 / 10, line: s.line + strings.Count(s.text[:start], "\n"), depth: s.depth + 1,
		})
		inner.surround(linesBeside(s.text[:start], s.target), linesBeside(s.text[end:], s.target))
		return inner, true
	}
	return draft{}, false
}

func linesBeside(text string, target int) (beside []choice.Entry) {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !content.IsBareTag(line) && !strings.HasPrefix(line, "```") && len(beside) < maxBeside {
			beside = append(beside, choice.Entry{Text: line, MaxChars: max(60, target/6)})
		}
	}
	return beside
}

// wrapperWindow is how many bytes at the start of a text are searched for a wrapper.
const wrapperWindow = 2000

// taggedPart finds the text between an opening and a closing tag on lines of their own, such as <output>.
func taggedPart(text string) (start, end int) {
	for at := 0; at < min(len(text), wrapperWindow); {
		line, _, more := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		line = strings.TrimSpace(line)
		if !more {
			break
		}
		if content.IsBareTag(line) && line[1] != '/' && !isPageTag(line[1:len(line)-1]) {
			if end := strings.LastIndex(text, "</"+line[1:]); end > next {
				return next, end
			}
		}
		at = next
	}
	return 0, 0
}

// isPageTag reports whether a tag is HTML.
func isPageTag(name string) bool {
	switch strings.ToLower(name) {
	case "html", "head", "body", "div", "main", "article", "section", "table", "ul", "ol", "pre", "p", "svg", "xml":
		return true
	}
	return false
}

// fencedPart finds the text in a code fence that begins near the start.
func fencedPart(text string) (start, end int) {
	const fence = "```"
	open := strings.Index(text[:min(len(text), wrapperWindow)], fence)
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

// maxJSONTries is how many positions are tried as the start of embedded JSON.
const maxJSONTries = 4

// jsonPart finds a JSON object or array that begins near the start.
func jsonPart(text string) (start, end int) {
	within := text[:min(len(text), wrapperWindow)]
	tries := 0
	for at := 0; at < len(within) && tries < maxJSONTries; at++ {
		if (text[at] != '{' && text[at] != '[') || !opensJSON(text, at) {
			continue
		}
		tries++
		if end, ok := content.JSONEnd(text, at); ok && (end-at)*10 >= len(text)*6 {
			return at, end
		}
	}
	return 0, 0
}

// opensJSON reports whether a bracket is where a JSON text would begin: after white space, before a value.
func opensJSON(text string, at int) bool {
	if at > 0 && text[at-1] != '\n' && text[at-1] != ' ' && text[at-1] != ':' && text[at-1] != '\t' {
		return false
	}
	rest := strings.TrimLeft(text[at+1:], content.JSONSpace)
	return rest != "" && strings.IndexByte("\"{[-0123456789", rest[0]) >= 0
}

package content

import (
	"html"
	"sort"
)

// htmlSource maps the text of an HTML page to its source, and knows where its main part is.
type htmlSource struct {
	content string
	runs    []sourceRun
	title   heading // in bytes of the text; empty without one
	body    int32   // where the main part begins in the text
}

// sourceRun is a stretch of the text, up to the next one. It came from source on, byte by byte; or, if that is negative, all of it from
// ^source: a character reference, or what is shown as a space, a line break or a cell border.
type sourceRun struct{ text, source int32 }

// add records the origin of what is written at a position of the text.
func (p *htmlSource) add(text, source int) {
	if n := len(p.runs); n > 0 && source >= 0 && p.runs[n-1].source >= 0 {
		if last := p.runs[n-1]; int(last.source-last.text) == source-text {
			return
		}
	}
	p.runs = append(p.runs, sourceRun{int32(text), int32(source)})
}

// source returns the origin of a part of the text.
func (p *htmlSource) source(from, to int) (first, end int) {
	first, _ = p.origin(from)
	if to <= from {
		return first, first
	}
	_, end = p.origin(to - 1)
	return first, max(first, end)
}

// origin returns the origin of the byte at a position of the text.
func (p *htmlSource) origin(at int) (first, end int) {
	i := sort.Search(len(p.runs), func(i int) bool { return int(p.runs[i].text) > at }) - 1
	if i < 0 {
		return 0, 0
	}
	run := p.runs[i]
	if run.source >= 0 {
		first = int(run.source) + at - int(run.text)
		return first, first + 1
	}
	first = int(^run.source)
	if p.content[first] != '&' {
		return first, first
	}
	_, size := characterReference(p.content[first:])
	return first, first + size
}

func (p *htmlSource) size() int64 { return int64(cap(p.runs)) * 8 }

// The maximum length of a character reference in bytes, with and without a final semicolon.
const (
	maxReference     = 40
	maxOpenReference = 8
)

// characterReference decodes the character reference at the start of a text and returns its length; 1 if there is none.
func characterReference(text string) (string, int) {
	end := 1
	for end < min(len(text), maxReference) && (text[end] == '#' && end == 1 || IsLetter(text[end]) || IsDigit(text[end])) {
		end++
	}
	if end < len(text) && text[end] == ';' {
		end++
	}
	for ; end > 2; end = min(end-1, maxOpenReference) {
		plain := html.UnescapeString(text[:end])
		if plain != html.UnescapeString(text[:end-1])+text[end-1:end] { // its last character belongs to it
			return plain, end
		}
	}
	return "&", 1
}

package content

import (
	"bytes"
	"unicode/utf8"
)

// Outliner builds an Outline.
type Outliner struct {
	marks    []outlineMark
	position outlineMark // up to which everything is counted
	pending  []byte      // the start of an incomplete character, not counted yet
	last     byte
	notText  bool // some of it is not text
	items    itemOutliner
}

// NewOutliner begins an outline.
func NewOutliner() *Outliner { return &Outliner{marks: make([]outlineMark, 1)} }

// Feed takes the next chunk and does not keep it. It never fails: each invalid UTF-8 byte counts as one character.
func (o *Outliner) Feed(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	o.items.feed(chunk)
	o.last = chunk[len(chunk)-1]
	if len(o.pending) > 0 {
		chunk = o.complete(chunk)
	}
	rest := len(chunk) - unfinished(chunk)
	o.pending = append(o.pending, chunk[rest:]...)
	for chunk = chunk[:rest]; len(chunk) > 0; {
		size := o.untilMark(chunk)
		o.count(chunk[:size])
		chunk = chunk[size:]
	}
}

// Outline completes the outline.
func (o *Outliner) Outline() *Outline {
	o.count(o.pending)
	if end := len(o.marks) - 1; o.marks[end].at < o.position.at || end == 0 {
		o.marks = append(o.marks, o.position)
	}
	out := &Outline{marks: o.marks, text: !o.notText, lines: o.position.ends, items: o.items.outline()}
	if o.position.at > 0 && o.last != '\n' {
		out.lines++
	}
	return out
}

// complete continues the character that the previous chunk began, and returns the rest.
func (o *Outliner) complete(chunk []byte) []byte {
	for len(chunk) > 0 && !utf8.FullRune(o.pending) && !utf8.RuneStart(chunk[0]) {
		o.pending = append(o.pending, chunk[0])
		chunk = chunk[1:]
	}
	if len(chunk) > 0 || utf8.FullRune(o.pending) {
		o.count(o.pending)
		o.pending = o.pending[:0]
	}
	return chunk
}

// unfinished returns how many bytes at the end of a chunk begin an incomplete character.
func unfinished(chunk []byte) int {
	for size := 1; size < utf8.UTFMax && size <= len(chunk); size++ {
		if end := chunk[len(chunk)-size:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return size
		}
	}
	return 0
}

// untilMark returns how much of a chunk lies before the next mark. A mark lies at the start of a character: after three continuation bytes,
// a fourth belongs to none.
func (o *Outliner) untilMark(chunk []byte) int {
	size := int(min(max(o.marks[len(o.marks)-1].at+outlineStep-o.position.at, 1), int64(len(chunk))))
	for more := 0; more < utf8.UTFMax-1 && size < len(chunk) && !utf8.RuneStart(chunk[size]); more++ {
		size++
	}
	return size
}

// count counts complete characters.
func (o *Outliner) count(chars []byte) {
	o.notText = o.notText || !utf8.Valid(chars) || bytes.IndexByte(chars, 0) >= 0
	o.position.at += int64(len(chars))
	o.position.chars += int64(utf8.RuneCount(chars))
	o.position.ends += int64(bytes.Count(chars, []byte{'\n'}))
	if o.position.at-o.marks[len(o.marks)-1].at >= outlineStep {
		o.marks = append(o.marks, o.position)
	}
}

package content

import (
	"bytes"
	"errors"
	"sort"
	"unicode/utf8"
)

// Unit is what a range counts.
type Unit int8

// The units of ranges.
const (
	UnitBytes Unit = iota
	UnitChars      // Unicode code points
	UnitLines
	UnitItems // of a JSON array, or of the one array in an object
)

// Outline finds ranges in a content that is too large for memory. It is built in one pass over the content, and takes about one byte per
// thousand. It is immutable and safe for concurrent use.
type Outline struct {
	marks []outlineMark // in order; the first is the beginning, the last is the end
	items outlineItems
	lines int64
	text  bool
}

// outlineMark is the number of characters and line ends before a position, at which a character begins.
type outlineMark struct{ at, chars, ends int64 }

// outlineStep is the distance between two marks in bytes.
const outlineStep = 32 << 10

// Chars returns the number of characters.
func (o *Outline) Chars() int64 { return o.end().chars }

// Lines returns the number of lines, including a last one without a line end.
func (o *Outline) Lines() int64 { return o.lines }

// Items returns the number of items. It is false unless the content is a JSON array, or a JSON object with exactly one array among its
// members.
func (o *Outline) Items() (int64, bool) { return o.items.count, o.items.found }

// Text reports whether all of the content is UTF-8 without NUL.
func (o *Outline) Text() bool { return o.text }

// Size returns the memory that the outline takes, in bytes.
func (o *Outline) Size() int64 { return int64(cap(o.marks))*24 + int64(cap(o.items.marks))*24 + 128 }

func (o *Outline) end() outlineMark { return o.marks[len(o.marks)-1] }

// ErrOutline is returned by Find if the content that it reads is shorter than the one that was outlined.
var ErrOutline = errors.New("the content is shorter than its outline")

// Find returns the bytes of a half-open range, clamped to the content; an empty range if there is nothing. read returns [from, to) of the
// content, at most a few hundred KiB per call; its errors are returned. Items come with the commas between them, without the brackets
// around them; a content without items has no item ranges.
func (o *Outline) Find(unit Unit, from, to int64, read func(from, to int64) ([]byte, error)) (first, end int64, err error) {
	from = max(from, 0)
	to = max(from, to)
	if unit == UnitItems {
		return o.items.find(from, to, read)
	}
	if first, err = o.position(unit, from, read); err != nil {
		return 0, 0, err
	}
	if end, err = o.position(unit, to, read); err != nil {
		return 0, 0, err
	}
	return first, end, nil
}

// position returns where the nth byte, character or line begins, or the end of the content.
func (o *Outline) position(unit Unit, n int64, read func(from, to int64) ([]byte, error)) (int64, error) {
	switch {
	case unit == UnitBytes || n == 0:
		return min(n, o.end().at), nil
	case unit == UnitChars && n >= o.end().chars, unit == UnitLines && n > o.end().ends:
		return o.end().at, nil
	}
	i := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].count(unit) > n }) - 1
	chunk, err := o.read(i, read)
	if err != nil {
		return 0, err
	}
	mark := o.marks[i]
	if unit == UnitChars {
		return mark.at + afterChars(chunk, n-mark.chars), nil
	}
	return mark.at + afterLines(chunk, n-mark.ends), nil
}

// count returns what is compared with the number of a character or line. The nth line begins after the nth line end, so a mark right after
// that is already too far.
func (m outlineMark) count(unit Unit) int64 {
	if unit == UnitChars {
		return m.chars
	}
	return m.ends + 1
}

// read returns the content between a mark and the next.
func (o *Outline) read(mark int, read func(from, to int64) ([]byte, error)) ([]byte, error) {
	from, to := o.marks[mark].at, o.marks[mark+1].at
	chunk, err := read(from, to)
	if err == nil && int64(len(chunk)) < to-from {
		err = ErrOutline
	}
	return chunk, err
}

// afterChars returns the length of the first n characters in bytes.
func afterChars(chunk []byte, n int64) int64 {
	at := 0
	for ; n > 0 && at < len(chunk); n-- {
		_, size := utf8.DecodeRune(chunk[at:])
		at += size
	}
	return int64(at)
}

// afterLines returns the length of the first n lines in bytes.
func afterLines(chunk []byte, n int64) int64 {
	at := 0
	for ; n > 0; n-- {
		size := bytes.IndexByte(chunk[at:], '\n')
		if size < 0 {
			return int64(len(chunk))
		}
		at += size + 1
	}
	return int64(at)
}

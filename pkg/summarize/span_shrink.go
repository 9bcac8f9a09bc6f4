package summarize

import (
	"slices"
	"unicode/utf8"
)

// texts returns pointers to all texts of the document.
func (d *spanDocument) texts() []*string {
	var all []*string
	for i := range d.Earlier {
		all = append(all, &d.Earlier[i])
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		all = append(all, &m.Text)
		for k := range m.Calls {
			all = append(all, &m.Calls[k].Name, &m.Calls[k].Arguments)
		}
		for k := range m.Results {
			all = append(all, &m.Results[k].Tool, &m.Results[k].Text)
		}
	}
	return all
}

// resultTexts returns pointers to the texts of what tools returned.
func (d *spanDocument) resultTexts() []*string {
	var all []*string
	for i := range d.Messages {
		for k := range d.Messages[i].Results {
			all = append(all, &d.Messages[i].Results[k].Text)
		}
	}
	return all
}

// leastResult is what is left of a result, in characters, while texts of people are whole.
const leastResult = 400

// shrink reduces the document to at most maxChars characters: first what tools returned, then all texts.
func (d *spanDocument) shrink(maxChars int) {
	size := d.chars()
	if size <= maxChars || cutLongest(d.resultTexts(), size, maxChars, leastResult) {
		return
	}
	texts := d.texts()
	size = d.chars()
	for _, text := range texts {
		size -= escapedChars(*text)
	}
	if size > maxChars && d.dropMiddles() {
		d.shrink(maxChars)
		return
	}
	cutLongest(texts, d.chars(), maxChars, 0)
}

// cutLongest cuts the longest of a document's texts, each to least characters at least, so that the document has maxChars of so many. It
// says whether that is enough.
func cutLongest(texts []*string, size, maxChars, least int) bool {
	sizes := make([]int, len(texts))
	for i, text := range texts {
		sizes[i] = escapedChars(*text)
		size -= sizes[i]
	}
	limit := levelLimit(sizes, maxChars-size)
	enough := limit >= least && size <= maxChars
	limit = max(limit, least)
	for i, text := range texts {
		if sizes[i] > limit {
			*text = cutMiddle(*text, limit)
		}
	}
	return enough
}

// levelLimit returns the length to which the longest texts must be cut so that all fit the room.
func levelLimit(sizes []int, room int) int {
	ascending := slices.Sorted(slices.Values(sizes))
	for i, size := range ascending {
		share := room / (len(ascending) - i)
		if size > share {
			return max(share, 0)
		}
		room -= size
	}
	return room
}

// dropMiddles omits the middle half of the longest lists; false if no list has anything to omit.
func (d *spanDocument) dropMiddles() bool {
	longest := len(d.Messages)
	for i := range d.Messages {
		longest = max(longest, len(d.Messages[i].Calls), len(d.Messages[i].Results))
	}
	if longest < 3 {
		return false
	}
	d.Messages = keepEnds(d.Messages, longest)
	for i := range d.Messages {
		d.Messages[i].Calls = keepEnds(d.Messages[i].Calls, longest)
		d.Messages[i].Results = keepEnds(d.Messages[i].Results, longest)
	}
	return true
}

func keepEnds[T any](all []T, longest int) []T {
	if len(all) < longest {
		return all
	}
	side := (longest + 3) / 4
	return slices.Delete(all, side, len(all)-side)
}

// cutMarker replaces the middle of a text.
const cutMarker = "\n[the middle is left out]\n"

// cutMiddle cuts a text to limit escaped characters: three quarters from its start, the rest from its end.
func cutMiddle(text string, limit int) string {
	room := limit - escapedChars(cutMarker)
	if room < 0 {
		return text[:headOffset(text, limit)]
	}
	tail := room / 4
	return text[:headOffset(text, room-tail)] + cutMarker + text[tailOffset(text, tail):]
}

func headOffset(text string, room int) int {
	for at, c := range text {
		if room -= escapedSize(c); room < 0 {
			return at
		}
	}
	return len(text)
}

func tailOffset(text string, room int) int {
	at := len(text)
	for at > 0 {
		c, size := utf8.DecodeLastRuneInString(text[:at])
		if room -= escapedSize(c); room < 0 {
			break
		}
		at -= size
	}
	return at
}

func escapedChars(text string) int {
	n := 0
	for _, c := range text {
		n += escapedSize(c)
	}
	return n
}

// escapedSize returns how many characters the JSON encoder writes for one.
func escapedSize(c rune) int {
	switch {
	case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
		return 2
	case c < ' ' || c == '\u2028' || c == '\u2029':
		return 6
	default:
		return 1
	}
}

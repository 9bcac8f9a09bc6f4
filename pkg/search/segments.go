package search

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// segment is a sentence, a line or a part of one: excerpts begin and end at segment borders.
type segment struct {
	from, to     int32 // bytes, without the white space around
	first, after int32 // characters before its first, and up to its last, from where cutting began
}

// Longer sentences are cut at commas or between words, because an excerpt that begins with one would have no room for the next.
const segmentChars = 240

// segmenter splits a text into segments.
type segmenter struct {
	text          string
	lines         bool // each line is independent
	starts        []int32
	softLimit     int32 // length in characters from which a segment is cut at punctuation
	hardLimit     int32 // and from which it is cut anywhere
	isData        bool  // starts are those of data items
	wholeItem     bool  // the current item fits a passage, so that only a start ends the segment
	passageChars  int32 // characters of a passage
	out           []segment
	chars         int32
	from          int32 // where the current segment begins
	first         int32
	comma         segmentMark // the last places where a long segment may be cut
	space         segmentMark
	clusterEndsAt int32 // where the one grapheme cluster ends that makes the current segment long
}

type segmentMark struct{ at, chars int32 }

// segments splits text[from:to] for passages of at most maxChars characters.
func segments(r *content.Reading, from, to int, maxChars int32) []segment {
	starts := r.Starts()
	starts = starts[sort.Search(len(starts), func(i int) bool { return starts[i] > int32(from) }):]
	c := segmenter{text: r.Text[:to], lines: r.Kind == content.KindLines || r.Kind == content.KindCode, isData: r.IsData(), starts: starts, passageChars: maxChars}
	c.begin(from)
	c.reset(int32(from))
	for i := from; i < to; {
		if len(c.starts) > 0 && c.starts[0] <= int32(i) {
			c.starts = c.starts[1:]
			c.end(int32(i))
			c.begin(i)
		}
		r, n := rune(c.text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(c.text[i:])
		}
		i += n
		c.chars++
		c.step(r, i)
	}
	c.end(int32(to))
	return c.out
}

// begin decides how the segment that begins at a byte is cut. A data item that fits a passage stays whole; a longer one is cut like text,
// or what crosses a border would be in no passage.
func (c *segmenter) begin(from int) {
	c.softLimit = min(segmentChars, (c.passageChars-1)/2)
	c.hardLimit = 2 * c.softLimit
	if !c.isData {
		return
	}
	end := len(c.text)
	if len(c.starts) > 0 {
		end = min(end, int(c.starts[0]))
	}
	if c.wholeItem = charsWithin(c.text[from:max(from, end)], c.passageChars); c.wholeItem {
		c.softLimit, c.hardLimit = c.passageChars-1, c.passageChars-1
	}
}

// step handles the character before i.
func (c *segmenter) step(r rune, i int) {
	switch {
	case c.wholeItem:
		if (r == '\n' || r == ',' || r == ' ') && c.isClusterEnd(r, i) {
			c.space = segmentMark{int32(i), c.chars}
		}
	case r == '\n':
		if c.lineEnds(i) {
			c.end(int32(i))
		} else {
			c.space = segmentMark{int32(i), c.chars}
		}
	case (r == ' ' || r == '\t' || r == 0x3000) && c.isClusterEnd(r, i):
		c.space = segmentMark{int32(i), c.chars}
		if c.sentenceEnds(i - utf8.RuneLen(r)) {
			c.end(int32(i))
		}
	case r == '。' || r == '！' || r == '？' || r == '｡' || r == '‼' || r == '⁇':
		if next, _ := utf8.DecodeRuneInString(c.text[i:]); !isClosingMark(next) && c.isClusterEnd(r, i) {
			c.end(int32(i))
		}
	case isClosingMark(r) && c.isClusterEnd(r, i):
		if before, _ := utf8.DecodeLastRuneInString(c.text[:i-utf8.RuneLen(r)]); before == '。' || before == '！' || before == '？' {
			c.end(int32(i))
		}
	case (r == ',' || r == ';' || r == ':' || r == '，' || r == '；' || r == '、' || r == '：' || r == '،' || r == '؛') && c.isClusterEnd(r, i):
		c.comma = segmentMark{int32(i), c.chars}
	}
	if c.chars-c.first > c.softLimit {
		c.cutLong(int32(i))
	}
}

// isClusterEnd reports whether a grapheme cluster ends with the character before i.
func (c *segmenter) isClusterEnd(r rune, i int) bool {
	if i >= len(c.text) || c.text[i] < utf8.RuneSelf {
		return true
	}
	n := utf8.RuneLen(r)
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(c.text[i-n:min(i+utf8.UTFMax, len(c.text))], -1)
	return len(cluster) == n
}

// lineEnds reports whether the line end before i ends more than a wrapped line.
func (c *segmenter) lineEnds(i int) bool {
	if c.lines || i >= len(c.text) || c.text[i] == '\n' || c.text[i] == '\r' {
		return true
	}
	next, _ := utf8.DecodeRuneInString(c.text[i:])
	start := strings.LastIndexByte(c.text[max(0, i-512):i-1], '\n') + 1 + max(0, i-512)
	return i-start < 60 || !unicode.IsLower(next)
}

// sentenceEnds reports whether a sentence ends at i, where white space begins.
func (c *segmenter) sentenceEnds(i int) bool {
	before, n := utf8.DecodeLastRuneInString(c.text[:i])
	for isClosingMark(before) && i-n > int(c.from) {
		i -= n
		before, n = utf8.DecodeLastRuneInString(c.text[:i])
	}
	switch before {
	case '.':
		return !unicode.IsLower(c.next(i)) && !c.abbreviation(i-1)
	case '!', '?', '…', '।', '॥', '؟', '۔', '։', '።':
		return !unicode.IsLower(c.next(i))
	}
	return isAlphabetic(before) && isAlphabetic(c.next(i))
}

// next returns the first character after closing marks and white space at i, within a limit.
func (c *segmenter) next(i int) rune {
	for _, r := range c.text[i:min(i+32, len(c.text))] {
		if r != ' ' && r != '\t' && r != 0x3000 && !isClosingMark(r) {
			return r
		}
	}
	return ' '
}

// abbreviation reports whether an initial or a short title precedes the full stop at i.
func (c *segmenter) abbreviation(i int) bool {
	from := i
	for from > int(c.from) && i-from < 16 {
		r, n := utf8.DecodeLastRuneInString(c.text[:from])
		if !unicode.IsLetter(r) {
			break
		}
		from -= n
	}
	word := c.text[from:i]
	first, n := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) && len(word) <= 3 && (len(word) == n || unicode.IsLower(rune(word[len(word)-1])))
}

func isClosingMark(r rune) bool {
	switch r {
	case ')', ']', '"', '\'', '”', '’', '»', '」', '』', '）', '】', '》':
		return true
	}
	return false
}

// cutLong ends a segment that grew too long: at its last comma if that leaves more than half, else at its last white space.
func (c *segmenter) cutLong(i int32) {
	switch {
	case c.comma.chars-c.first > c.softLimit/2:
		c.endAt(c.comma)
	case c.space.chars-c.first > c.softLimit/2:
		c.endAt(c.space)
	case c.chars-c.first > c.hardLimit && i >= c.clusterEndsAt:
		if at := c.clusterBorder(i); at > c.from {
			c.endAt(segmentMark{at, c.chars - int32(utf8.RuneCountInString(c.text[at:i]))})
		} else if c.clusterEndsAt = c.clusterEnd(); c.clusterEndsAt <= i {
			c.end(i)
		}
	}
}

func (c *segmenter) endAt(m segmentMark) {
	chars := c.chars
	c.chars = m.chars
	c.end(m.at)
	c.chars = chars
}

// end ends the current segment at a byte, and begins the next there.
func (c *segmenter) end(at int32) {
	from, first, to, after := c.from, c.first, at, c.chars
	for from < to {
		r, n := utf8.DecodeRuneInString(c.text[from:to])
		if !unicode.IsSpace(r) {
			break
		}
		from += int32(n)
		first++
	}
	for to > from {
		r, n := utf8.DecodeLastRuneInString(c.text[from:to])
		if !unicode.IsSpace(r) {
			break
		}
		to -= int32(n)
		after--
	}
	if from < to {
		c.out = append(c.out, segment{from: from, to: to, first: first, after: after})
	}
	c.reset(at)
}

func (c *segmenter) reset(at int32) {
	c.from, c.first = at, c.chars
	c.comma, c.space = segmentMark{at, c.chars}, segmentMark{at, c.chars}
}

// clusterBorder returns the last grapheme cluster border up to i; the start of the segment if its first cluster extends beyond.
func (c *segmenter) clusterBorder(i int32) int32 {
	rest, state, at := c.text[c.from:min(int(i)+utf8.UTFMax, len(c.text))], -1, c.from
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+int32(len(cluster)) > i {
			break
		}
		at += int32(len(cluster))
	}
	return at
}

// clusterEnd returns the end of the segment's first grapheme cluster; 0 if no passage could hold it, so that it is cut.
func (c *segmenter) clusterEnd() int32 {
	most := content.CharOffset(c.text[c.from:], int(c.passageChars))
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(c.text[c.from:min(int(c.from)+most+utf8.UTFMax, len(c.text))], -1)
	if len(cluster) > most {
		return 0
	}
	return c.from + int32(len(cluster))
}

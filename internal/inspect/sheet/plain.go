package sheet

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	zeroWidthNonJoiner = '\u200c' // Persian is misspelled without it
	zeroWidthJoiner    = '\u200d' // emoji fall apart without it
)

// unprintable says whether a character must not reach a terminal. Line breaks and tabs are among them: who wants them keeps them.
func unprintable(r rune) bool {
	if r == zeroWidthJoiner || r == zeroWidthNonJoiner {
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// Plain is text in one line, without what must not reach a terminal: white space becomes one space. It stops behind so many bytes.
func Plain(text string, most int, ascii bool) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case b.Len() >= most:
			return inASCII(b.String(), ascii)
		case unicode.IsSpace(r):
			space = true
			continue
		case unprintable(r):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return inASCII(b.String(), ascii)
}

// PlainLines is text for a terminal in its own lines.
func PlainLines(text string, ascii bool) string {
	return inASCII(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unprintable(r) {
			return -1
		}
		return r
	}, text), ascii)
}

// drawn is what stands in ASCII for what commands draw with.
var drawn = map[string]string{"─": "-", "█": "#", "░": ".", "·": ".", "→": ">", "…": "~", "✓": "+"}

// inASCII writes one character of ASCII for what is drawn as one: a question mark where nothing stands for it.
func inASCII(text string, ascii bool) string {
	if !ascii {
		return text
	}
	var b strings.Builder
	for cluster := range clusters(text) {
		if len(cluster) > 1 {
			cluster = cmp.Or(drawn[cluster], "?")
		}
		b.WriteString(cluster)
	}
	return b.String()
}

// MaxCluster bounds what is drawn as one character, in bytes: any number of accents can stand on one letter.
const MaxCluster = 64

// clusters yields what is drawn as one character each.
func clusters(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		state := -1
		for text != "" {
			var cluster string
			cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
			if len(cluster) > MaxCluster {
				cluster = string(utf8.RuneError)
			}
			if !yield(cluster) {
				return
			}
		}
	}
}

// Cut shortens text to so many columns; what is cut ends with a mark.
func Cut(text string, width int, mark string) string {
	if len(text) <= width {
		return text // no character takes more columns than bytes
	}
	var b strings.Builder
	used, fits := 0, 0 // fits: bytes after which the mark has room
	for cluster := range clusters(text) {
		used += uniseg.StringWidth(cluster)
		if used > width {
			return strings.TrimRight(b.String()[:fits], " ") + strings.Repeat(mark, min(1, width))
		}
		b.WriteString(cluster)
		if used < width {
			fits = b.Len()
		}
	}
	return b.String()
}

// CutStart keeps the last columns of a row of letters, which is where things happen.
func CutStart(row string, width int) string {
	runes := []rune(row)
	if len(runes) <= width {
		return row
	}
	return "…" + string(runes[len(runes)-width+1:])
}

// pad fills text up with spaces to so many columns.
func pad(text string, width int, right bool) string {
	room := strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
	if right {
		return room + text
	}
	return text + room
}

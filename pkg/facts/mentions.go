package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// EachMention calls found for each machine-readable name in a text (path, address, id, number, error), in order and with repetitions.
func EachMention(text string, found func(kind conversation.FactKind, text string)) {
	w := mentionScanner{text: text, found: found}
	w.run()
}

// MaxText is the maximum length of a fact that is not a rule, in characters.
const MaxText = 200

// Clean returns a text on one line, without control characters and cut to limit characters.
func Clean(text string, limit int) string {
	text = OneLine(text)
	if utf8.RuneCountInString(text) > limit {
		text = text[:CharOffset(text, limit-1)] + "…"
	}
	return text
}

// mentionScanner finds facts in one pass over a text with bounded look-ahead, so its time is linear on any input.
type mentionScanner struct {
	text     string
	found    func(kind conversation.FactKind, text string)
	errorEnd int // where the error that was found last ends
}

func (w *mentionScanner) run() {
	for at := 0; at < len(w.text); {
		size := wordSize(w.text[at:])
		if size == 0 {
			at += skipNonWord(w.text[at:])
			continue
		}
		end := at + size
		for n := size; n > 0; end += n {
			n = wordSize(w.text[end:])
		}
		at = w.word(at, end)
	}
}

// wordSize returns the length of the word character at the start of a text, or 0. Scripts without spaces between words end a word.
func wordSize(text string) int {
	if text == "" {
		return 0
	}
	if c := text[0]; c < utf8.RuneSelf {
		if IsWordByte(c) || strings.IndexByte("-./~@+#%$", c) >= 0 {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if r < 0x2e80 && (unicode.IsLetter(r) || unicode.IsMark(r)) || strings.ContainsRune("€£¥₹", r) {
		return size
	}
	return 0
}

// IsWordByte reports whether a byte can be part of a name in code, so that no other name begins or ends next to it.
func IsWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipNonWord returns how many bytes at the start of a text belong to no word, including the letters of an escape sequence in JSON or on a
// terminal.
func skipNonWord(text string) int {
	rest := strings.TrimLeft(text[:min(len(text), maxEscapeBytes)], `\`)
	n := min(len(text), maxEscapeBytes) - len(rest)
	switch {
	case n == 0 && text[0] != '\x1b':
		_, n = utf8.DecodeRuneInString(text)
		return n
	case n == 0 || strings.HasPrefix(rest, "u001b["):
		n += len(rest) - len(strings.TrimLeft(rest, "\x1bu01b["))
		return n + ansiSize(text[n:])
	case rest != "" && rest[0] == 'u':
		return min(len(text), n+len("u0000"))
	case rest != "" && strings.IndexByte("nrtbf", rest[0]) >= 0:
		return n + 1
	default:
		return n
	}
}

// maxEscapeBytes limits how far an escape sequence is searched for.
const maxEscapeBytes = 16

// ansiSize returns the length of the rest of an ANSI escape sequence.
func ansiSize(text string) int {
	n := 0
	for n < len(text) && n < maxEscapeBytes && (isDigit(text[n]) || text[n] == ';') {
		n++
	}
	if n < len(text) && isLetter(text[n]) {
		return n + 1
	}
	return n
}

// word handles the word between two positions, and returns where to continue.
func (w *mentionScanner) word(start, end int) int {
	w.errorLine(start, end)
	for _, form := range []func(start, end int) int{w.url, w.drivePath, w.number} {
		if next := form(start, end); next > start {
			return next
		}
	}
	before := byte(' ')
	if start > 0 {
		before = w.text[start-1]
	}
	w.name(w.text[start:end], before)
	return end
}

// url takes a word followed by :// up to the end of the address.
func (w *mentionScanner) url(start, end int) int {
	if !strings.HasPrefix(w.text[end:], "://") || !isLetter(w.text[end-1]) {
		return 0
	}
	for start < end && strings.IndexByte("-./~@+#%$_", w.text[start]) >= 0 {
		start++
	}
	stop := end + len("://")
	for stop < len(w.text) && (w.text[stop] > ' ' && w.text[stop] < utf8.RuneSelf && strings.IndexByte("\"'`<>\\|{}^[]", w.text[stop]) < 0) {
		stop++
	}
	address := strings.TrimRight(w.text[start:stop], ".,;:!?*/")
	if !strings.Contains(address, "(") {
		address = strings.TrimRight(address, ").,;:!?*/")
	}
	if len(address) <= len("https://") {
		return 0
	}
	w.innerIDs(address)
	w.found(conversation.FactURL, Clean(address, MaxText))
	return stop
}

// drivePath takes a Windows path, whose separators may be doubled as in JSON.
func (w *mentionScanner) drivePath(start, end int) int {
	if end-start != 1 || !isLetter(w.text[start]) || len(w.text) < end+3 || w.text[end] != ':' || strings.IndexByte(`\/`, w.text[end+1]) < 0 {
		return 0
	}
	stop := end + 1
	for stop < len(w.text) && (w.text[stop] == '\\' || wordSize(w.text[stop:]) > 0) {
		stop += max(1, wordSize(w.text[stop:]))
	}
	path := strings.TrimRight(w.text[start:stop], `\/.-`)
	if strings.Count(path, `\`) == 1 && strings.IndexByte("nrt", w.text[end+2]) >= 0 {
		return 0 // the end of a line, escaped
	}
	if len(path) > 3 && len(path) <= MaxText {
		w.innerIDs(path)
		w.found(conversation.FactPath, path)
	}
	return stop
}

package facts

import (
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// name records what a word names, if anything, given the byte before it.
func (w *mentionScanner) name(word string, before byte) {
	word = trimName(word)
	if before == '<' {
		word = strings.TrimLeft(word, "/") // the end of an element
	}
	switch {
	case len(word) < 3 || len(word) > MaxText:
	case strings.Contains(word, "/"):
		w.slashedWord(word)
	case isEmail(word):
		w.found(conversation.FactID, word)
	case isCapitals(word) && (before == '"' || before == '\''):
		w.found(conversation.FactID, word) // a code, such as that of a booking
	default:
		w.plainWord(word)
	}
}

// isCapitals reports whether a word consists of capitals and is longer than most abbreviations.
func isCapitals(word string) bool {
	return len(word) > 4 && len(word) < 13 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// trimName strips what sentences, lists and options put around a word.
func trimName(word string) string {
	word = strings.TrimRight(word, "./-+@#%~$")
	for len(word) > 1 {
		next := word[1]
		switch word[0] {
		case '-', '+', '%', '$':
		case '.':
			if next == '/' || next == '.' || isLetter(next) {
				return word
			}
		case '#', '@', '~':
			if IsWordByte(next) || next == '/' {
				return word
			}
		case '/':
			if next != '/' {
				return word
			}
		default:
			return word
		}
		word = word[1:]
	}
	return word
}

func isEmail(word string) bool {
	user, host, ok := strings.Cut(word, "@")
	return ok && user != "" && strings.Contains(host, ".") && !strings.Contains(host, "@")
}

// slashedWord handles a word with a slash: a path if it begins or ends like one or has several folders; else separate words.
func (w *mentionScanner) slashedWord(word string) {
	rooted := strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	shape := newWordShape(word)
	switch {
	case shape.letters+shape.foreign == 0:
	case word[0] == '/' && !IsWordByte(word[1]) && strings.Count(word, "/") == 1:
	case rooted, strings.Count(word, "/") > 1, hasExtension(word):
		w.innerIDs(word)
		w.found(conversation.FactPath, word)
	case word[0] == '@':
		w.found(conversation.FactID, word) // a package of a scope
	default:
		before, after, _ := strings.Cut(word, "/")
		w.plainWord(before)
		w.plainWord(after)
	}
}

// hasExtension reports whether a path ends in a file extension.
func hasExtension(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name)-dot <= 8 && newWordShape(name[dot:]).letters > 0
}

// extensions are those of files that are named without a folder. None is a word of a language, or a common domain.
const extensions = " bash bat bmp bz2 c cc cfg conf cpp crt cs css csv cxx dart db docx dll erl ex exe exs gif go gradle gz h hpp hs " +
	"htm html ico ini ipynb jar java jpeg jpg js json jsonl jsx kt less lock log lua m4 md mdx mjs mov mp3 mp4 odt parquet patch pdf pem php pkl pl " +
	"png ppt pptx proto ps1 py pyc pyi pyx rar rb rs rst sass scala scss sh so sol sql sqlite svelte svg swift tar tex tf tgz tif tiff toml ts tsv " +
	"tsx ttf txt vue wasm wav webp whl woff xls xlsx xml yaml yml zig zip "

func isFileName(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	return dot > 0 && dot < len(word)-1 && word != "console.log" && strings.Contains(extensions, " "+strings.ToLower(word[dot+1:])+" ")
}

// plainWord handles a word without a slash.
func (w *mentionScanner) plainWord(word string) {
	if len(word) < 3 {
		return
	}
	shape := newWordShape(word)
	switch {
	case shape.foreign > 0:
	case isFileName(word):
		w.innerIDs(word)
		w.found(conversation.FactPath, word)
	case isMachineMade(word, shape):
		if !isUUID(word) {
			w.innerIDs(word)
		}
		w.found(conversation.FactID, word)
	case shape.letters > 0 && shape.dots > 0:
		w.dottedName(word)
	case shape.letters == 0 && shape.digits > 5: // too exact to be known without its text
		w.found(conversation.FactNumber, word)
	case isCode(word, shape):
		w.found(conversation.FactID, word)
	}
}

// dottedName handles a dotted name in code: a module path of at least three parts, and the identifiers in it.
func (w *mentionScanner) dottedName(word string) {
	parts := strings.Split(word, ".")
	if len(parts) > 2 && parts[0] != "this" && parts[0] != "self" && !newWordShape(word).camel {
		w.found(conversation.FactID, word)
	}
	for _, part := range parts {
		if isCode(part, newWordShape(part)) {
			w.found(conversation.FactID, part)
		}
	}
}

// isCode reports whether a word joins others as identifiers in code do.
func isCode(word string, s wordShape) bool {
	return len(word) > 4 && s.letters > 3 && (s.underscore || s.camel)
}

// innerIDs records the ids within a longer name, because text may refer to the same thing by either.
func (w *mentionScanner) innerIDs(word string) {
	for at := 0; at < len(word); at++ {
		start := at
		for at < len(word) && IsWordByte(word[at]) {
			at++
		}
		if part := word[start:at]; len(part) > 3 && len(part) < len(word) && len(part) <= MaxText && isMachineMade(part, newWordShape(part)) {
			w.found(conversation.FactID, part)
		}
	}
}

// isMachineMade reports whether a word has what natural words lack: digits among its letters, or many of them.
func isMachineMade(word string, s wordShape) bool {
	switch {
	case s.digits == 0 || s.foreign > 0:
		return false
	case word[0] == '#', s.dots > 1:
		return true
	case s.letters == 0:
		return s.digits > 4 && s.dots == 0
	default:
		return (len(word) > 3 || s.underscore) && !isCounted(word)
	}
}

// isCounted reports whether a word is an ordinal, or an adjective with a small number, such as 2-digit.
func isCounted(word string) bool {
	rest := strings.TrimLeft(word, "0123456789")
	if rest == "st" || rest == "nd" || rest == "rd" || rest == "th" {
		return true
	}
	return len(word)-len(rest) < 4 && len(rest) > 1 && rest[0] == '-' && strings.Trim(rest, "-abcdefghijklmnopqrstuvwxyz") == ""
}

func isUUID(word string) bool {
	return len(word) == 36 && word[8] == '-' && word[13] == '-' && word[18] == '-' && word[23] == '-'
}

// wordShape counts what a word consists of.
type wordShape struct {
	letters, digits, dots int
	foreign               int  // bytes outside ASCII
	underscore, camel     bool // words in it are joined as code joins them
}

func newWordShape(word string) wordShape {
	var s wordShape
	for i := range len(word) {
		switch c := word[i]; {
		case isDigit(c):
			s.digits++
		case isLetter(c):
			s.letters++
			s.camel = s.camel || i > 0 && c <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z'
		case c == '.':
			s.dots++
		case c == '_':
			s.underscore = s.underscore || s.letters > 0 && i < len(word)-1
		case c >= utf8.RuneSelf:
			s.foreign++
		}
	}
	return s
}

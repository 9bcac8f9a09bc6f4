package content

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// MaxBase64 is how long a run of base64 may be that stays in a text, in characters.
const MaxBase64 = 1000

// Bytes is what a run of base64 in a text stands for.
type Bytes struct {
	Type string // its media type, as its first bytes or what surrounds it say; empty if neither does
	Data string
}

// WithoutBase64 replaces runs of base64 in a text by lines that say what they are, and returns what they stood for, in order. recall is the
// call that brings the whole text back; empty for none. A run is more than MaxBase64 letters, digits, and + and / (or - and _), in one line
// or in lines of one length, with its padding, and decodes. Where neither a data: URL nor a member beside it gives its type, it has letters
// of both cases and digits (each at least a 64th of it) and few signs (at most a tenth): names, paths, hexadecimal and code have not. The
// time is linear in the text's length.
func WithoutBase64(text, recall string) (out string, found []Bytes) {
	w := bytesWriter{text: text, recall: recall}
	for i := 0; i+MaxBase64 < len(text); {
		// A run holds at least a line's length without anything else: where this character is of none, no run begins before it.
		probe := i + minLine - 1
		if !isOfRun(text[probe]) {
			i = probe + 1
			continue
		}
		at := probe
		for at > i && isOfRun(text[at-1]) {
			at--
		}
		for at <= probe {
			if n := notOfRun(text[at:]); n > 0 {
				at += n
				continue
			}
			run := readRun(text, at)
			w.take(&run)
			at = max(run.end, at+1)
		}
		i = at
	}
	if len(w.found) == 0 {
		return text, nil
	}
	w.out.WriteString(text[w.copied:])
	return w.out.String(), w.found
}

// bytesWriter writes a text with lines for runs.
type bytesWriter struct {
	text, recall string
	copied       int
	out          strings.Builder
	found        []Bytes
}

// take puts a line in the place of a run, if it is one.
func (w *bytesWriter) take(run *base64Run) {
	if run.chars <= MaxBase64 {
		return
	}
	start, declared := typeBeside(w.text, w.copied, run)
	data, ok := run.decode(w.text, declared != "")
	if !ok {
		return
	}
	it := Bytes{Type: typeOf(data, declared), Data: string(data)}
	w.out.WriteString(w.text[w.copied:start])
	w.out.WriteString(it.line(w.recall))
	w.found, w.copied = append(w.found, it), run.end
}

// isOfRun reports whether a byte can stand in a run, as it is or as JSON escapes it.
func isOfRun(c byte) bool { return kindOf[c] > 0 || c == '\\' }

// notOfRun is the length of what a text begins with if no run begins there: a character of none, or one that JSON escapes, such as a line feed.
func notOfRun(text string) int {
	switch {
	case text[0] != '\\':
		return 1 - min(int(kindOf[text[0]]), 1)
	case strings.HasPrefix(text, `\/`):
		return 0
	case strings.HasPrefix(text, `\u`):
		return len(`\u0000`)
	default:
		return len(`\n`)
	}
}

// line begins as the line of media does that are not shown (behaviour §4).
func (b *Bytes) line(recall string) string {
	mime := cmp.Or(b.Type, "unknown type")
	sum := sha256.Sum256([]byte(b.Data))
	if recall != "" {
		recall = ". Full text: " + recall
	}
	return fmt.Sprintf("[Media: %s, %d bytes, sha256 %x%s]", mime, len(b.Data), sum[:8], recall)
}

// What a character of base64 is.
const (
	upper = iota + 1
	lower
	digit
	sign    // + and /
	urlSign // - and _
)

var kindOf = func() (kinds [256]byte) {
	for c := byte('A'); c <= 'Z'; c++ {
		kinds[c], kinds[c-'A'+'a'] = upper, lower
	}
	for c := byte('0'); c <= '9'; c++ {
		kinds[c] = digit
	}
	kinds['+'], kinds['/'], kinds['-'], kinds['_'] = sign, sign, urlSign, urlSign
	return kinds
}()

// The lengths of lines that base64 is broken into.
const minLine, maxLine = 60, 128

// base64Run is a run of characters of base64 in a text.
type base64Run struct {
	start, end int
	chars      int // without padding, breaks and escapes
	of         [urlSign + 1]int
	plain      bool // no breaks and no escapes
}

// readRun reads on as far as a run goes, and never looks at a character twice but at the ends of lines.
func readRun(text string, start int) base64Run {
	run := base64Run{start: start, plain: true}
	width, line := 0, 0
	var before base64Run // as of the last break
	i := start
	for i < len(text) {
		if kind := kindOf[text[i]]; kind > 0 {
			run.of[kind]++
			run.chars, line, i = run.chars+1, line+1, i+1
			continue
		}
		if strings.HasPrefix(text[i:], `\/`) { // as some writers of JSON have it
			run.of[sign]++
			run.chars, line, i, run.plain = run.chars+1, line+1, i+2, false
			continue
		}
		n := lineBreak(text[i:])
		if n == 0 || line < minLine || line > maxLine || width > 0 && line != width || i+n == len(text) || kindOf[text[i+n]] == 0 {
			break
		}
		run.plain, run.end = false, i
		before, width, line, i = run, line, 0, i+n
	}
	if width > 0 && line != width && !endsLine(text[i:]) || line > width && width > 0 { // words behind the last line
		return before
	}
	for pad := 0; pad < 2 && i < len(text) && text[i] == '='; pad++ {
		i++
	}
	run.end = i
	return run
}

// lineBreak is the length of the break that a text begins with, as it is or as JSON has it; 0 if it begins with none.
func lineBreak(text string) int {
	for _, s := range []string{"\n", "\r\n", `\n`, `\r\n`} {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// endsLine reports whether a line ends, or the string that holds it.
func endsLine(text string) bool {
	text = strings.TrimLeft(text[:min(len(text), 2)], "=") + text[min(len(text), 2):min(len(text), 8)]
	return text == "" || lineBreak(text) > 0 || strings.IndexByte("\"'`<\\", text[0]) >= 0
}

// decode returns the bytes of a run; false if it is none. What is declared need not look like it.
func (r *base64Run) decode(text string, declared bool) ([]byte, bool) {
	if r.of[sign] > 0 && r.of[urlSign] > 0 || r.chars%4 == 1 {
		return nil, false
	}
	least := r.chars / 64
	if !declared && (r.of[upper] < least || r.of[lower] < least || r.of[digit] < least || r.of[sign]+r.of[urlSign] > r.chars/10) {
		return nil, false
	}
	run := strings.TrimRight(text[r.start:r.end], "=")
	if !r.plain {
		run = withoutBreaks.Replace(run)
	}
	encoding := base64.RawStdEncoding
	if r.of[urlSign] > 0 {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(run)
	return data, err == nil
}

var withoutBreaks = strings.NewReplacer("\r\n", "", "\n", "", `\r\n`, "", `\n`, "", `\/`, "/")

// besideChars is how far beside a run its type is looked for, in bytes.
const besideChars = 512

const mediaType = `([a-zA-Z]+(?:/|\\/)[a-zA-Z0-9.+-]+)`

var (
	dataURL    = regexp.MustCompile(`data:` + mediaType + `?(?:;[^,"' ]*)?;base64,$`)
	namedType  = regexp.MustCompile(`"` + mediaType + `\\*"\s*:\s*\\*"$`)
	typeMember = regexp.MustCompile(`(?i)"(?:mime_?type|media_?type|content_?type)\\*"\s*:\s*\\*"` + mediaType)
)

// typeBeside says where a run begins with what belongs to it, and its type: as its data: URL says, the name of the member that it is, or a
// member of the same object.
func typeBeside(text string, from int, run *base64Run) (start int, mime string) {
	before := text[max(from, run.start-besideChars):run.start]
	if at := dataURL.FindStringSubmatchIndex(before); at != nil {
		mime = "application/octet-stream"
		if at[2] >= 0 {
			mime = before[at[2]:at[3]]
		}
		return run.start - len(before) + at[0], plainType(mime)
	}
	if m := namedType.FindStringSubmatch(before); m != nil {
		return run.start, plainType(m[1])
	}
	before = before[strings.LastIndexAny(before, "{}")+1:]
	after := text[run.end:min(len(text), run.end+besideChars)]
	if end := strings.IndexAny(after, "{}"); end >= 0 {
		after = after[:end]
	}
	for _, beside := range []string{before, after} {
		if m := typeMember.FindStringSubmatch(beside); m != nil {
			return run.start, plainType(m[1])
		}
	}
	return run.start, ""
}

func plainType(mime string) string {
	mime = strings.ToLower(strings.ReplaceAll(mime, `\/`, "/"))
	if mime == "image/jpg" {
		return "image/jpeg"
	}
	return mime[:min(len(mime), 100)]
}

// signatures are how bytes of a type begin.
var signatures = []struct{ begins, mime string }{
	{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"}, {"GIF89a", "image/gif"},
	{"%PDF-", "application/pdf"}, {"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"ID3", "audio/mpeg"},
	{"OggS", "audio/ogg"}, {"fLaC", "audio/flac"}, {"BM", "image/bmp"}, {"\x00asm", "application/wasm"},
}

// typeOf is the type that bytes begin as, else the one that is declared.
func typeOf(data []byte, declared string) string {
	const form = 8 // where RIFF says what it holds
	if bytes.HasPrefix(data, []byte("RIFF")) && len(data) > form+4 {
		switch string(data[form : form+4]) {
		case "WEBP":
			return "image/webp"
		case "WAVE":
			return "audio/wav"
		}
	}
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s.begins)) && (len(s.begins) > 2 || declared == "") {
			return s.mime
		}
	}
	return declared
}

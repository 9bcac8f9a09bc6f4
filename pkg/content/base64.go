package content

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// MinBase64 is how many characters of base64 are text still: keys, signatures and tokens are shorter.
const MinBase64 = 1000

// Lines of base64 are joined if they are as long as tools that break them make them: 64 (PEM) or 76 (MIME) characters.
const minBase64Line = 60

// minUpper: one of so many characters must be upper case. Of bytes that are random it is two of five, of zeros nearly all.
const minUpper = 8

// maxDataURL is how much of a data: URL stands before its bytes.
const maxDataURL = 200

// Base64 is a run of base64 in a text.
type Base64 struct {
	Start, End int    // in bytes; of a data: URL, all of it
	MIMEType   string // that a data: URL says; else empty
	Data       []byte
}

// Line is what stands for the run in a text. It can stand in a JSON string.
func (b *Base64) Line(more string) string {
	return fmt.Sprintf("[Base64 left out: %s, %d bytes, SHA-256 %x.%s]", b.MIMEType, len(b.Data), sha256.Sum256(b.Data), more)
}

// FindBase64 returns the runs of base64 in a text that are longer than MinBase64 characters: of either alphabet, with lower case, digits and
// much upper case in it (words have little, and digests none), in one line or broken into lines, as they are or in a JSON string.
func FindBase64(text string) []Base64 {
	if len(text) <= MinBase64 {
		return nil
	}
	var out []Base64
	for at := 0; at < len(text); at++ {
		if !isBase64(text[at]) {
			continue
		}
		s := base64Scan{text: text, end: at}
		s.run()
		if b, ok := s.decoded(at); ok {
			out = append(out, b)
		}
		at = s.end
	}
	return out
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// base64Scan is a run while it is read.
type base64Scan struct {
	text                 string
	end                  int
	bare                 []byte // the characters without what breaks lines
	line                 int    // characters of the line so far
	upper, lower, digits int
	standard, url        bool // which alphabet the last two characters are of
}

// run reads from a character of the alphabet on.
func (s *base64Scan) run() {
	for s.end < len(s.text) {
		switch c := s.text[s.end]; {
		case isBase64(c):
			s.take(c)
			s.end++
		case strings.HasPrefix(s.text[s.end:], `\/`): // as PHP writes it in JSON
			s.take('/')
			s.end += 2
		default:
			n := breakAt(s.text[s.end:])
			if n == 0 || s.line < minBase64Line || !goesOn(s.text[s.end+n:], s.line) {
				return
			}
			s.end, s.line = s.end+n, 0
		}
	}
}

func (s *base64Scan) take(c byte) {
	switch {
	case 'a' <= c && c <= 'z':
		s.lower++
	case 'A' <= c && c <= 'Z':
		s.upper++
	case '0' <= c && c <= '9':
		s.digits++
	case c == '+' || c == '/':
		s.standard = true
	default:
		s.url = true
	}
	s.bare, s.line = append(s.bare, c), s.line+1
}

// breakAt is the length of a line break: as it is, or in a JSON string.
func breakAt(text string) int {
	for _, b := range []string{"\n", "\r\n", `\n`, `\r\n`} {
		if strings.HasPrefix(text, b) {
			return len(b)
		}
	}
	return 0
}

// goesOn reports whether the next line is one of the run: of nothing else, and no longer than the one before it.
func goesOn(text string, line int) bool {
	n := 0
	for n < len(text) && n <= line && isBase64(text[n]) {
		n++
	}
	rest := strings.TrimLeft(text[n:], "=")
	return 0 < n && n <= line && (rest == "" || rest[0] == '"' || breakAt(rest) > 0)
}

// decoded is the run that was read, if it is long enough, and base64.
func (s *base64Scan) decoded(start int) (Base64, bool) {
	if len(s.bare) <= MinBase64 || s.upper < len(s.bare)/minUpper || s.lower == 0 || s.digits == 0 || s.standard && s.url {
		return Base64{}, false
	}
	for n := 0; n < 2 && strings.HasPrefix(s.text[s.end:], "="); n++ {
		s.end++
	}
	encoding := base64.RawStdEncoding
	if s.url {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(string(s.bare))
	if err != nil {
		return Base64{}, false
	}
	b := Base64{Start: start, End: s.end, Data: data}
	before := s.text[max(0, start-maxDataURL):start]
	if at := strings.LastIndex(before, "data:"); at >= 0 && strings.HasSuffix(before, ";base64,") && !strings.ContainsAny(before[at:], "\" \n\\'()<>") {
		b.Start = start - len(before) + at
		b.MIMEType, _, _ = strings.Cut(before[at+len("data:"):], ";")
	}
	return b, true
}

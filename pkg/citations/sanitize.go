package citations

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// replaceControls replaces control characters except white space. It does not change the number of characters.
func replaceControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// maxLabel is how long a name in the first line of a citation may be, in characters.
const maxLabel = 60

// bracketSafe makes a name safe for a line in brackets, whoever chose it.
func bracketSafe(name string) string {
	return content.CutChars(strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		}
		return r
	}, content.Head(name, 4*maxLabel)), maxLabel)
}

// maxShownURL is how much of a URL is shown, in bytes.
const maxShownURL = 150

// shortURL makes a URL safe for a line in brackets, and cuts it.
func shortURL(u string) string {
	short := len(u) <= maxShownURL
	if !short {
		u = u[:maxShownURL]
	}
	var b strings.Builder
	for i := range len(u) {
		if c := u[i]; c > ' ' && c < 0x7f && strings.IndexByte(`[]"<>`, c) < 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if !short {
		b.WriteString("...")
	}
	return b.String()
}

package provider

import (
	"strings"
	"unicode/utf8"
)

// maxNesting limits how deep a document may nest.
const maxNesting = 1000

// isDocument reports whether a text is one JSON value in UTF-8, as encoding/json has it. It reads whole lists at each step of an agent, at
// several times the speed.
func isDocument(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	c := checker{s: s}
	c.space()
	if !c.value(0) {
		return false
	}
	c.space()
	return c.i == len(s)
}

// checker is a place in a text that may be JSON. Its methods go behind what they find, or return false.
type checker struct {
	s string
	i int
}

// peek returns the next byte, 0 at the end.
func (c *checker) peek() byte {
	if c.i < len(c.s) {
		return c.s[c.i]
	}
	return 0
}

func (c *checker) space() {
	for c.i < len(c.s) && (c.s[c.i] == ' ' || c.s[c.i] == '\n' || c.s[c.i] == '\r' || c.s[c.i] == '\t') {
		c.i++
	}
}

func (c *checker) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.i++
	return true
}

func (c *checker) value(depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch c.peek() {
	case '{':
		return c.sequence('}', func() bool { return c.member(depth + 1) })
	case '[':
		return c.sequence(']', func() bool { return c.value(depth + 1) })
	case '"':
		return c.text()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

// sequence goes behind what an opening byte begins: elements with commas between them.
func (c *checker) sequence(end byte, element func() bool) bool {
	c.i++
	if c.space(); c.take(end) {
		return true
	}
	for {
		if !element() {
			return false
		}
		if c.space(); c.take(end) {
			return true
		}
		if !c.take(',') {
			return false
		}
		c.space()
	}
}

func (c *checker) member(depth int) bool {
	if c.peek() != '"' || !c.text() {
		return false
	}
	if c.space(); !c.take(':') {
		return false
	}
	c.space()
	return c.value(depth)
}

func (c *checker) word(w string) bool {
	if !strings.HasPrefix(c.s[c.i:], w) {
		return false
	}
	c.i += len(w)
	return true
}

func (c *checker) text() bool {
	for i := c.i + 1; i < len(c.s); i++ {
		switch b := c.s[i]; {
		case b == '"':
			c.i = i + 1
			return true
		case b < ' ':
			return false
		case b == '\\':
			if i++; i == len(c.s) || !isEscape(c.s[i:]) {
				return false
			}
		}
	}
	return false
}

// isEscape reports whether what stands behind a backslash makes an escape.
func isEscape(s string) bool {
	if s[0] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, s[0]) >= 0
	}
	return len(s) > 4 && strings.Trim(s[1:5], "0123456789abcdefABCDEF") == ""
}

func (c *checker) number() bool {
	c.take('-')
	if !c.take('0') && !c.digits() {
		return false
	}
	if c.take('.') && !c.digits() {
		return false
	}
	if !c.take('e') && !c.take('E') {
		return true
	}
	if !c.take('-') {
		c.take('+')
	}
	return c.digits()
}

func (c *checker) digits() bool {
	start := c.i
	for '0' <= c.peek() && c.peek() <= '9' {
		c.i++
	}
	return c.i > start
}

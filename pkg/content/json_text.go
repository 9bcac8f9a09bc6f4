package content

import "strings"

// The functions below run over text that is known to be JSON: they find the borders of its values, and check nothing.

// JSONSpace is the white space of JSON, also trimmed where lines are cut.
const JSONSpace = " \n\r\t"

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// SkipSpace returns the first position from at on that is not white space.
func SkipSpace(text string, at int) int {
	for at < len(text) && isJSONSpace(text[at]) {
		at++
	}
	return at
}

// skipJSONSpace returns the first position from at on that is neither white space nor one of others.
func skipJSONSpace(text string, at int, others string) int {
	for at < len(text) && (isJSONSpace(text[at]) || strings.IndexByte(others, text[at]) >= 0) {
		at++
	}
	return at
}

// JSONStringEnd returns the end of the string that begins at a position.
func JSONStringEnd(text string, at int) int {
	for at++; ; at++ {
		quote := strings.IndexByte(text[min(at, len(text)):], '"')
		if quote < 0 {
			return len(text)
		}
		at += quote
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// JSONValueEnd returns the end of the value that begins at a position.
func JSONValueEnd(text string, at int) int { return jsonValueEnd(text, at, len(text)) }

// jsonValueEnd stops soon after limit.
func jsonValueEnd(text string, at, limit int) int {
	for depth := 0; at < limit; {
		switch text[at] {
		case '"':
			at = JSONStringEnd(text, at)
		case '[', '{':
			depth++
			at++
			continue
		case ']', '}':
			depth--
			at++
		default:
			for at++; at < len(text) && !bordersJSON(text[at]); {
				at++
			}
		}
		if depth <= 0 {
			return at
		}
	}
	return at
}

// bordersJSON reports whether a character ends a number or a word.
func bordersJSON(c byte) bool {
	switch c {
	case ',', ':', '[', ']', '{', '}', '"', ' ', '\n', '\r', '\t':
		return true
	default:
		return false
	}
}

package provider

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth limits the nesting of JSON from callers that is embedded. Providers' parsers give up at 100 (protobuf) or 128 (serde) levels,
// and a context that cannot be parsed ends the session.
const maxDepth = 64

const hexDigits = "0123456789abcdef"

// escapes holds the character after the backslash for each byte that must be escaped in a JSON string; 'u' means by number.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
	0x00: 'u', 0x01: 'u', 0x02: 'u', 0x03: 'u', 0x04: 'u', 0x05: 'u', 0x06: 'u', 0x07: 'u', 0x0b: 'u',
	0x0e: 'u', 0x0f: 'u', 0x10: 'u', 0x11: 'u', 0x12: 'u', 0x13: 'u', 0x14: 'u', 0x15: 'u', 0x16: 'u', 0x17: 'u',
	0x18: 'u', 0x19: 'u', 0x1a: 'u', 0x1b: 'u', 0x1c: 'u', 0x1d: 'u', 0x1e: 'u', 0x1f: 'u',
}

// AppendString appends s as a JSON string, escaping only what JSON requires; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		e := escapes[s[i]]
		if e == 0 {
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = append(dst, '\\', e)
		if e == 'u' {
			dst = append(dst, '0', '0', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		}
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendField appends a key, as it is, and a JSON string.
func AppendField(dst []byte, key, value string) []byte {
	return AppendString(append(dst, key...), value)
}

// AppendBase64 appends data as a JSON string in standard base64.
func AppendBase64(dst []byte, data string) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, []byte(data))
	return append(dst, '"')
}

// AppendDataURL appends data as a JSON string with a data: URL.
func AppendDataURL(dst []byte, mime, data string) []byte {
	dst = AppendString(dst, "data:"+mime+";base64,")
	dst = dst[:len(dst)-1]
	dst = base64.StdEncoding.AppendEncode(dst, []byte(data))
	return append(dst, '"')
}

// IsJSON reports whether s is JSON in valid UTF-8.
func IsJSON(s string) bool {
	return utf8.ValidString(s) && json.Valid([]byte(s))
}

// IsValue reports whether s can be embedded in other JSON unchanged, so that every provider's parser accepts it.
func IsValue(s string) bool {
	return IsJSON(s) && embeddable(s)
}

// IsObject reports whether s is a JSON object that can be embedded unchanged.
func IsObject(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return t != "" && t[0] == '{' && IsValue(s)
}

// embeddable checks valid JSON for what parsers refuse although the grammar allows it: deep nesting, half surrogate pairs, numbers beyond a
// float64.
func embeddable(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '"':
			n, ok := stringLength(s[i:])
			if !ok {
				return false
			}
			i += n - 1
		case c == '-' || '0' <= c && c <= '9':
			n := numberLength(s[i:])
			if _, err := strconv.ParseFloat(s[i:i+n], 64); err != nil {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// stringLength measures the JSON string at the start of s; false if it contains half of a surrogate pair.
func stringLength(s string) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
			if s[i] != 'u' {
				continue
			}
			switch unit := codeUnit(s, i-1); {
			case 0xdc00 <= unit && unit < 0xe000:
				return 0, false
			case 0xd800 <= unit && unit < 0xdc00:
				if !isLow(codeUnit(s, i+5)) {
					return 0, false
				}
				i += 6
			}
			i += 4
		}
	}
	return 0, false
}

// codeUnit reads \uXXXX at i, or returns 0 if there is no such escape.
func codeUnit(s string, i int) uint64 {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

func numberLength(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789+-.eE")) }

// mendSurrogates replaces each half of a surrogate pair that stands alone with U+FFFD: providers' parsers refuse the whole text because of
// one.
func mendSurrogates(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var out []byte
	start := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		switch unit := codeUnit(s, i); {
		case unit < 0xd800 || 0xe000 <= unit:
			i++
			continue
		case unit < 0xdc00 && isLow(codeUnit(s, i+6)):
			i += 11
			continue
		}
		out = append(append(out, s[start:i]...), "\uFFFD"...)
		i += 5
		start = i + 1
	}
	if out == nil {
		return s
	}
	return string(append(out, s[start:]...))
}

func isLow(unit uint64) bool { return 0xdc00 <= unit && unit < 0xe000 }

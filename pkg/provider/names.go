package provider

import (
	"strconv"
	"strings"
)

// maxName is how long a tool's name may be, with every provider.
const maxName = 64

// AppendCallID appends the id that a call is rendered with, as a JSON string: a function of the record, never of the window.
func AppendCallID(dst []byte, ordinal int32) []byte {
	dst = append(dst, `"call_`...)
	dst = strconv.AppendInt(dst, int64(ordinal), 10)
	return append(dst, '"')
}

// CallID is the id that a call is rendered with.
func CallID(ordinal int32) string { return "call_" + strconv.Itoa(int(ordinal)) }

// CleanName makes a tool's name legal: ASCII letters, digits, '_', '-' and what more says, at most 64 of them. It is the name
// itself where that is legal.
func CleanName(name, more string) string {
	clean := strings.Map(func(r rune) rune {
		if alphanumeric(r) || r == '_' || r == '-' || strings.ContainsRune(more, r) {
			return r
		}
		return '_'
	}, name)
	if clean == "" {
		return "_"
	}
	return clean[:min(len(clean), maxName)]
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// SameModel says whether reasoning of one model may go back to another. An empty name is any; a release date at the end does
// not matter, because providers answer a request for an alias with the name of the release.
func SameModel(a, b string) bool {
	return a == "" || b == "" || a == b || undated(a) == undated(b)
}

// undated cuts eight digits, hyphens between them allowed, with the separator before them.
func undated(model string) string {
	digits := 0
	for i := len(model) - 1; i > 0; i-- {
		switch c := model[i]; {
		case digits == 8:
			if c == '-' || c == '@' {
				return model[:i]
			}
			return model
		case '0' <= c && c <= '9':
			digits++
		case c != '-':
			return model
		}
	}
	return model
}

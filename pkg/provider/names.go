package provider

import (
	"strings"
	"unicode"
)

// maxName is the maximum length of a tool's name, with every provider.
const maxName = 64

// CleanName makes a tool's name legal with every provider: ASCII letters, digits, '_' and '-', at most 64 of them. Legal names are unchanged.
func CleanName(name string) string { return CleanNameWith(name, "") }

// CleanNameWith allows the characters in more, too.
func CleanNameWith(name, more string) string {
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

// SpeakerLine returns a line that names the speaker. No name can end the line, close its bracket or contain a tag.
func SpeakerLine(name string) string {
	return "[Speaker: " + strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>", r) || isHidden(r) {
			return '_'
		}
		return r
	}, name) + "]\n"
}

// CleanSpeaker makes a speaker's name legal for OpenAI's Chat: no white space, none of < | \ / >, and at most 64 characters. Legal names
// are unchanged.
func CleanSpeaker(name string) string {
	chars := 0
	return strings.Map(func(r rune) rune {
		switch chars++; {
		case chars > maxName:
			return -1
		case unicode.IsSpace(r) || strings.ContainsRune(`<|\/>`, r) || isHidden(r):
			return '_'
		default:
			return r
		}
	}, name)
}

// isHidden reports whether a character is invisible but controls how text is shown: control characters, line separators, directions, tags.
// Joiners of letters and emoji are not included. The list is explicit, because bytes must not change with Unicode's version.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || r == 0x61c || r == 0x200b || r == 0x200e || r == 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2060 <= r && r <= 0x206f || r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || 0xe0000 <= r && r <= 0xe007f
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

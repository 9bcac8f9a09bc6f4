package content

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Paragraph is a run of lines that belong together.
type Paragraph struct {
	Text string
	Line int // the number of its first line
}

// Paragraphs joins lines that a sentence continues over, keeping the line breaks. before is the number of lines before them.
func Paragraphs(lines []string, before int) (all []Paragraph) {
	open := false
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			open = false
			continue
		case open:
			all[len(all)-1].Text += "\n" + line
		default:
			all = append(all, Paragraph{Text: line, Line: before + i + 1})
		}
		last, _ := utf8.DecodeLastRuneInString(line)
		open = len(line) > 40 && !EndsSentence(last) && len(all[len(all)-1].Text) < maxParagraphBytes
	}
	return all
}

// maxParagraphBytes limits how many bytes of lines are joined.
const maxParagraphBytes = 4000

// EndsSentence reports whether a character can end a sentence.
func EndsSentence(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '…', ':':
		return true
	}
	return false
}

// LongestSentence is the length in bytes after which a sentence ends at the next comma or space.
const LongestSentence = 600

// Sentences splits a line of prose.
func Sentences(line string) (all []string) {
	start := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		i += size
		beforeASCII := i < len(line) && ' ' <= line[i] && line[i] < 0x7f // the border of a grapheme cluster
		if endsSentenceBefore(r, line[i:]) || (i-start > LongestSentence && (r == ' ' || r == '，') && beforeASCII) {
			all = appendText(all, line[start:i])
			start = i
		}
	}
	return appendText(all, line[start:])
}

func appendText(all []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		all = append(all, s)
	}
	return all
}

// endsSentenceBefore reports whether a sentence ends with a character, given the text after it.
func endsSentenceBefore(r rune, rest string) bool {
	switch r {
	case '。', '！', '？':
		next, _ := utf8.DecodeRuneInString(rest)
		return isCertainBorder(r, next)
	case '.', '!', '?':
		if len(rest) < 2 || (rest[0] != ' ' && rest[0] != '\n') {
			return false
		}
		next, _ := utf8.DecodeRuneInString(rest[1:])
		return unicode.IsUpper(next) || unicode.IsDigit(next) || next > 0x2e80 || next == '"' || next == '(' || next == '['
	}
	return false
}

package compaction

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// BoneChars is how short clipping can make a tool result, in characters, its annotation included.
const BoneChars = 200

// headShare is the share of the kept characters that comes from the beginning of a clipped text, in percent. Tool output
// says what it is at its head and how it ended at its tail.
const headShare = 60

// Clip returns what the view shows for a tool result that may weigh at most limit tokens: head, tail, and how to get the rest
// (behaviour §4). It is never shorter than BoneChars, even if that is over the limit. It is false if clipping saves nothing.
// The part's contents are inline, index is the message's.
func Clip(p conversation.Part, index int32, limit int64, counter tokens.Counter) (conversation.Part, bool) {
	text := ResultText(p.Result)
	chars := utf8.RuneCountInString(text)
	size := int(int64(chars) * max(limit, 0) / max(int64(p.Tokens), 1))
	shown := clipTo(text, chars, index, size)
	n, estimated := counter.Count(shown)
	// The estimate by proportion is near; a few steps of correction bring it under the limit.
	for int64(n) > limit && size > BoneChars {
		size = min(size*9/10, int(int64(size)*limit/int64(n)))
		shown = clipTo(text, chars, index, size)
		n, estimated = counter.Count(shown)
	}
	if int64(n) >= int64(p.Tokens) {
		return p, false
	}
	r := *p.Result
	r.Output, r.Text, r.Parts = conversation.OutputText, conversation.Content{Inline: shown}, nil
	return conversation.Part{Kind: conversation.PartToolResult, Result: &r, Tokens: int32(n), Estimated: estimated}, true
}

// clipTo cuts text of so many characters to about size characters, at least BoneChars, its annotation included.
func clipTo(text string, chars int, index int32, size int) string {
	size = max(size, BoneChars)
	if chars <= size {
		return text
	}
	keep := size - utf8.RuneCountInString(annotation(chars, chars, chars, index))
	// Its figures may have fewer digits than the text's length: what that frees is shown too.
	keep = size - utf8.RuneCountInString(annotation(keep*headShare/100, keep-keep*headShare/100, chars, index))
	head := keepHead(text, keep*headShare/100)
	tail := keepTail(text, keep-keep*headShare/100)
	return head + annotation(utf8.RuneCountInString(head), utf8.RuneCountInString(tail), chars, index) + tail
}

func annotation(head, tail, chars int, index int32) string {
	return fmt.Sprintf("\n...\n[Clipped: first %d and last %d of %d characters shown. Full text: expand_message(%d)]\n...\n",
		head, tail, chars, index)
}

// keepHead returns at most n characters from the beginning, without cutting what is drawn as one.
func keepHead(text string, n int) string {
	end := offset(text, n)
	for end > 0 && end < len(text) && joined(text, end) {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return text[:end]
}

// keepTail returns at most n characters from the end, without cutting what is drawn as one.
func keepTail(text string, n int) string {
	start := len(text)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	for start > 0 && start < len(text) && joined(text, start) {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	return text[start:]
}

// offset is where the nth character begins, or the end of the text.
func offset(text string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

const zeroWidthJoiner = '\u200d'

// joined says whether the characters on both sides of the position are drawn as one: a mark or a variation after its letter, a
// sequence held together by a joiner, a skin tone, a line feed after its carriage return, the two halves of a flag, a Korean
// syllable written letter by letter.
func joined(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return before == zeroWidthJoiner || after == zeroWidthJoiner ||
		unicode.In(after, unicode.M, unicode.Other_Grapheme_Extend) ||
		'\U0001f3fb' <= after && after <= '\U0001f3ff' || before == '\r' && after == '\n' ||
		regional(before) && regional(after) && oddRegionals(text[:at]) || syllable(before, after)
}

func regional(r rune) bool { return '\U0001f1e6' <= r && r <= '\U0001f1ff' }

// oddRegionals says whether a text ends in the first half of a flag.
func oddRegionals(text string) bool {
	n := 0
	for {
		r, size := utf8.DecodeLastRuneInString(text[:len(text)-n])
		if !regional(r) {
			return n/4%2 == 1
		}
		n += size
	}
}

// syllable says whether a Korean letter goes on with the syllable before it: leading consonant, vowel, trailing consonant.
func syllable(before, after rune) bool {
	leading, vowel := hangul(before, 0x1100, 0x115f), hangul(before, 0x1160, 0x11a7)
	whole := hangul(before, 0xac00, 0xd7a3)
	open := whole && (before-0xac00)%28 == 0
	switch {
	case hangul(after, 0x1160, 0x11a7):
		return leading || vowel || open
	case hangul(after, 0x11a8, 0x11ff):
		return vowel || whole || hangul(before, 0x11a8, 0x11ff)
	default:
		return leading && (hangul(after, 0x1100, 0x115f) || hangul(after, 0xac00, 0xd7a3))
	}
}

func hangul(r, first, last rune) bool { return first <= r && r <= last }

// ResultText is a tool result as one text; media in it is one line.
func ResultText(r *conversation.ToolResult) string {
	if r.Output != conversation.OutputParts {
		return r.Text.Inline
	}
	var b strings.Builder
	for i := range r.Parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		if m := r.Parts[i].Media; m != nil {
			b.WriteString(MediaLine(m))
		} else {
			b.WriteString(r.Parts[i].Text.Inline)
		}
	}
	return b.String()
}

// MediaLine is what stands for media where only text can.
func MediaLine(m *conversation.Media) string {
	if m.URI != "" {
		return fmt.Sprintf("[%s: %s]", m.MIMEType, m.URI)
	}
	return fmt.Sprintf("[%s, %d bytes]", m.MIMEType, m.Data.Bytes())
}

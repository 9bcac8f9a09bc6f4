package compaction

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// MinCutChars is the minimum of a text that a cut shows, in characters; with less room, the text is removed (behaviour §4).
const MinCutChars = 200

// UserText returns what the user typed in a message: the text of its parts that no plugin added.
func UserText(parts []conversation.Part) string {
	var words []string
	for i := range parts {
		if p := &parts[i]; p.Kind == conversation.PartText && p.Plugin == "" && p.Recalled == nil {
			words = append(words, p.Text.Inline)
		}
	}
	return strings.Join(words, "\n")
}

// CutWords returns how much of a message's words fits limit tokens: head and tail, at least MinCutChars characters. It is false if these
// weigh more.
func CutWords(text string, index int32, limit int64, counter tokens.Counter) (conversation.Cut, bool) {
	chars := utf8.RuneCountInString(text)
	weigh := func(size int) (conversation.Cut, int64) {
		c := headTailCut(text, index, chars, size)
		n, _ := counter.Count(RenderCut(text, c))
		return c, int64(n)
	}
	return largestCut(chars, weigh, limit)
}

// MinCut returns the shortest cut of a message's words.
func MinCut(text string, index int32) conversation.Cut {
	return headTailCut(text, index, utf8.RuneCountInString(text), MinCutChars)
}

func headTailCut(text string, index int32, chars, size int) conversation.Cut {
	if size >= chars {
		return conversation.Cut{Message: index, Head: int32(chars)}
	}
	head := utf8.RuneCountInString(keepHead(text, size*headShare/100))
	tail := utf8.RuneCountInString(keepTail(text, size-size*headShare/100))
	return conversation.Cut{Message: index, Head: int32(head), From: int32(chars - tail), Tail: int32(tail)}
}

// largestCut finds the largest cut of at least MinCutChars that weighs at most limit. Weights grow with the size, except at token borders.
// Its precision depends on the limit, not on the length of the text.
func largestCut(chars int, weigh func(size int) (conversation.Cut, int64), limit int64) (conversation.Cut, bool) {
	low, high := min(MinCutChars, chars), min(2*MinCutChars, chars)
	best, n := weigh(low)
	if n > limit {
		return conversation.Cut{}, false
	}
	for low < high {
		c, n := weigh(high)
		if n > limit {
			break
		}
		best, low, high = c, high, min(2*high, chars)
	}
	for high-low > max(8, low/1024) {
		middle := (low + high) / 2
		if c, n := weigh(middle); n <= limit {
			best, low = c, middle
		} else {
			high = middle
		}
	}
	return best, true
}

// RenderCut returns what a window shows of a message's words: the parts that remain, and how to retrieve the rest.
func RenderCut(text string, c conversation.Cut) string {
	chars := utf8.RuneCountInString(text)
	if int(c.Head) >= chars {
		return fmt.Sprintf("%s\n[Shortened to fit: the rest of the message is not shown. Full message: %s]", text, conversation.ExpandCall(c.Message))
	}
	return fmt.Sprintf("%s\n...\n[Shortened to fit: %d of %d characters shown. Full text: %s]\n...\n%s",
		text[:facts.CharOffset(text, int(c.Head))], c.Head+c.Tail, chars, conversation.ExpandCall(c.Message), cutTail(text, c))
}

// CutSummary returns how much of a summary fits limit tokens: of the list after its text at most listLimit tokens, and of the text what
// fits the rest. It is false if that is less than MinCutChars.
func CutSummary(text string, body int, id, limit, listLimit int64, counter tokens.Counter) (conversation.Cut, bool) {
	count := func(s string) int64 { n, _ := counter.Count(s); return int64(n) }
	words, list := text[:body], strings.TrimLeft(text[body:], "\n")
	c := conversation.Cut{Summary: id, From: int32(utf8.RuneCountInString(text) - utf8.RuneCountInString(list))}
	limit -= count(summaryNote)
	shown := listHead(list, min(listLimit, limit), count)
	c.Tail = int32(utf8.RuneCountInString(shown))
	head, ok := largestCut(utf8.RuneCountInString(words), func(size int) (conversation.Cut, int64) {
		kept := keepHead(words, size)
		return conversation.Cut{Head: int32(utf8.RuneCountInString(kept))}, count(kept)
	}, limit-count(shown))
	if ok {
		c.Head = head.Head
	}
	return c, c.Head+c.Tail >= min(MinCutChars, int32(utf8.RuneCountInString(text)))
}

// listHead returns the start of a list that weighs at most limit, cut between entries.
func listHead(list string, limit int64, count func(string) int64) string {
	chars := utf8.RuneCountInString(list)
	cut, ok := largestCut(chars, func(size int) (conversation.Cut, int64) {
		kept := keepHead(list, size)
		return conversation.Cut{Head: int32(utf8.RuneCountInString(kept))}, count(kept)
	}, limit)
	if !ok || int(cut.Head) == chars {
		return list[:facts.CharOffset(list, int(cut.Head))]
	}
	kept := list[:facts.CharOffset(list, int(cut.Head))]
	return kept[:max(0, strings.LastIndexAny(kept, " \n"))]
}

const summaryNote = "\n[Shortened to fit.]\n\n"

// ShowSummary returns what a window shows of a summary's text.
func ShowSummary(text string, c conversation.Cut) string {
	return text[:facts.CharOffset(text, int(c.Head))] + summaryNote + cutTail(text, c)
}

// cutTail returns the part of a cut after its gap.
func cutTail(text string, c conversation.Cut) string {
	rest := text[facts.CharOffset(text, int(c.From)):]
	return rest[:facts.CharOffset(rest, int(c.Tail))]
}

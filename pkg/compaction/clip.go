package compaction

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// MinClipChars is the minimum length to which clipping cuts a tool result, in characters, including its annotation.
const MinClipChars = 200

// headShare is the percentage of the kept characters that comes from the head of a clipped text: tool output says at its head what it is
// and at its tail how it ended.
const headShare = 60

// Clip returns what the view shows for a tool result that may weigh at most limit tokens: its head, its tail, and how to retrieve the rest
// (behaviour §4). It is never shorter than MinClipChars, even if that exceeds the limit; false if clipping saves nothing. The part's contents
// are inline. index is the message that the annotation names, unless the result was recalled from elsewhere.
func Clip(p conversation.Part, index int32, limit int64, counter tokens.Counter) (conversation.Part, bool) {
	recall := p.Result.Recall(index)
	text, bytes := content.WithoutBase64(p.Result.Lines(), recall)
	chars, weight := utf8.RuneCountInString(text), int64(p.Tokens)
	if len(bytes) > 0 {
		n, _ := counter.Count(text)
		weight = int64(n)
	}
	size := int(int64(chars) * max(limit, 0) / max(weight, 1))
	shown := clipToSize(text, chars, recall, size)
	n, estimated := counter.Count(shown)
	// The estimate by proportion is near; a few steps of correction bring it under the limit.
	for int64(n) > limit && size > MinClipChars {
		size = min(size*9/10, int(int64(size)*limit/int64(n)))
		shown = clipToSize(text, chars, recall, size)
		n, estimated = counter.Count(shown)
	}
	if int64(n) >= int64(p.Tokens) {
		return p, false
	}
	r := *p.Result
	r.Output, r.Text, r.Parts = conversation.OutputText, conversation.Content{Inline: shown}, nil
	return conversation.Part{Kind: conversation.PartToolResult, Result: &r, Tokens: int32(n), Estimated: estimated}, true
}

// clipToSize cuts a text to about size characters, at least MinClipChars, including its annotation.
func clipToSize(text string, chars int, recall string, size int) string {
	size = max(size, MinClipChars)
	if chars <= size {
		return text
	}
	keep := size - utf8.RuneCountInString(annotation(chars, chars, chars, recall))
	// Its numbers may have fewer digits than the text's length, which leaves room for more text.
	keep = size - utf8.RuneCountInString(annotation(keep*headShare/100, keep-keep*headShare/100, chars, recall))
	head := keepHead(text, keep*headShare/100)
	tail := keepTail(text, keep-keep*headShare/100)
	return head + annotation(utf8.RuneCountInString(head), utf8.RuneCountInString(tail), chars, recall) + tail
}

func annotation(head, tail, chars int, recall string) string {
	return fmt.Sprintf("\n...\n[Clipped: first %d and last %d of %d characters shown. Full text: %s]\n...\n",
		head, tail, chars, recall)
}

// keepHead returns at most n characters from the start, without cutting a grapheme cluster.
func keepHead(text string, n int) string {
	before, _ := clusterBorders(text, facts.CharOffset(text, n))
	return text[:before]
}

// keepTail returns at most n characters from the end, without cutting a grapheme cluster.
func keepTail(text string, n int) string {
	_, after := clusterBorders(text, facts.TailOffset(text, n))
	return text[after:]
}

// clusterLookBack limits how far back, in bytes, the start of a line is searched from which clusters are counted.
const clusterLookBack = 4 << 10

// clusterBorders returns the grapheme cluster borders (UAX #29) nearest to a position: the last one at or before it, and the first one at
// or after it.
func clusterBorders(text string, at int) (before, after int) {
	from := max(0, at-clusterLookBack)
	if line := strings.LastIndexByte(text[from:at], '\n'); line >= 0 {
		from += line + 1
	}
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	for from > 0 && endsInRegional(text[:from]) { // flags are pairs, counted from the first
		from -= utf8.UTFMax
	}
	before = from
	for after = from; after < at; {
		before = after
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[after:], -1)
		after += len(cluster)
	}
	if after == at {
		before = at
	}
	return before, after
}

// endsInRegional reports whether the last character of a text is a regional indicator: half a flag, four bytes long.
func endsInRegional(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return '\U0001f1e6' <= r && r <= '\U0001f1ff'
}

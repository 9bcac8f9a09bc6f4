package compaction

import (
	"fmt"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Original describes the text that something shorter replaces.
type Original struct {
	Recall string // the tool call that retrieves it, such as expand_message(12)
	Chars  int    // its length in Unicode code points
	Erased bool   // it cannot be retrieved
}

func (o Original) annotation(what string) string {
	if o.Erased {
		return "[" + what + "]"
	}
	return fmt.Sprintf("[%s Full text: %s]", what, o.Recall)
}

// FirstChars returns what the view shows for a text that is compacted to its first n characters (behaviour §5), or fewer where a grapheme
// cluster would be cut. It is false if the text is no longer than that.
func FirstChars(text string, n int, o Original) (string, bool) {
	if o.Chars <= n {
		return "", false
	}
	head := keepHead(text, n)
	what := fmt.Sprintf("Compacted: first %d of %d characters shown.", utf8.RuneCountInString(head), o.Chars)
	return head + "...\n\n" + o.annotation(what), true
}

// Summarized returns what the view shows for a text that a model summarized.
func Summarized(summary string, o Original) string {
	return o.annotation(fmt.Sprintf("Summary of %d characters.", o.Chars)) + "\n\n" + summary
}

// Extracted returns what the view shows for a text of which the sidecar made an extract.
func Extracted(extract string, o Original) string {
	return o.annotation(fmt.Sprintf("Extract of %d characters.", o.Chars)) + "\n\n" + extract
}

// Cleared returns the placeholder for an expired tool result, or expired words, in a unit that stays.
func Cleared(what string, o Original) string {
	return o.annotation("Expired " + what + " removed.")
}

// AnnotationChars is the approximate length of the annotation beside compacted text, in characters.
const AnnotationChars = 80

// WithText returns a tool result whose output is replaced with a text.
func WithText(r *conversation.ToolResult, text string) conversation.Part {
	shown := *r
	shown.Output, shown.Text, shown.Parts = conversation.OutputText, conversation.Content{Inline: text}, nil
	shown.Unknown = "" // Unknown belongs to the original alone
	return conversation.Part{Kind: conversation.PartToolResult, Result: &shown}
}

package dedup

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// quotedChars is how much of the first line is quoted, so that a reader finds the lines: nothing in a context says which message is which.
const quotedChars = 32

// Reference is the line that stands for lines of a text. first is the first of them that is not blank, and recall what brings the text
// back. parts says that the message has more texts than one.
func Reference(c *conversation.Copy, parts bool, first, recall string) string {
	part := ""
	if parts {
		part = fmt.Sprintf(", part %d", c.Part+1)
	}
	n := c.End - c.First
	first = strings.TrimSpace(first)
	if cut := first[:facts.CharOffset(first, quotedChars)]; cut != first {
		first = cut + "..."
	}
	return fmt.Sprintf("[%d lines as in message %d%s, lines %d-%d: %s. Full text: %s]", n, c.Message, part, c.At+1, c.At+n, first, recall)
}

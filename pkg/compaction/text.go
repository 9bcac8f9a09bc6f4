package compaction

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PartsText returns the text of a tool result, or of a message's words, as one text. Bytes in base64 are not words: each
// run of them is replaced with a line.
func PartsText(parts []conversation.Part) string {
	var b strings.Builder
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case conversation.PartToolResult:
			b.WriteString(p.Result.Lines())
		case conversation.PartText:
			b.WriteString(p.Text.Inline)
		}
	}
	text, _ := content.WithoutBase64(b.String(), "")
	return text
}

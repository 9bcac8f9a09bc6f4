package compaction

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PartsText is the text of a tool result, or of words, as one: with lines for bytes in base64, which are no words.
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

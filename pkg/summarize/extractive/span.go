package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Span returns an extract of about target characters of a stretch of conversation, with the summaries of what was before it
// (behaviour §8).
func Span(earlier []string, units []conversation.Unit, target int) string {
	return Extract(strings.Join(earlier, "\n")+"\n"+summarize.SpanContent(nil, units, 0), target)
}

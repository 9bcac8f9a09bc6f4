package summarize

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// fallbackSpanExtract is the extract of a service without ExtractSpan: the earlier summaries, what the user said, and the assistant's last
// message, each from its start, in equal shares.
func fallbackSpanExtract(earlier []string, units []conversation.Unit, target int) string {
	d := newSpanDocument(earlier, units)
	var users []string
	last := ""
	for _, m := range d.Messages {
		switch {
		case m.Text == "":
		case m.Role == conversation.RoleUser.String():
			users = append(users, m.Text)
		case m.Role == conversation.RoleAssistant.String():
			last = m.Text
		}
	}
	var texts []string
	for _, text := range []string{strings.Join(d.Earlier, "\n"), strings.Join(users, "\n"), last} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	for i, text := range texts {
		texts[i] = headChars(Filter(text), target/len(texts))
	}
	return strings.Join(texts, "\n\n")
}

package compaction

import (
	"regexp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

var wordForms = []struct {
	kind conversation.FactKind
	form *regexp.Regexp
}{
	{conversation.FactURL, regexp.MustCompile(`\bhttps?://[^\s"'<>\\]+`)},
	{conversation.FactPath, regexp.MustCompile(`[\w.~-]*(?:/[\w.@~-]+)+\.\w+`)},
	{conversation.FactID, regexp.MustCompile(`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[A-Z]{2,}-\d+\b|#?\b[A-Z]?\d{5,}\b|\b\w+_\w*\d\w*\b`)},
}

func (c *collector) text(text string) {
	for _, w := range wordForms {
		for _, found := range w.form.FindAllString(text, -1) {
			c.add(w.kind, clean(found, maxText), 1)
		}
	}
}

var ruleWords = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don't|should not|only|make sure|important|required|forbidden|from now on)\b`)

var sentence = regexp.MustCompile(`[^.!?\n]+(?:[.!?]+|\n|$)`)

func (c *collector) rules(text string) {
	for _, s := range sentence.FindAllString(text, -1) {
		if ruleWords.MatchString(s) {
			c.add(conversation.FactRule, clean(s, maxRule), 1)
		}
	}
}

package extractive

import (
	"regexp"
	"strings"
)

// ruleWords are the words of sentences that say what must, or must never, be done, in some languages.
var ruleWords = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don[’']t|should not|shouldn[’']t|only|make sure|important|required|forbidden|from now on|no longer|` +
	`muss|müssen|niemals|immer|auf keinen fall|verboten|darf|dürfen|jamais|toujours|interdit|nunca|siempre|jamás|prohibido|sempre|никогда|всегда|нельзя)\b|` +
	`必须|必須|不要|不得|绝不|絶対|總是|总是|务必|禁止|只能|必ず|してはいけ|しないで|항상|절대|반드시`)

// notRules are such words where somebody speaks of himself.
var notRules = regexp.MustCompile(`(?i)\b(?:i|we|they|it|that|you) (?:really |also |still )?(?:do not|don[’']t|only)\b`)

// saysRule says whether a sentence says what must, or must never, be done.
func saysRule(sentence string) bool {
	return ruleWords.MatchString(sentence) && ruleWords.MatchString(notRules.ReplaceAllString(sentence, ""))
}

// isIntent says whether a sentence of the assistant's says what comes next.
func isIntent(sentence string) bool {
	for _, begin := range []string{
		"Let me", "Let's", "I'll", "I will", "I’ll", "Now let", "Now I", "Next", "I need to", "I am going to", "I'm going to", "Let us", "First, let", "First, I",
		"TODO", "To do", "Then I", "We need to", "We should",
	} {
		if strings.HasPrefix(sentence, begin) {
			return true
		}
	}
	return strings.HasSuffix(sentence, ":") && strings.Contains(sentence, "let me")
}

// isFinding says whether a sentence says what was found, or decided.
func isFinding(sentence string) bool {
	lower := strings.ToLower(sentence)
	for _, word := range []string{
		"because", "the issue is", "the problem is", "found", "fixed", "decided", "instead", "turns out", "root cause", "confirmed", "works",
		"passes", "changed", "the reason", "therefore", "so that", "now ",
	} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

package span

import "strings"

// isIntent reports whether a sentence of the assistant announces its next step.
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

// isFinding reports whether a sentence states a finding or a decision.
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

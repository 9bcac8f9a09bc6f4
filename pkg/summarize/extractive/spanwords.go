package extractive

import (
	"strings"
	"unicode/utf8"
)

// saysRule says whether a sentence says what must, or must never, be done.
func saysRule(sentence string) bool {
	var first, second string // the two words before
	wide := false
	for i := 0; i < len(sentence); {
		if !inRuleWord(sentence[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(sentence) && inRuleWord(sentence[end]) {
			end++
		}
		wide = wide || sentence[i] >= utf8.RuneSelf
		word := ""
		if end-i <= longestRuleWord {
			word = strings.ToLower(sentence[i:end])
		}
		if isRuleWord(word) || isRulePair(first, second, word) {
			return true
		}
		first, second = second, word
		i = end
	}
	return wide && hasRuleMark(sentence)
}

func inRuleWord(c byte) bool { return isLetter(c) || c == '\'' || c >= utf8.RuneSelf }

// longestRuleWord is how many bytes a word of a rule has at most.
const longestRuleWord = 20

// isRuleWord knows the words of rules in some languages.
func isRuleWord(word string) bool {
	switch word {
	case "must", "mustn't", "mustn’t", "never", "always", "only", "important", "required", "forbidden", "shouldn't", "shouldn’t", "mandatory",
		"prohibited", "muss", "müssen", "musst", "niemals", "immer", "verboten", "darf", "dürfen", "jamais", "toujours", "interdit", "doit",
		"nunca", "siempre", "jamás", "prohibido", "debe", "sempre", "mai", "deve", "никогда", "всегда", "нельзя", "должен":
		return true
	}
	return false
}

// isRulePair knows rules of two words: the last two of three. Who says that he does not do a thing makes no rule.
func isRulePair(before, first, second string) bool {
	switch second {
	case "don't", "don’t":
		return !isPronoun(first)
	case "not":
		return first == "should" || first == "shall" || first == "do" && !isPronoun(before)
	case "sure":
		return first == "make"
	case "on":
		return before == "from" && first == "now"
	case "longer":
		return first == "no"
	}
	return false
}

func isPronoun(word string) bool {
	switch word {
	case "i", "we", "they", "it", "that", "you", "really", "also", "still":
		return true
	}
	return false
}

// hasRuleMark knows the words of rules in languages that do not part words by spaces, or not always.
func hasRuleMark(sentence string) bool {
	for _, mark := range []string{
		"必须", "必須", "不要", "不得", "绝不", "絶対", "总是", "總是", "务必", "禁止", "只能", "必ず", "してはいけ", "しないで", "항상", "절대", "반드시", "ห้าม", "ต้อง", "कभी नहीं", "हमेशा",
	} {
		if strings.Contains(sentence, mark) {
			return true
		}
	}
	return false
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

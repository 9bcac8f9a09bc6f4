package embedded

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

const (
	maxExtracted = 10  // facts drawn from one message
	maxSentence  = 300 // code points of a sentence with figures
)

// Extractive draws facts without a model: the sentences of users that state something in their own words, such as rules, preferences, names
// and figures. Questions, greetings and quoted code and reports state nothing.
func Extractive(_ context.Context, messages []memory.Message) (out []Extracted, _ error) {
	for i := range messages {
		m := &messages[i]
		if m.Role != conversation.RoleUser {
			continue
		}
		n := 0
		for sentence := range facts.Sentences(withoutCode(m.Text)) {
			if n < maxExtracted && statesSomething(sentence) {
				n++
				out = append(out, Extracted{Text: sentence, SaidBy: m.Speaker(), Indices: []int32{m.Index}})
			}
		}
	}
	return out, nil
}

// withoutCode returns a text without its fenced blocks.
func withoutCode(text string) string {
	if !strings.Contains(text, "```") {
		return text
	}
	var out []string
	for i, part := range strings.Split(text, "```") {
		if i%2 == 0 {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n")
}

// statesSomething says whether a sentence is worth remembering by itself.
func statesSomething(sentence string) bool {
	length := utf8.RuneCountInString(sentence)
	if length < 6 || length > facts.MaxRule || strings.ContainsAny(sentence, "?？؟{}") || facts.BeginsAsReport(sentence) {
		return false
	}
	return facts.IsRule(sentence) || statesOfSelf(sentence) || length <= maxSentence && hasFigures(sentence)
}

// hasFigures says whether a sentence of a few words names a figure, an address or an identifier.
func hasFigures(sentence string) (has bool) {
	const fewest = 3
	if len(strings.Fields(sentence)) < fewest {
		return false
	}
	facts.EachMention(sentence, func(kind conversation.FactKind, _ string) { has = has || kind != conversation.FactError })
	return has
}

// selfStatements begin what speakers say of themselves and of what is theirs, after words that say nothing.
var (
	openings = strings.Fields("and but so well oh also yes yeah no hi hey hello actually btw fyi please ok okay thanks sorry then now for from")
	selves   = []string{
		"i prefer", "i like", "i love", "i hate", "i dislike", "i enjoy", "i live", "i work", "i own", "i speak", "i study", "i drive", "i play",
		"i teach", "i always", "i never", "i usually", "i only", "i use", "i grew up", "i was born", "i moved", "i don't", "i do not", "i can't",
		"i cannot", "i no longer", "i have a", "i have an", "i have two", "i have three", "i am a", "i am an", "i am allergic", "i am from", "i am the",
		"i am vegan", "i am vegetarian", "i am married", "i am called", "i am based", "i am not", "i would rather", "i'd rather", "call me", "we live",
		"we moved", "we use", "we have a", "we have an", "we prefer", "remember", "note that", "keep in mind",
	}
	remarks = []string{"i don't know", "i do not know", "i don't think", "i can't wait", "i cannot wait", "i don't understand", "i do not understand", "i can't find", "i cannot find", "i am not sure", "i like that", "i love that", "i love it", "i like it", "i don't see", "i can't believe"}
)

// statesOfSelf says whether speakers say something of themselves, or what something of theirs is.
func statesOfSelf(sentence string) bool {
	words := firstPerson(wordsOf(sentence))
	for len(words) > 0 && slices.Contains(openings, words[0]) {
		words = words[1:]
	}
	const fewest = 3
	if len(words) < fewest {
		return false
	}
	begins := func(begin string) bool { return strings.HasPrefix(strings.Join(words, " ")+" ", begin+" ") }
	if slices.ContainsFunc(remarks, begins) {
		return false
	}
	if slices.ContainsFunc(selves, begins) {
		return true
	}
	own := words[0] == "my" || words[0] == "our"
	const near = 6 // words of what is theirs
	return own && slices.ContainsFunc(words[1:min(len(words), near+1)], func(w string) bool {
		return slices.Contains(copulas, w) || w == "has" || w == "have" || strings.HasSuffix(w, "s") && len(w) > 4
	})
}

package choice

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// terms are the words of a text and their weights: repeated words are what the text is about, ubiquitous ones say nothing.
type terms struct {
	id      map[string]int32
	weights []float64
	// unitTerms are the words of each unit, each once.
	unitTerms [][]int32
}

// maxCompared is about how many units are compared by their words; of more, a sample spread over the text.
const maxCompared = 5000

// maxTerms is how many words of a unit are considered.
const maxTerms = 40

// newTerms weighs the words of units.
func newTerms(all []Unit) *terms {
	t := &terms{id: map[string]int32{}, unitTerms: make([][]int32, len(all))}
	var in []int32
	step := 1 + len(all)/maxCompared
	for i := 0; i < len(all); i += step {
		t.unitTerms[i] = t.addUnit(all[i].Text)
		for _, id := range t.unitTerms[i] {
			for int(id) >= len(in) {
				in = append(in, 0)
			}
			in[id]++
		}
	}
	t.weights = make([]float64, len(in))
	for word, id := range t.id {
		n := float64(in[id])
		t.weights[id] = math.Log1p(n) * math.Log1p(float64(len(all))/n) * termWeight(word)
	}
	return t
}

// addUnit returns the words of a unit, each once.
func (t *terms) addUnit(s string) []int32 {
	var ids []int32
	eachTerm(s, func(word string) bool {
		id, ok := t.id[word]
		if !ok {
			id = int32(len(t.id))
			t.id[word] = id
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return len(ids) < maxTerms
	})
	return ids
}

// eachTerm yields the words of a text, and for scripts without spaces every pair of characters.
func eachTerm(s string, yield func(string) bool) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0x2e80:
			_, next := utf8.DecodeRuneInString(s[i+size:])
			if next > 1 && !yield(s[i:i+size+next]) {
				return
			}
			i += size
		case content.IsWord(s[i]) || r >= 0xc0:
			end := termEnd(s, i)
			if end-i > 2 && !yield(s[i:end]) {
				return
			}
			i = end
		default:
			i += size
		}
	}
}

func termEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= 0x2e80 || (r < 0xc0 && !content.IsWord(s[i])) {
			break
		}
		i += size
	}
	return i
}

// termWeight weighs a word by its form: numbers and identifiers more than words, function words hardly at all.
func termWeight(word string) float64 {
	if isFunctionWord(word) {
		return 0.1
	}
	for i := range len(word) {
		c := word[i]
		if content.IsDigit(c) || c == '_' || (i == 0 && 'A' <= c && c <= 'Z') || (i > 0 && 'A' <= c && c <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z') {
			return 1.5
		}
	}
	return 1
}

// isFunctionWord reports whether a word only connects others, in English or in code.
func isFunctionWord(word string) bool {
	switch word {
	case "really", "very", "just", "like", "want", "good", "great", "thanks", "Thanks", "make", "made", "know", "think", "get", "got", "going",
		"been", "more", "most", "some", "much", "many", "about", "over", "out", "only", "other", "one", "two", "own", "take", "keep", "give",
		"help", "lot", "way", "things", "thing", "time", "yeah", "Yeah", "hey", "Hey", "That", "What", "How", "You", "Your", "They", "She",
		"And", "But", "For", "Its", "There", "It", "In", "If", "When", "don", "didn", "doesn", "isn", "won", "let", "because", "while",
		"being", "does", "did", "said", "see", "use", "used", "using", "were",
		"the", "The", "and", "for", "that", "this", "This", "with", "are", "was", "not", "but", "from", "have", "has", "had",
		"its", "can", "will", "they", "their", "which", "who", "also", "than", "then", "into", "you", "your", "she", "her", "his",
		"him", "our", "any", "all", "would", "could", "should", "there", "when", "what", "how", "may", "these", "those", "such",
		"self", "return", "def", "None", "True", "False", "true", "false", "null", "nil", "const", "var", "func", "function",
		"public", "private", "static", "void", "new", "else", "elif", "case", "break", "int", "str", "string", "bool", "isinstance", "len":
		return true
	}
	return false
}

// maxCandidates is how many units the selection considers, by their individual scores.
const maxCandidates = 500

// Cover returns units in the order in which they should be given room (greedy coverage): each adds the most that those before it did not
// say, relative to its length. boost is a factor for each unit; 0 excludes it.
func Cover(all []Unit, boost func(i int) float64, most int) []int {
	t := newTerms(all)
	candidates, factor := t.candidates(all, boost)
	said := make([]bool, len(t.weights))
	var order []int
	for len(order) < most && len(candidates) > 0 {
		best, bestGain := 0, -1.0
		for k, c := range candidates {
			if gain := t.gain(c, all, said) * factor[c]; gain > bestGain {
				best, bestGain = k, gain
			}
		}
		c := candidates[best]
		order = append(order, c)
		for _, id := range t.unitTerms[c] {
			said[id] = true
		}
		candidates = slices.Delete(candidates, best, best+1)
	}
	return order
}

// candidates returns the units with the highest individual scores in the order of the text, and each unit's boost.
func (t *terms) candidates(all []Unit, boost func(i int) float64) (order []int, factor []float64) {
	none := make([]bool, len(t.weights))
	worth := make([]float64, len(all))
	factor = make([]float64, len(all))
	for i := range all {
		if len(t.unitTerms[i]) == 0 {
			continue
		}
		factor[i] = boost(i)
		if worth[i] = t.gain(i, all, none) * factor[i]; worth[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	order = order[:min(len(order), maxCandidates)]
	slices.Sort(order)
	return order, factor
}

// gain returns what a unit adds to what is already said, relative to its length including a label.
func (t *terms) gain(i int, all []Unit, said []bool) float64 {
	sum := 0.0
	for _, id := range t.unitTerms[i] {
		if !said[id] {
			sum += t.weights[id]
		}
	}
	return sum / math.Pow(float64(len(all[i].Text)+25), 0.8)
}

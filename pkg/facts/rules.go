package facts

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Weight is how binding a rule is, judged by its words.
type Weight int8

// The weights, lightest first.
const (
	NoRule     Weight = iota
	Remark            // has the words of a rule, but is about the speaker: "I do not know"
	Rule              // says what should, or should not, be done, or negates something
	StrictRule        // with must, never, always and their like
)

// MaxRule is the maximum length of a rule in characters (Unicode code points).
const MaxRule = 400

// Rules returns the sentences of a text that say what must, or must never, be done, including remarks, in order: each on one line of at
// most MaxRule characters. A long sentence is cut around the decisive words, several times if they are far apart. The caller knows who said
// them.
func Rules(text string) []string {
	var all []string
	for paragraph := range paragraphs(text) {
		for sentence := range sentences(paragraph) {
			all = append(all, rulesOf(OneLine(sentence))...)
		}
	}
	return all
}

// Sentences yields the sentences of a text, each on one line, without empty ones.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for paragraph := range paragraphs(text) {
			for sentence := range sentences(paragraph) {
				if line := OneLine(sentence); line != "" && !yield(line) {
					return
				}
			}
		}
	}
}

// WeightOf returns how binding a sentence is.
func WeightOf(sentence string) Weight {
	_, weight := ruleWord(sentence)
	return weight
}

// IsRule reports whether a sentence says what must, or must never, be done. Remarks do not count.
func IsRule(sentence string) bool { return WeightOf(sentence) >= Rule }

// CutRule cuts a rule to at most limit characters around its decisive words.
func CutRule(rule string, limit int) string {
	if utf8.RuneCountInString(rule) <= limit {
		return rule
	}
	at, _ := ruleWord(rule)
	cut, _ := excerptAround(rule, max(at, 0), limit)
	return cut
}

// paragraphs yields the lines of a text, joining those that were only wrapped: a line continues if the next begins in lower case.
func paragraphs(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for at := 0; at < len(text); {
			n := strings.IndexAny(text[at:], "\n\r\u2028\u2029")
			if n < 0 {
				break
			}
			_, size := utf8.DecodeRuneInString(text[at+n:])
			end := at + n
			at = end + size
			if strings.HasPrefix(text[end:], "\r\n") {
				at++
			}
			if isWrapped(text[start:end], text[at:]) {
				continue
			}
			if !yield(text[start:end]) {
				return
			}
			start = at
		}
		yield(text[start:])
	}
}

// isWrapped reports whether a line continues in the text after it.
func isWrapped(line, rest string) bool {
	line = strings.TrimRight(line, " \t")
	last, _ := utf8.DecodeLastRuneInString(line)
	rest = strings.TrimLeft(rest, " \t")
	next, _ := utf8.DecodeRuneInString(rest)
	return len(line) > 40 && (unicode.IsLetter(last) || last == ',') && unicode.IsLower(next)
}

// sentences yields those of a line. A full stop ends a sentence only before white space and anything but a lower-case letter; it does not
// after an abbreviation, in a number or a name, or after a list number.
func sentences(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for at, r := range line {
			end := at + utf8.RuneLen(r)
			if !endsSentence(r, line[start:at], line[min(end, len(line)):]) {
				continue
			}
			if !yield(line[start:end]) {
				return
			}
			start = end
		}
		yield(line[start:])
	}
}

func endsSentence(r rune, sentence, rest string) bool {
	switch r {
	case '。', '！', '？', '।', '؟', '۔', '｡':
		return true
	case '.', '!', '?', ';':
	default:
		return false
	}
	if rest == "" || !isBlank(rune(rest[0])) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[:min(len(rest), 16)], " \t"))
	return r != ';' && !unicode.IsLower(next) && strings.Trim(sentence, " \t0123456789") != ""
}

// rulesOf returns a sentence if it is a rule, or the parts of a long sentence that are.
func rulesOf(sentence string) []string {
	if utf8.RuneCountInString(sentence) <= MaxRule {
		if at, _ := ruleWord(sentence); at < 0 {
			return nil
		}
		return []string{sentence}
	}
	var out []string
	for from := 0; from < len(sentence); {
		window := sentence[from:min(len(sentence), from+2*MaxRule)]
		at, _ := ruleWord(window)
		if at < 0 {
			from += len(window)
			continue
		}
		rule, end := excerptAround(sentence, from+at, MaxRule)
		out = append(out, rule)
		from = end
	}
	return out
}

// excerptAround returns at most limit characters around a position, with an ellipsis where they are cut, and where the excerpt ends in the
// text.
func excerptAround(text string, at, limit int) (cut string, end int) {
	start := TailOffset(text[:at], limit/3)
	if start > 0 {
		start += strings.IndexByte(text[start:at], ' ') + 1 // the next word, if one begins before at
	}
	end = start + CharOffset(text[start:], limit-2)
	if end < len(text) {
		if space := strings.LastIndexByte(text[at:end], ' '); space > (end-at)/2 {
			end = at + space
		}
	}
	cut = text[start:end]
	if start > 0 {
		cut = "…" + cut
	}
	if end < len(text) {
		cut += "…"
	}
	return cut, end
}

// ruleWord returns the position of the words that make a text a rule, or -1, and how binding it is: the weightiest words win, then the
// first.
func ruleWord(text string) (at int, weight Weight) {
	at = -1
	found := func(i int, w Weight) (done bool) {
		if w > weight {
			at, weight = i, w
		}
		return weight == StrictRule
	}
	lower := toLowerSameSize(text)
	eachPhrase(lower, found)
	if weight < StrictRule && strings.ContainsFunc(lower, isUnspaced) {
		for _, p := range unspacedPhrases {
			if i := strings.Index(lower, p.words); i >= 0 && found(i, p.weight) {
				break
			}
		}
	}
	return at, weight
}

// isUnspaced reports whether a character belongs to a script that does not separate words with spaces.
func isUnspaced(r rune) bool { return r >= 0x2e80 || 0x0e00 <= r && r <= 0x0e7f } // East Asian, or Thai

// eachPhrase calls found for the phrases in a lower-case text, for languages with spaces between words, until it returns true.
func eachPhrase(text string, found func(at int, weight Weight) (done bool)) {
	before := ""
	spoken := make(map[string]bool) // which languages the text has words of, by their companions
	for start := 0; start < len(text); {
		end := start + lettersSize(text[start:])
		if end == start {
			_, size := utf8.DecodeRuneInString(text[start:])
			start += size
			continue
		}
		word := normalizeWord(text[start:end])
		for _, p := range phrases[word] {
			weight := p.weight
			switch {
			case !startsWithPhrase(text[end:], p.words), p.words == "" && !hasCompanion(text, companions[word], spoken):
				continue
			case weight == Rule && strings.Contains(firstPersons, " "+before+" "):
				weight = Remark
			}
			if found(start, weight) {
				return
			}
		}
		if start = end; !strings.Contains(adverbs, " "+word+" ") {
			before = word
		}
	}
}

// firstPersons are speakers who talk about themselves rather than instruct the assistant.
const firstPersons = " i we they he she it "

// adverbs may stand between the speaker and the verb.
const adverbs = " really also still just "

// hasCompanion reports whether a sentence has one of some words, or there are none to look for. It caches the answer in known.
func hasCompanion(sentence, words string, known map[string]bool) bool {
	if words == "" {
		return true
	}
	has, ok := known[words]
	if !ok {
		has = slices.ContainsFunc(strings.Fields(sentence), func(word string) bool {
			return strings.Contains(words, " "+strings.Trim(word, ",;:!?¿¡")+" ")
		})
		known[words] = has
	}
	return has
}

// normalizeWord returns a word as the phrases spell it: with a plain apostrophe, and without a contracted suffix.
func normalizeWord(word string) string {
	word = strings.ReplaceAll(word, "’", "'")
	switch {
	case strings.HasPrefix(word, "n'"):
		return "ne"
	case strings.HasPrefix(word, "must'"):
		return "must"
	default:
		return word
	}
}

// startsWithPhrase reports whether the remaining words of a phrase come next.
func startsWithPhrase(text, rest string) bool {
	if rest == "" {
		return true
	}
	text = strings.TrimLeft(text, " *_")
	return strings.HasPrefix(text, rest) && lettersSize(text[len(rest):]) == 0
}

// toLowerSameSize lowers a text without moving positions: a letter whose lower case has another size stays as it is.
func toLowerSameSize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if small := unicode.ToLower(r); small != r && utf8.RuneLen(small) == size {
			b.WriteRune(small)
		} else {
			b.WriteString(text[i : i+size])
		}
	}
	return b.String()
}

// lettersSize returns the length of the word at the start of a text.
func lettersSize(text string) int {
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’' {
			return i
		}
	}
	return len(text)
}

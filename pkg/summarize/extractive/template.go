package extractive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// template is what lines have in common that differ only in their variable parts: numbers, addresses, identifiers, times.
type template struct {
	// words are the hashes of its words, with variable parts masked.
	words []uint64
	level facts.Severity
	// count is how many lines begin with the template, first and last its outermost units.
	count, first, last int
	// novelty is how rare its words are in the text, from 0 to 1.
	novelty float64
}

// groupByTemplate groups units by template, in the order of their first unit, and returns the template of each unit.
func groupByTemplate(all []choice.Unit) (groups []template, of []int32) {
	of = make([]int32, len(all))
	seen := make(map[uint64]int32, len(all)/4+1)
	var words []uint64
	for i, u := range all {
		words = maskedWords(words[:0], u.Text)
		key := hashWords(words)
		g, ok := seen[key]
		if !ok {
			g = int32(len(groups))
			seen[key] = g
			level := facts.LineSeverity(u.Text)
			groups = append(groups, template{words: slices.Clone(words), level: level, first: i})
		}
		if !u.Rest {
			groups[g].count++
		}
		groups[g].last = i
		of[i] = g
	}
	return mergeSimilar(groups, of)
}

// maxWords is how many words of a line its template considers.
const maxWords = 48

// variableWord is the hash of a word without constant parts.
const variableWord uint64 = 1

// maskedWords appends the hashes of the words of a line, with variable parts masked. Consecutive variable words count as one.
func maskedWords(words []uint64, line string) []uint64 {
	for word := range strings.FieldsFuncSeq(line, isSeparator) {
		if len(words) == maxWords {
			break
		}
		if h := maskedHash(word); h != variableWord || len(words) == 0 || words[len(words)-1] != variableWord {
			words = append(words, h)
		}
	}
	return words
}

func isSeparator(r rune) bool { return r == ' ' || r == '\t' || r == '|' }

const (
	hashOffset uint64 = 14695981039346656037
	hashPrime  uint64 = 1099511628211
)

// maskedHash returns a word's hash (FNV-1a) with its variable runs masked, or variableWord if no letter is left.
func maskedHash(word string) uint64 {
	if isPath(word) {
		return variableWord
	}
	h, constant := hashOffset, false
	for i := 0; i < len(word); {
		end, varies := nextRun(word, i)
		if varies {
			h = (h ^ '#') * hashPrime
		} else {
			for _, c := range []byte(word[i:end]) {
				h = (h ^ uint64(c)) * hashPrime
				constant = constant || content.IsLetter(c) || c >= 0x80
			}
		}
		i = end
	}
	if !constant {
		return variableWord
	}
	return h | 2 // never the hash of a variable word
}

// dropVariables omits variable words from a line longer than n characters, with an ellipsis for each run of them: those at its start first
// (times, hosts, process numbers), then long ones anywhere.
func dropVariables(line string, n int) string {
	var b strings.Builder
	leading, omitted := true, false
	for i := 0; i < len(line) && b.Len() < 4*n; {
		start := i + len(line[i:]) - len(strings.TrimLeft(line[i:], " \t"))
		end := start
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		varies := end == start || maskedHash(line[start:end]) == variableWord
		leading = leading && varies
		switch {
		case leading || (varies && end-start > maxVariableShown):
			omitted = true
		case omitted:
			b.WriteString(content.Ellipsis + line[i:end])
			omitted = false
		default:
			b.WriteString(line[i:end])
		}
		i = end
	}
	if b.Len() == 0 {
		return line
	}
	return b.String()
}

// maxVariableShown is the length in bytes up to which a variable word is shown.
const maxVariableShown = 14

// isPath reports whether a word is the path of a file, or of a test in one.
func isPath(word string) bool {
	slash := strings.IndexByte(word, '/')
	if slash < 0 || strings.Contains(word, "://") {
		return false
	}
	return (slash <= 1 && strings.Count(word, "/") > 1) || strings.IndexByte(word[slash:], '.') > 0
}

// nextRun returns the end of the run of characters at a position that vary together or not: what contains a digit is variable.
func nextRun(word string, i int) (end int, varies bool) {
	end = i
	for end < len(word) && (content.IsWord(word[end]) || (end > i && joinsWord(word, end))) {
		varies = varies || content.IsDigit(word[end])
		end++
	}
	return max(end, i+1), varies
}

// joinsWord reports whether the character at a position is part of a name or number: of 10.2.0.1:80, blk_-12, 2024-05-01.
func joinsWord(word string, at int) bool {
	if at+1 >= len(word) || (!content.IsWord(word[at+1]) && word[at+1] != '-') {
		return false
	}
	switch word[at] {
	case '-', '.', '/', '\\', '@', '+', '%':
		return true
	case ':', ',':
		return content.IsDigit(word[at-1])
	}
	return false
}

func hashWords(words []uint64) uint64 {
	h := hashOffset
	for _, w := range words {
		h = (h ^ w) * hashPrime
		h ^= h >> 29
	}
	return h
}

// maxMergeCompared is how many templates of one shape another is compared with.
const maxMergeCompared = 24

// mergeSimilar merges templates that differ in one or two words, which are variable parts without digits: names of users, of hosts. Error
// reports are merged only if a single word differs.
func mergeSimilar(groups []template, of []int32) ([]template, []int32) {
	to := make([]int32, len(groups))
	byShape := map[[2]uint64][]int32{}
	for g := range groups {
		t := &groups[g]
		to[g] = int32(g)
		shape := [2]uint64{uint64(len(t.words)), uint64(t.level)}
		same := byShape[shape]
		if i := slices.IndexFunc(same, func(other int32) bool { return similar(&groups[other], t) }); i >= 0 {
			to[g] = same[i]
		} else if len(same) < maxMergeCompared {
			byShape[shape] = append(same, int32(g))
		}
	}
	return renumber(groups, of, to)
}

func similar(a, b *template) bool {
	most := len(a.words) / 5
	if a.level >= facts.Failing {
		most = min(most, 1)
	}
	differ := 0
	for i, w := range a.words {
		if w != b.words[i] {
			if differ++; differ > most {
				return false
			}
		}
	}
	return true
}

// renumber adds groups to those they were merged into and closes the gaps.
func renumber(groups []template, of, to []int32) (kept []template, _ []int32) {
	at := make([]int32, len(groups))
	for g, t := range groups {
		if to[g] == int32(g) {
			at[g] = int32(len(kept))
			kept = append(kept, t)
			continue
		}
		into := &kept[at[to[g]]]
		at[g] = at[to[g]]
		into.count += t.count
		into.last = max(into.last, t.last)
	}
	for i, g := range of {
		of[i] = at[g]
	}
	setNovelty(kept, len(of))
	return kept, of
}

// setNovelty weighs each template's words by how few units have them.
func setNovelty(groups []template, n int) {
	in := map[uint64]int{}
	for _, t := range groups {
		for _, w := range t.words {
			in[w] += t.count
		}
	}
	for g := range groups {
		t := &groups[g]
		sum, constant := 0.0, 0
		for _, w := range t.words {
			if w != variableWord {
				sum += rarity(in[w], n)
				constant++
			}
		}
		t.novelty = sum / float64(max(constant, 1))
	}
}

// sortedByCount returns the groups' numbers, the largest groups first.
func sortedByCount(groups []template) []int {
	order := make([]int, len(groups))
	for g := range groups {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(groups[b].count, groups[a].count) })
	return order
}

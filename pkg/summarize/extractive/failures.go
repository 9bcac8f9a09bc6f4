package extractive

import (
	"cmp"
	"math"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// failures returns the templates that report errors, the most important first: rare ones, with words and a form that nothing else in the
// text has.
func (l *lineText) failures() []int {
	var bad []int
	words, begins := map[string]int{}, map[uint64]int{}
	for g, t := range l.templates {
		begins[t.startHash()] += t.count
		if t.level < facts.Failing {
			continue
		}
		bad = append(bad, g)
		facts.EachErrorWord(l.units[t.first].Text, func(word string) { words[word] += t.count })
	}
	worth := make(map[int]float64, len(bad))
	for _, g := range bad {
		worth[g] = l.failureWorth(g, words, begins)
	}
	slices.SortStableFunc(bad, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return bad
}

// failureWorth scores a template of errors by how rare it is: the template, its words, its error word, and the start of its lines.
func (l *lineText) failureWorth(g int, words map[string]int, begins map[uint64]int) float64 {
	t := l.templates[g]
	n := len(l.units)
	size := len(l.units[t.first].Text)
	if size > l.target*rareShare/100 {
		return t.novelty // it cannot be shown whole
	}
	rarest := 0.0
	facts.EachErrorWord(l.units[t.first].Text, func(word string) { rarest = max(rarest, rarity(words[word], n)) })
	return 5*t.novelty + 2*rarity(t.count, n) + 3*rarest + 2*rarity(begins[t.startHash()], n) + float64(t.level)/2 - float64(size)/250
}

// startHash identifies how the lines of a template begin.
func (t *template) startHash() uint64 {
	return hashWords(t.words[:min(len(t.words), 2)])
}

// rarity returns how rare something is that k of n have: 1 for one of many, 0 for all of them.
func rarity(k, n int) float64 {
	if n < 2 || k >= n {
		return 0
	}
	return math.Log(float64(n)/float64(max(k, 1))) / math.Log(float64(n))
}

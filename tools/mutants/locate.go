package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// alike is from which likeness on a place in the code is held to be that of a recorded mutation. Code whose names have all changed is
// about half like what it was, by its punctuation and keywords.
const alike = 0.7

// match is where a recorded mutation is now, and how like the code there is to the recorded one: 1 if no token has changed.
type match struct {
	site     *site // nil if it is nowhere
	likeness float64
}

// pair is a recorded mutation and a place where it may be.
type pair struct {
	of             int
	site           *site
	likeness, rank float64
}

// locate finds recorded mutations, the likest pairs first, so that two of them never share a place.
func locate(recorded []mutation, sites []site) []match {
	pairs := pairsOf(recorded, sites)
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.rank, a.rank) })
	found, used := make([]match, len(recorded)), map[*site]bool{}
	for _, p := range pairs {
		if found[p.of].site == nil && !used[p.site] {
			found[p.of], used[p.site] = match{p.site, p.likeness}, true
		}
	}
	return found
}

func pairsOf(recorded []mutation, sites []site) (pairs []pair) {
	words := make([][3][]string, len(sites))
	for i := range sites {
		words[i] = wordsOf(&sites[i].mutation)
	}
	for of := range recorded {
		r := &recorded[of]
		w := wordsOf(r)
		for i := range sites {
			s := &sites[i]
			if s.Kind != r.Kind || fixed(r.Kind) && (s.Old != r.Old || s.New != r.New) || bound(w, words[i]) < alike {
				continue
			}
			p := pair{of: of, site: s, likeness: likeness(w, words[i])}
			p.rank = p.likeness
			if s.Function == r.Function {
				p.rank += 0.001 // the one between equals
			}
			if p.likeness >= alike {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// fixed says that what a kind of mutation replaces is a word or a sign, which renaming does not change.
func fixed(kind string) bool {
	return kind == "boundary" || kind == "equality" || kind == "logic" || kind == "arithmetic" || kind == "constant" || kind == "jump"
}

// wordsOf are the tokens before a mutation, in it and after it, as they are compared: what is exported in a move keeps its name.
func wordsOf(m *mutation) [3][]string {
	old := []byte(m.Old)
	tokens := tokensOf(old, 0, len(old))
	inside := make([]string, len(tokens))
	for i, t := range tokens {
		inside[i] = t.text
	}
	words := [3][]string{strings.Fields(m.Before), inside, strings.Fields(m.After)}
	for _, some := range words {
		for i, word := range some {
			first := []rune(word)[0]
			some[i] = string(unicode.ToLower(first)) + strings.TrimPrefix(word, string(first))
		}
	}
	return words
}

// likeness is the share of tokens that two pieces of code have in common, in the same order, part by part.
func likeness(a, b [3][]string) float64 {
	same, all := 0, 0
	for part := range a {
		same += 2 * common(a[part], b[part])
		all += len(a[part]) + len(b[part])
	}
	return float64(same) / float64(all)
}

// bound is at least their likeness, and quicker to work out: by how many tokens there are.
func bound(a, b [3][]string) float64 {
	same, all := 0, 0
	for part := range a {
		same += 2 * min(len(a[part]), len(b[part]))
		all += len(a[part]) + len(b[part])
	}
	return float64(same) / float64(all)
}

// common is the length of the longest sequence of words that is in both.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

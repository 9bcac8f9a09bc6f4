package compaction

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// rank sorts facts, which are in order of time, by how much it matters not to lose them: by weight, then by count, then the newest first.
func rank(facts []conversation.Fact) []conversation.Fact {
	type ranked struct {
		fact   conversation.Fact
		weight int
	}
	out := make([]ranked, len(facts))
	for i, f := range facts {
		out[len(facts)-1-i] = ranked{f, weight(f)}
	}
	slices.SortStableFunc(out, func(a, b ranked) int {
		if by := cmp.Compare(a.weight, b.weight); by != 0 || a.weight <= lastRequired {
			return by
		}
		return cmp.Compare(b.fact.Count, a.fact.Count)
	})
	sorted := make([]conversation.Fact, len(out))
	for i := range out {
		sorted[i] = out[i].fact
	}
	return sorted
}

// The weights of facts, heaviest first.
const (
	openCall   = iota
	strictRule // with must, never, always and their like
	otherRule
	nameAgain // a name of the world that was mentioned twice or more
	remark    // a sentence with the words of a rule, but of who speaks
	wordAgain // the same of a name of code, a number or an error
	once
	codeOnce

	lastRequired = otherRule // up to here, all must be there
)

func weight(f conversation.Fact) int {
	switch f.Kind {
	case conversation.FactCall:
		return openCall
	case conversation.FactRule:
		return ruleWeight(f.Text)
	}
	code := f.Kind == conversation.FactID && !strings.ContainsAny(f.Text, "0123456789@")
	named := f.Kind == conversation.FactPath || f.Kind == conversation.FactURL || f.Kind == conversation.FactID && !code
	switch {
	case f.Count > 1 && named:
		return nameAgain
	case f.Count > 1:
		return wordAgain
	case code:
		return codeOnce
	default:
		return once
	}
}

// ruleWeight returns the weight of a rule. A rule whose decisive words were cut off still counts as one.
func ruleWeight(rule string) int {
	switch facts.WeightOf(rule) {
	case facts.StrictRule:
		return strictRule
	case facts.Remark:
		return remark
	default:
		return otherRule
	}
}

package compaction

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// rank sorts facts, which are in order of time, by how much it matters not to lose them: by weight; calls and rules of the same weight the
// newest first; all others of the same weight by what a token of the list buys, as later steps name again what is recent and what the
// agent itself has named: the newer and the shorter first, and what the agent has not named as if it were three times as old.
func rank(facts []conversation.Fact) []conversation.Fact {
	type ranked struct {
		fact        conversation.Fact
		weight      int
		cost, since int64
	}
	order := make([]ranked, len(facts))
	for i, f := range facts {
		r := ranked{fact: f, weight: weight(f), since: int64(len(facts) - 1 - i)}
		if r.weight > lastRequired {
			r.cost = cost(&f, r.since)
		}
		order[i] = r
	}
	slices.SortFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.cost, b.cost), cmp.Compare(a.since, b.since))
	})
	sorted := make([]conversation.Fact, len(order))
	for i := range order {
		sorted[i] = order[i].fact
	}
	return sorted
}

// What names are ranked by, found on recorded coding runs.
const (
	stillNew = 100 // facts: as long as no more came since, age says little
	frame    = 20  // characters: a name costs tokens however short it is
	unnamed  = 3   // how many times as old counts what the agent has not named
)

// cost returns what a name costs for what it is worth, if so many facts were mentioned since.
func cost(f *conversation.Fact, since int64) int64 {
	n := (since + stillNew) * int64(len(f.Text)+frame)
	if !f.ByAgent {
		n *= unnamed
	}
	return n
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

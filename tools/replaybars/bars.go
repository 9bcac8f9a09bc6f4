package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// Of results in a grid of windows and formats.
const (
	leastFill          = 0.65 // what builds under none that leave something out use of their budgets, pooled over all results
	leastStablePrefix  = 0.90 // the share of tokens that stood in the context before already, under none at the window of stablePrefixWindow
	stablePrefixWindow = "32768"
)

// measure is a figure that is held to a share of what none comes to on the same recordings or, if it says so, of what the whole history
// would, which no window ends.
type measure struct {
	name      string
	figure    func(f *report.FileReport) float64
	kept      bool // it is to be high, not low
	ofHistory bool
}

var (
	tokens     = measure{name: "tokens", figure: func(f *report.FileReport) float64 { return float64(f.TokensWith) }}
	whole      = measure{name: "tokens of the whole history", figure: tokens.figure, ofHistory: true}
	cost       = measure{name: "cost", figure: func(f *report.FileReport) float64 { return f.CostWith }}
	references = measure{name: "references", figure: func(f *report.FileReport) float64 { return f.ReferenceRecall }, kept: true}
	content    = measure{name: "content", figure: func(f *report.FileReport) float64 { return f.ContentRecall }, kept: true}
	foreign    = measure{name: "foreign content", figure: func(f *report.FileReport) float64 { return f.ForeignContentRecall }, kept: true}
)

// economy is what a policy costs, and how much it keeps of references, of content, and of content that others than the agent said.
var economy = []measure{cost, references, content, foreign}

// share is what a set comes to. Where nothing is referred to, all of it is kept.
func (m measure) share(s, none *report.FileReport) float64 {
	if m.ofHistory {
		none = &report.FileReport{TokensWith: s.TokensWithout}
	}
	if m.figure(none) == 0 {
		return 1
	}
	return m.figure(s) / m.figure(none)
}

// limit is what a measure may come to at most, or must at least.
type limit struct {
	measure
	bound float64
}

// bar holds what a policy comes to in a play to limits, in one set of recordings or, if it names none, in each.
type bar struct {
	play, policy, set string
	limits            []limit
}

var (
	// citationBars are those of coding runs with what their tools printed in full, and of the long session.
	citationBars = []bar{
		{"coding-raw", "none+cite", "mini_swe_agent", []limit{{cost, 0.80}}},
		{"long", "none+cite", "pi_sessions", []limit{{cost, 0.80}}},
	}
	// lifecycleBars are what compacting results to 500 characters after two turns must save.
	lifecycleBars = []bar{
		{"coalesced-2", "", "mini_swe_agent", []limit{{tokens, 0.72}, {whole, 0.72}, {cost, 0.90}}},
		{"coalesced-2", "", "pi_sessions", []limit{{tokens, 0.65}, {whole, 0.65}, {cost, 0.70}}},
	}
	// presetBars are those of docs/policies.md. None of a play that the presets were tuned on.
	presetBars = []bar{
		{secondHalf, balanced, "", []limit{{cost, 0.87}, {references, 0.995}, {content, 0.95}, {foreign, 0.94}}},
		{session, balanced, "", []limit{{cost, 0.38}, {references, 0.97}, {content, 0.80}}},
		{service, balanced, "", []limit{{cost, 1}, {references, 0.995}}},
		{service, thrifty, "", []limit{{cost, 1}, {references, 0.995}}},
	}
)

// slack is what sums of fractions in another order may come to.
const slack = 1e-9

// missed says which limits a set does not keep.
func (b *bar) missed(set string, s, none *report.FileReport) (out []string) {
	if s.Builds != none.Builds || s.Builds == 0 {
		return []string{fmt.Sprintf("%s: %s: %s was not played, or not the same builds", b.play, b.policy, set)}
	}
	where := strings.Join(slices.DeleteFunc([]string{b.play, set, b.policy}, func(part string) bool { return part == "" }), ": ")
	for _, l := range b.limits {
		switch is := l.share(s, none); {
		case l.kept && is < l.bound-slack:
			out = append(out, fmt.Sprintf("%s: %s %.3f, at least %.3f", where, l.name, is, l.bound))
		case !l.kept && is > l.bound+slack:
			out = append(out, fmt.Sprintf("%s: %s %.3f, at most %.3f", where, l.name, is, l.bound))
		}
	}
	return out
}

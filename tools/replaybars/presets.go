package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// The plays of the presets, each at several caps.
const (
	firstHalf    = "half-first"    // coding runs that the presets were tuned on
	secondHalf   = "half-second"   // coding runs that they were not
	session      = "session"       // the long session
	service      = "service"       // customer service
	joinedFirst  = "joined-first"  // sessions made of runs of the first half
	joinedSecond = "joined-second" // and of the second
)

// thrifty is balanced in a smaller view, for those who would rather pay less.
const thrifty = "thrifty"

// onlySummaries is what the presets are compared with where several tasks follow
// each other: a file of that name, which stays as summarize was.
const onlySummaries = "summarize"

// fiveCaps is at how many caps a preset is played: its own, and two to either side.
const fiveCaps = 5

// economy is what a policy comes to, as shares of none: what it costs, and how
// much it keeps of references, of content, and of content that others said.
type economy struct{ cost, references, content, foreign float64 }

// bar is what a preset may cost at most and must keep at least in each set of a
// play. What is 0 has no bar.
type bar struct {
	play, policy string
	economy
}

// bars are those of docs/policies.md. None of a play that the presets were tuned on.
var bars = []bar{
	{secondHalf, balanced, economy{0.87, 0.995, 0.95, 0.94}},
	{session, balanced, economy{0.38, 0.97, 0.80, 0}},
	{service, balanced, economy{1, 0.995, 0, 0}},
	{service, thrifty, economy{1, 0.995, 0, 0}},
}

// slack is what sums of fractions in another order may come to.
const slack = 1e-9

// shareOf is what a set comes to beside the same under none. Where nothing is
// referred to, all of it is kept.
func shareOf(s, none *report.FileReport) economy {
	part := func(with, without float64) float64 {
		if without == 0 {
			return 1
		}
		return with / without
	}
	return economy{part(s.CostWith, none.CostWith), part(s.ReferenceRecall, none.ReferenceRecall), part(s.ContentRecall, none.ContentRecall),
		part(s.ForeignContentRecall, none.ForeignContentRecall)}
}

func (e economy) String() string {
	return fmt.Sprintf("cost %.3f, references %.3f, content %.3f, foreign %.3f", e.cost, e.references, e.content, e.foreign)
}

// misses says which of a bar's figures are not met.
func (e economy) misses(b economy) (out []string) {
	if e.cost > b.cost+slack {
		out = append(out, fmt.Sprintf("cost %.3f, at most %.3f", e.cost, b.cost))
	}
	for _, kept := range []struct {
		name      string
		is, least float64
	}{{"references", e.references, b.references}, {"content", e.content, b.content}, {"foreign content", e.foreign, b.foreign}} {
		if kept.is < kept.least-slack {
			out = append(out, fmt.Sprintf("%s %.3f, at least %.3f", kept.name, kept.is, kept.least))
		}
	}
	return out
}

// judgePresets holds the presets against their bars.
func judgePresets(w io.Writer, plays map[string][]*played) (missed []string) {
	for _, b := range bars {
		with, without := named(plays[b.play], b.policy), named(plays[b.play], none)
		if with == nil && b.policy == thrifty && without != nil {
			fmt.Fprintf(w, "%s: thrifty was not played\n", b.play) // a checkout may have none
			continue
		}
		missed = append(missed, b.judge(w, with, without)...)
	}
	for _, play := range []string{joinedFirst, joinedSecond} {
		missed = append(missed, judgeJoined(w, play, plays[play])...)
	}
	return missed
}

func (b *bar) judge(w io.Writer, with, without *played) (missed []string) {
	if with == nil || without == nil || without.Builds == 0 || len(with.Caps) != fiveCaps {
		return []string{fmt.Sprintf("%s: %s at %d caps, or none, was not played", b.play, b.policy, fiveCaps)}
	}
	for i := range without.Files {
		n := &without.Files[i]
		s := in(folderOf(n), with.Files)
		if n.Builds == 0 && s.Builds == 0 {
			continue // a sample may have none of a file
		}
		if s.Builds != n.Builds {
			missed = append(missed, fmt.Sprintf("%s: %s: %s was not played, or not the same builds", b.play, b.policy, folderOf(n)))
			continue
		}
		share := shareOf(&s, n)
		fmt.Fprintf(w, "%s, %s, %s at %d caps: %s; at least the newest %d tokens are whole (0: all are)\n", b.play, folderOf(n), b.policy, fiveCaps, share, s.NewestKept)
		for _, fault := range share.misses(b.economy) {
			missed = append(missed, fmt.Sprintf("%s: %s: %s: %s", b.play, folderOf(n), b.policy, fault))
		}
	}
	return missed
}

// sameRecall is by how much recalls may differ that count as equal.
const sameRecall = 0.005

// judgeJoined holds what balanced costs in sessions of several tasks against
// what summaries alone cost, at the same caps, unless they keep more.
func judgeJoined(w io.Writer, play string, all []*played) (missed []string) {
	n := named(all, none)
	with, other := named(all, balanced), named(all, onlySummaries)
	if n == nil || with == nil || other == nil || len(with.Caps) != fiveCaps || len(other.Caps) != fiveCaps {
		return []string{fmt.Sprintf("%s: %s and %s at %d caps, or none, were not played", play, balanced, onlySummaries, fiveCaps)}
	}
	is, as := shareOf(with.Total(), n.Total()), shareOf(other.Total(), n.Total())
	fmt.Fprintf(w, "%s, %s: %s\n%s, %s: %s\n", play, balanced, is, play, onlySummaries, as)
	allowed := economy{as.cost, as.references - sameRecall, as.content - sameRecall, as.foreign - sameRecall}
	if faults := is.misses(allowed); len(faults) > 0 {
		missed = append(missed, fmt.Sprintf("%s: %s beside summaries alone: %s", play, balanced, strings.Join(faults, ", ")))
	}
	return missed
}

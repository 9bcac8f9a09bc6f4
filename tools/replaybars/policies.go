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

// fiveCaps is at how many caps a preset is played: its own, and two to either side.
const fiveCaps = 5

// policies prints the figures of docs/policies.md, and what each set of recordings came to. Besides the presets it judges the
// compactions of long-*.json.
func policies(w io.Writer, all plays) (out []string, err error) {
	for _, p := range all {
		if strings.HasPrefix(p.play, "long-") && p.Name() != none {
			out = append(out, p.compacted(w)...)
		}
	}
	figures, sets, err := all.figures()
	if err != nil {
		return out, err
	}
	for _, f := range figures {
		fmt.Fprintf(w, "%s\n%s\n", f.begin, f.text)
	}
	fmt.Fprint(w, sets)
	for _, b := range presetBars {
		play := all.Of(b.play)
		if b.policy == thrifty && play.Under(none) != nil && play.Under(thrifty) == nil {
			fmt.Fprintf(w, "%s: thrifty was not played\n", b.play) // a checkout may have none
			continue
		}
		out = append(out, b.preset(w, play.Under(b.policy))...)
	}
	for _, play := range []string{joinedFirst, joinedSecond} {
		out = append(out, joined(w, play, all.Of(play))...)
	}
	return out, nil
}

// compacted demands that views are small after a compaction, that there is at
// most one for each window filled, and that there was any.
func (p *played) compacted(w io.Writer) (out []string) {
	c := p.Compactions
	fmt.Fprintf(w, "%s, %s: %d compactions, %d summaries, the largest view after one %.3f of B, %d over 0.55, %d early; %d messages reached\n",
		p.play, p.Name(), c.Count, c.Summaries, c.Largest, c.Over, c.Early, p.Reached.Messages)
	reported, _ := p.figures["compactions"].(map[string]any)
	for _, figure := range []string{"over_55_percent", "early"} {
		if n, ok := reported[figure]; !ok || n != 0.0 {
			out = append(out, fmt.Sprintf("%s: %s is %v of compactions, must be 0", p.where(), figure, n))
		}
	}
	if c.Count == 0 || c.Summaries == 0 && p.Name() == summaries {
		out = append(out, p.where()+": nothing was compacted, so nothing is shown")
	}
	if c.Summaries > 0 && p.Reached.Messages == 0 {
		out = append(out, p.where()+": no summary was expanded")
	}
	return out
}

// preset holds a preset against its bar, in each set of its play.
func (b *bar) preset(w io.Writer, with *played) (out []string) {
	if with == nil || with.None == nil || with.None.Builds == 0 || len(with.Caps) != fiveCaps {
		return []string{fmt.Sprintf("%s: %s at %d caps, or none, was not played", b.play, b.policy, fiveCaps)}
	}
	for i := range with.None.Files {
		n := &with.None.Files[i]
		s := with.Set(n.Folder())
		if n.Builds == 0 && s.Builds == 0 {
			continue // a sample may have none of a file
		}
		fmt.Fprintf(w, "%s, %s, %s at %d caps: %s; at least the newest %d tokens are whole (0: all are)\n",
			b.play, n.Folder(), b.policy, fiveCaps, describe(s, n), s.NewestKept)
		out = append(out, b.missed(n.Folder(), s, n)...)
	}
	return out
}

// describe says what a policy costs, and what it keeps.
func describe(s, none *report.FileReport) string {
	return fmt.Sprintf("cost %.3f, references %.3f, content %.3f, foreign %.3f",
		cost.share(s, none), references.share(s, none), content.share(s, none), foreign.share(s, none))
}

const (
	// onlySummaries is what the presets are compared with where several tasks follow
	// each other: a file of that name, which stays as summarize was.
	onlySummaries = "summarize"
	// sameRecall is by how much recalls may differ that count as equal.
	sameRecall = 0.005
)

// joined holds what balanced costs in sessions of several tasks against what
// summaries alone cost, at the same caps, unless they keep more.
func joined(w io.Writer, play string, all plays) []string {
	with, other := all.Under(balanced), all.Under(onlySummaries)
	if with == nil || other == nil || with.None == nil || len(with.Caps) != fiveCaps || len(other.Caps) != fiveCaps {
		return []string{fmt.Sprintf("%s: %s and %s at %d caps, or none, were not played", play, balanced, onlySummaries, fiveCaps)}
	}
	s, as, n := &with.FileReport, &other.FileReport, &with.None.FileReport
	fmt.Fprintf(w, "%s, %s: %s\n%s, %s: %s\n", play, balanced, describe(s, n), play, onlySummaries, describe(as, n))
	b := bar{play: play, policy: balanced + " beside summaries alone"}
	for _, m := range economy {
		bound := m.share(as, n)
		if m.kept {
			bound -= sameRecall
		}
		b.limits = append(b.limits, limit{m, bound})
	}
	return b.missed("", s, n)
}

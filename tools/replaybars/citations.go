package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// citeCost is what contexts with citations may cost at most, as a share of the
// same without, on what has a bar.
const citeCost = 0.80

// citeBars are the results that have the bar, and the folder that each plays:
// the coding runs with what their tools printed in full, and the long session.
var citeBars = []struct{ name, set string }{
	{"coding-raw", "mini_swe_agent"},
	{"long", "pi_sessions"},
}

// citations judges replays with citations: those that have a bar, and any
// others, in which nothing must be broken.
func citations(files []string, stdout io.Writer) error {
	results, missed := readPlays(files)
	for _, name := range sortedKeys(results) {
		for _, p := range results[name] {
			for _, fault := range judgeZero(p.figures) {
				missed = append(missed, fmt.Sprintf("%s: %s: %s", name, p.name(), fault))
			}
		}
	}
	if err := writeCitations(stdout, results); err != nil {
		return err
	}
	for _, bar := range citeBars {
		missed = append(missed, judgeCitations(bar.name, bar.set, results[bar.name])...)
	}
	return verdict(stdout, missed, len(files))
}

// judgeCitations holds what none costs with citations against what it costs
// without.
func judgeCitations(name, folder string, all []*played) []string {
	with, without := named(all, report.Title(none, true)), named(all, none)
	if with == nil || without == nil {
		return []string{name + ": none was not played with citations and without"}
	}
	s, n := in(folder, with.Files), in(folder, without.Files)
	switch {
	case n.Builds == 0 || s.Builds != n.Builds:
		return []string{name + ": " + folder + " was not played, or not the same builds"}
	case with.Citations.Count == 0:
		return []string{name + ": nothing was cited, so nothing is shown"}
	case s.CostWith > citeCost*n.CostWith:
		return []string{fmt.Sprintf("%s: cost %.3f of none, must be at most %g", name, s.CostWith/n.CostWith, citeCost)}
	}
	return nil
}

// writeCitations writes what was cited, and what that came to as shares of
// none, or of the first policy where none was not played.
func writeCitations(w io.Writer, results map[string][]*played) error {
	if len(results) == 0 {
		return errors.New("no result of citations")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "replay\tpolicy\tcited\tmean tokens\tmax\ttokens\tcost\tcost asking\trecall\twords found\tretrieve p50\tp95 ms")
	for _, name := range sortedKeys(results) {
		all := results[name]
		of := named(all, none)
		if of == nil {
			of = all[0]
		}
		for _, p := range all {
			c := p.Citations
			fmt.Fprintf(table, "%s\t%s\t%d\t%.0f\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\n", name, p.name(), c.Count, c.Mean, c.Largest,
				report.Share(p.TokensWith, of.TokensWith), p.CostWith/of.CostWith, (p.CostWith+c.AskingCost)/of.CostWith, p.ReferenceRecall/of.ReferenceRecall,
				report.Share(c.Found, c.Words), c.RetrieveMS.P50, c.RetrieveMS.P95)
		}
	}
	return table.Flush()
}

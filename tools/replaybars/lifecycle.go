package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// The modes of rewriting that are compared. Results are named by them and by
// the turns after which results are compacted, such as eager-2.json.
const (
	eager     = "eager"
	coalesced = "coalesced"
)

// lifecycleTurns are the turns that must have been replayed.
var lifecycleTurns = []int{2, 5, 10, 20}

// frugal is what compacting results to 500 characters after two turns must
// save, as shares: of the same replay without a policy in the same window, and
// of sending the whole history, which no window ends.
type frugal struct {
	set                  string
	tokens, whole, price float64
}

var frugals = []frugal{
	{set: "mini_swe_agent", tokens: 0.72, whole: 0.72, price: 0.90},
	{set: "pi_sessions", tokens: 0.65, whole: 0.65, price: 0.70},
}

// lifecycle judges replays under policies against one without, none.json.
func lifecycle(files []string, stdout io.Writer) error {
	plays, missed := readPlays(files)
	results := map[string]*played{}
	for _, name := range sortedKeys(plays) {
		all := plays[name]
		results[name] = all[0]
		for _, fault := range judgeZero(all[0].figures) {
			missed = append(missed, name+": "+fault)
		}
	}
	plain := results[none]
	if plain == nil {
		return errors.Join(errors.New("there is no none.json to compare with"), errors.New(strings.Join(missed, "; ")))
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "set\tturns\ttokens eager\tcoalesced\tcost eager\tcoalesced\trecall eager\tcoalesced\tnone")
	for _, turns := range lifecycleTurns {
		missed = append(missed, judgeTurns(table, plain, results, turns)...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	missed = append(missed, judgeFrugal(stdout, plain, results[name(coalesced, 2)])...)
	return verdict(stdout, missed, len(files))
}

func name(mode string, turns int) string { return mode + "-" + strconv.Itoa(turns) }

// judgeTurns writes a row for each set, and demands that putting edits off is
// never dearer than making them at once.
func judgeTurns(w io.Writer, none *played, results map[string]*played, turns int) (missed []string) {
	now, later := results[name(eager, turns)], results[name(coalesced, turns)]
	if now == nil || later == nil {
		return []string{fmt.Sprintf("%d turns were not replayed in both modes", turns)}
	}
	for _, folder := range folders(none) {
		n, e, c := in(folder, none.Files), in(folder, now.Files), in(folder, later.Files)
		if n.TokensWith == 0 || e.Builds != n.Builds || c.Builds != n.Builds {
			missed = append(missed, fmt.Sprintf("%s, %d turns: not the same builds", folder, turns))
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", folder, turns,
			report.Share(e.TokensWith, n.TokensWith), report.Share(c.TokensWith, n.TokensWith), e.CostWith/n.CostWith, c.CostWith/n.CostWith,
			e.ReferenceRecall, c.ReferenceRecall, n.ReferenceRecall)
		if c.CostWith > e.CostWith*(1+1e-9) {
			missed = append(missed, fmt.Sprintf("%s, %d turns: coalesced costs %.4f of eager", folder, turns, c.CostWith/e.CostWith))
		}
	}
	return missed
}

// folders are the sets of which anything was played, sorted.
func folders(p *played) (out []string) {
	for i := range p.Files {
		if p.Files[i].Builds > 0 {
			out = append(out, folderOf(&p.Files[i]))
		}
	}
	slices.Sort(out)
	return out
}

// judgeFrugal holds what was saved after two turns against the bars.
func judgeFrugal(w io.Writer, none, with *played) (missed []string) {
	if with == nil {
		return nil // said already
	}
	for _, bar := range frugals {
		n, s := in(bar.set, none.Files), in(bar.set, with.Files)
		if n.TokensWith == 0 {
			fmt.Fprintf(w, "%s was not played\n", bar.set)
			continue
		}
		tokens, whole, price := report.Share(s.TokensWith, n.TokensWith), report.Share(s.TokensWith, s.TokensWithout), s.CostWith/n.CostWith
		fmt.Fprintf(w, "%s, 500 characters after 2 turns, coalesced: tokens %.3f of none (bar %.2f), %.3f of the whole history (bar %.2f); "+
			"cost %.3f of none (bar %.2f), %.3f of the whole history; recall %.3f of %.3f\n",
			bar.set, tokens, bar.tokens, whole, bar.whole, price, bar.price, s.CostWith/s.CostWithout, s.ReferenceRecall, n.ReferenceRecall)
		if tokens > bar.tokens || whole > bar.whole || price > bar.price {
			missed = append(missed, bar.set+" saves too little")
		}
	}
	return missed
}

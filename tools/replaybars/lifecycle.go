package main

import (
	"errors"
	"fmt"
	"io"
)

// lifecycle prints replays under policies of expiry against one without, none.json. Results of MODE-TURNS.json are compared by their
// modes of rewriting: putting edits off must never be dearer than making them at once.
func lifecycle(w io.Writer, all plays) (out []string, err error) {
	plain := all.first(none)
	if plain == nil {
		return nil, errors.New("there is no none.json to compare with")
	}
	table := columns(w, "set\tturns\ttokens eager\tcoalesced\tcost eager\tcoalesced\trecall eager\tcoalesced\tnone")
	for _, turns := range []int{2, 5, 10, 20} {
		now, later := all.first(fmt.Sprint("eager-", turns)), all.first(fmt.Sprint("coalesced-", turns))
		if now == nil || later == nil {
			out = append(out, fmt.Sprintf("%d turns were not replayed in both modes", turns))
			continue
		}
		for i := range plain.Files {
			n := &plain.Files[i]
			set := n.Folder()
			e, c := now.Set(set), later.Set(set)
			switch {
			case n.Builds == 0:
				continue
			case n.TokensWith == 0 || e.Builds != n.Builds || c.Builds != n.Builds:
				out = append(out, fmt.Sprintf("%s, %d turns: not the same builds", set, turns))
				continue
			}
			fmt.Fprintf(table, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", set, turns, tokens.share(e, n), tokens.share(c, n),
				cost.share(e, n), cost.share(c, n), e.ReferenceRecall, c.ReferenceRecall, n.ReferenceRecall)
			if dearer := cost.share(c, e); dearer > 1+slack {
				out = append(out, fmt.Sprintf("%s, %d turns: coalesced costs %.4f of eager", set, turns, dearer))
			}
		}
	}
	_ = table.Flush()
	for _, b := range lifecycleBars {
		with := all.first(b.play)
		if with == nil {
			break // said already
		}
		n, s := plain.Set(b.set), with.Set(b.set)
		if n.TokensWith == 0 {
			fmt.Fprintf(w, "%s was not played\n", b.set)
			continue
		}
		fmt.Fprintf(w, "%s, 500 characters after 2 turns, coalesced: tokens %.3f of none (bar %.2f), %.3f of the whole history (bar %.2f); "+
			"cost %.3f of none (bar %.2f), %.3f of the whole history; recall %.3f of %.3f\n",
			b.set, tokens.share(s, n), b.limits[0].bound, whole.share(s, n), b.limits[1].bound, cost.share(s, n), b.limits[2].bound,
			s.CostWith/s.CostWithout, s.ReferenceRecall, n.ReferenceRecall)
		out = append(out, b.missed(b.set, s, n)...)
	}
	return out, nil
}

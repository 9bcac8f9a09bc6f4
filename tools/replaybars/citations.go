package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// citations prints what was cited in replays, and what that came to as shares of none, or of the first policy where none was not played.
func citations(w io.Writer, all plays) (out []string, err error) {
	if len(all) == 0 {
		return nil, errors.New("no result of citations")
	}
	table := columns(w, "replay\tpolicy\tcited\tmean tokens\tmax\ttokens\tcost\tcost asking\trecall\twords found\tretrieve p50\tp95 ms")
	for _, p := range all {
		of := p.None
		if of == nil {
			of = all.Of(p.play)[0]
		}
		c, s, n := p.Citations, &p.FileReport, &of.FileReport
		fmt.Fprintf(table, "%s\t%s\t%d\t%.0f\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\n", p.play, p.Name(), c.Count, c.Mean, c.Largest,
			tokens.share(s, n), cost.share(s, n), (p.CostWith+c.AskingCost)/of.CostWith, references.share(s, n),
			report.Share(c.Found, c.Words), c.RetrieveMS.P50, c.RetrieveMS.P95)
	}
	_ = table.Flush()
	for _, b := range citationBars {
		with := all.Of(b.play).Under(b.policy)
		switch {
		case with == nil || with.None == nil:
			out = append(out, b.play+": none was not played with citations and without")
		case with.Citations.Count == 0:
			out = append(out, b.play+": nothing was cited, so nothing is shown")
		default:
			out = append(out, b.missed(b.set, with.Set(b.set), with.None.Set(b.set))...)
		}
	}
	return out, nil
}

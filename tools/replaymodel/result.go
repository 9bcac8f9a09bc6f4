package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// The ways of asking.
const (
	none  = "none" // nobody is asked: the history in full
	live  = "live prefix"
	spans = "span as data"
)

// mostLive is what summaries behind the live prefix may add at most, as a share of the cost of none.
const mostLive = 0.03

// window is a context window, and the policies that are played in it.
type window struct {
	tokens int32
	caps   []int // in thousands of tokens; 0 is the window itself
	barred bool
}

// windows are the one that agents have, with balanced at five caps, and a small one, in which views are summarized most often.
func windows() []window {
	return []window{{tokens: 131_072, caps: []int{42, 45, 48, 51, 54}, barred: true}, {tokens: 8_192, caps: []int{0}}}
}

// way is a way of asking, under each of some policies.
type way struct {
	name     string
	policies []string
}

func (w window) ways() []way {
	out := []way{{name: none}, {name: live}, {name: spans}}
	for _, thousands := range w.caps {
		for i := 1; i < len(out); i++ {
			out[i].policies = append(out[i].policies, preset(thousands, out[i].name == live))
		}
	}
	return out
}

// preset is balanced at a cap, asking in one way. It waits for models, as a replay has nothing else to do.
func preset(thousands int, live bool) string {
	text := strings.Replace(policies.Text("balanced"), "compaction: {", fmt.Sprintf("compaction: {live_prefix: %v, ", live), 1)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  fit:") })
	if thousands > 0 {
		lines = append(lines, fmt.Sprintf("  fit: {max_context_tokens: %d000}", thousands))
	}
	return strings.Join(append(lines, "  max_wait: 30s", ""), "\n")
}

// result is what a file came to.
type result struct {
	file   string
	window window
	whole  float64 // cost of none
	ways   []figures
	broken []error
}

// figures are means over the policies of a way of asking.
type figures struct {
	name                                      string
	added, total                              float64 // cost of the summaries, and of all, as shares of none's
	calls, input, cached, summaries, degraded float64
	asked                                     map[string]*bill
}

func (r *result) add(name string, reports []*report.Report, asked map[string]*bill) {
	if name == none {
		r.whole = reports[0].CostWith
		return
	}
	f, n := figures{name: name, asked: asked}, float64(len(reports))
	for _, p := range reports {
		f.added += p.OwnCalls.Cost / r.whole / n
		f.total += p.CostWith / r.whole / n
		f.calls += float64(p.OwnCalls.Calls) / n
		f.input += float64(p.OwnCalls.InputTokens) / n
		f.cached += float64(p.OwnCalls.CacheReadTokens) / n
		f.summaries += float64(p.Compactions.Summaries) / n
		f.degraded += float64(p.LetGo.Degraded) / n
	}
	r.ways = append(r.ways, f)
}

// print says what was found, and returns the bars that were missed.
func (r *result) print(w io.Writer) (missed []error) {
	name := filepath.Base(filepath.Dir(r.file))
	for _, f := range r.ways {
		_, _ = fmt.Fprintf(w, "%-16s %6d  %-12s  adds %.4f of none's cost, %.3f in all; %.0f calls for %.0f summaries, %.0f tokens each, %.2f of them cached; %.0f degraded\n",
			name, r.window.tokens, f.name, f.added, f.total, f.calls, f.summaries, f.input/max(f.calls, 1), f.cached/max(f.input, 1), f.degraded)
		for model, b := range f.asked {
			_, _ = fmt.Fprintf(w, "%40s: %d calls, %d tokens, %d cached, %d at most\n", model, b.calls, b.input, b.cached, b.largest)
		}
		switch {
		case f.name != live || !r.window.barred:
		case f.calls == 0 || f.cached == 0:
			missed = append(missed, fmt.Errorf("%s: no summary was asked for behind the live prefix", name))
		case f.added > mostLive:
			missed = append(missed, fmt.Errorf("%s: summaries behind the live prefix add %.4f of none's cost, at most %.2f", name, f.added, mostLive))
		}
	}
	return append(missed, r.broken...)
}

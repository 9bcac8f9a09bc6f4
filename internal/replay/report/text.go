package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/policies"
)

const (
	chartWidth  = 64
	chartHeight = 8
)

// Print prints the report: as one JSON object, or for people.
func (r *Report) Print(w io.Writer, asJSON, ascii bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	var b bytes.Buffer
	to := sheet.New(w, false, ascii)
	to.Out = &b
	r.print(to)
	_, err := b.WriteTo(w)
	return err
}

// print prints the report for people: of one policy all there is to say, of
// several what sets them apart.
func (r *Report) print(s *sheet.Sheet) {
	say(s, "%d conversations, %d messages, %d builds as %s, window %d tokens, in %.1f s\n",
		r.Conversations, r.Messages, r.Builds, r.Format, r.Window, r.Seconds)
	if r.single() {
		r.promises(s)
		r.measures(s)
		r.cited(s)
		r.gone(s)
	}
	r.comparison(s)
	if r.single() {
		fmt.Fprint(s.Out, chart(r.turns, s.ASCII))
	}
	for _, o := range r.All() {
		o.faults(s)
	}
}

// single says whether one policy was asked for, or none at all: the others are
// there to compare.
func (r *Report) single() bool {
	return !slices.ContainsFunc(r.Against, func(o *Report) bool {
		return o.Cite || o.Policy != policies.None && !(r.Cite && o.Policy == r.Policy)
	})
}

// faults says what must not be, and where it was found.
func (r *Report) faults(s *sheet.Sheet) {
	if broken := r.Broken(); len(broken) > 0 && r.Title() != "" {
		say(s, "under %s: %s", r.Title(), strings.Join(broken, ", "))
	}
	for _, e := range r.Examples {
		say(s, "%s: conversation %s, message %d: %s", e.Figure, e.Conversation, e.Message, e.Detail)
	}
}

func (r *Report) promises(s *sheet.Sheet) {
	s.Line("Must be 0")
	for _, f := range r.mustBeZero() {
		mark := ""
		if f.n != 0 {
			mark = "  <-- broken"
		}
		row(s, strings.ReplaceAll(f.name, "_", " "), "%d%s", f.n, mark)
	}
}

func (r *Report) measures(s *sheet.Sheet) {
	s.Line("\nMeasured")
	row(s, "refused builds", "%.1f %% %s", 100*r.RefusedShare, counts(r.Refused))
	if r.RejectedAppends > 0 {
		row(s, "rejected appends", "%d results that answer no call", r.RejectedAppends)
	}
	row(s, "tokens sent", "%d, without the sidecar %d (%s)", r.TokensWith, r.TokensWithout, change(float64(r.TokensWith), float64(r.TokensWithout)))
	row(s, "cost of input", "%.0f token prices, without the sidecar %.0f (%s)", r.CostWith, r.CostWithout, change(r.CostWith, r.CostWithout))
	row(s, "mean fill", "%.1f %% of the budget of %d tokens, where something was left out", 100*r.MeanFill, r.Budget)
	row(s, "stable prefix", "%.1f %% of tokens, %d builds broke it", 100*r.StablePrefixShare, r.Rewrites)
	row(s, "reference recall", "%.1f %% of what the next message refers to", 100*r.ReferenceRecall)
	row(s, "content recall", "%.1f %% of what the next message repeats, %.1f %% of what others than the agent said", 100*r.ContentRecall, 100*r.ForeignContentRecall)
	r.compactions(s)
	row(s, "asked back", "%d messages that the last context does not show in full", r.Expansions)
	row(s, "at the end", "%d contexts more (refused: %s), %d messages restored (refused: %s)",
		r.AtEnd.Builds, cmp.Or(counts(r.AtEnd.Refused), "none"), r.AtEnd.Restores, cmp.Or(counts(r.AtEnd.RestoresRefused), "none"))
	row(s, "append", "%s", r.AppendMS)
	row(s, "build", "%s", r.BuildMS)
	s.Line("")
}

// compactions says how often views were made smaller, by whom, and whether all
// that summaries stand for came back.
func (r *Report) compactions(s *sheet.Sheet) {
	if n := r.Compactions; n.Count > 0 {
		row(s, "compactions", "%d, with %d summaries; the largest view after one was %.1f %% of the budget, %d were over %.0f %%; %d came early",
			n.Count, n.Summaries, 100*n.Largest, n.Over, 100*Compacted, n.Early)
	}
	if r.Reached.Summaries > 0 {
		row(s, "summaries expanded", "%d, down to %d messages", r.Reached.Summaries, r.Reached.Messages)
	}
	if r.OwnCalls.Calls > 0 {
		row(s, "own model calls", "%d, %d tokens in, %d out, %.0f token prices of the cost",
			r.OwnCalls.Calls, r.OwnCalls.InputTokens, r.OwnCalls.OutputTokens, r.OwnCalls.Cost)
	}
}

// cited says what entered contexts as a citation, and what asking for it came to.
func (r *Report) cited(s *sheet.Sheet) {
	c := &r.Citations
	if c.Count == 0 {
		return
	}
	s.Line("Cited")
	row(s, "results", "%d of %d tokens, shown as %d (%s); a citation weighs %.0f, at most %d",
		c.Count, c.Before, c.After, change(float64(c.After), float64(c.Before)), c.Mean, c.Largest)
	row(s, "asked for passages", "of %d, with words of the next message: they hold %.1f %% of the words, in %d tokens",
		c.Asked, 100*Share(c.Found, c.Words), c.ExcerptTokens)
	row(s, "retrieving", "%s", c.RetrieveMS)
	row(s, "cost of asking", "%.0f token prices beside the cost, had the model asked so", c.AskingCost)
	s.Line("")
}

// labelWidth is how wide the names of figures are.
const labelWidth = 26

func row(s *sheet.Sheet, name, format string, args ...any) {
	s.Field("  "+name, labelWidth, fmt.Sprintf(format, args...))
}

func say(s *sheet.Sheet, format string, args ...any) { s.Line(fmt.Sprintf(format, args...)) }

// change says how much more or less a is than b.
func change(a, b float64) string {
	if b == 0 {
		return "no change"
	}
	return fmt.Sprintf("%+.1f %%", 100*(a/b-1))
}

// chart draws the mean context of each turn: solid with the sidecar, light what
// it would be without.
func chart(turns []turn, ascii bool) string {
	columns := squeeze(turns)
	highest := int64(1)
	for _, c := range columns {
		highest = max(highest, c.without, c.with)
	}
	eighths, light := []rune(" ▁▂▃▄▅▆▇█"), '░'
	if ascii {
		eighths, light = []rune("     ####"), '.'
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Mean context by turn, 1 to %d, top line %d tokens (%c with the sidecar, %c without)\n", len(turns), highest, eighths[8], light)
	for line := chartHeight - 1; line >= 0; line-- {
		b.WriteString("  |")
		for _, c := range columns {
			b.WriteRune(cell(c, highest, line, eighths, light))
		}
		b.WriteByte('\n')
	}
	b.WriteString("  +" + strings.Repeat("-", len(columns)) + "\n")
	return b.String()
}

// cell is one character of the chart: lines count from the bottom.
func cell(c turn, highest int64, line int, eighths []rune, light rune) rune {
	level := func(tokens int64) int { return int(tokens*chartHeight*8/highest) - 8*line }
	if filled := min(8, level(c.with)); filled > 0 && eighths[filled] != ' ' {
		return eighths[filled]
	}
	if level(c.without) >= 4 {
		return light
	}
	return ' '
}

// squeeze averages turns into at most chartWidth columns.
func squeeze(turns []turn) []turn {
	width := min(chartWidth, len(turns))
	out := make([]turn, width)
	for i := range out {
		var sum turn
		for _, t := range turns[i*len(turns)/width : (i+1)*len(turns)/width] {
			sum.builds += t.builds
			sum.without += t.without
			sum.with += t.with
		}
		n := int64(max(1, sum.builds))
		out[i] = turn{1, sum.without / n, sum.with / n}
	}
	return out
}

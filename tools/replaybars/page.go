package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// figures is a table of docs/policies.md, which stands between two marks.
type figures struct{ name, text string }

func (f *figures) begin() string { return "<!-- figures: " + f.name + " -->" }

const figuresEnd = "<!-- end of figures -->"

// page writes the figures of replays into a page, between its marks.
func page(file string, files []string) error {
	plays, missed := readPlays(files)
	if len(missed) > 0 {
		return errors.New(strings.Join(missed, "; "))
	}
	tables, err := pageFigures(plays)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(raw)
	for _, f := range tables {
		before, rest, found := strings.Cut(text, f.begin()+"\n")
		_, after, ends := strings.Cut(rest, figuresEnd)
		if !found || !ends {
			return fmt.Errorf("%s has no place for %s", file, f.name)
		}
		text = before + f.begin() + "\n" + f.text + figuresEnd + after
	}
	return os.WriteFile(file, []byte(text), 0o600) // it is there, and keeps its mode
}

// pageFigures are the tables of the page.
func pageFigures(plays map[string][]*played) ([]figures, error) {
	all := plays["money"]
	if named(all, none) == nil {
		return nil, errors.New("there is no money.json, or none was not played in it")
	}
	return []figures{
		{"kinds", table(func(w io.Writer) { kindsTable(w, plays) })},
		{"halves", table(func(w io.Writer) { halvesTable(w, plays) })},
		{"policies", table(func(w io.Writer) { policiesTable(w, all) })},
	}, nil
}

// table is what is written to it.
func table(write func(w io.Writer)) string {
	var b strings.Builder
	write(&b)
	return b.String()
}

// header writes the names of columns, and the line below them.
func header(w io.Writer, columns ...string) {
	fmt.Fprintln(w, "| "+strings.Join(columns, " | ")+" |")
	fmt.Fprintln(w, "|---"+strings.Repeat("|---", len(columns)-1)+"|")
}

// kinds are the agents that docs/policies.md knows, what each had best choose,
// and what that was measured on: a play and a set of it, or all of it.
var kinds = []struct{ agent, choice, measured, play, set string }{
	{"codes, and can [expand messages](expanding.md)", balanced, "coding runs", secondHalf, ""},
	{"the same, and is to cost less", thrifty, "coding runs", secondHalf, ""},
	{"works in one session for hours", balanced, "one session of 453 turns", session, ""},
	{"the same, and is to cost less", thrifty, "one session of 453 turns", session, ""},
	{"gets one task after the other in one conversation", balanced, "five coding runs joined", joinedSecond, ""},
	{"serves customers, with tools", balanced, "customer service", service, ""},
	{"searches and reads pages, and [can ask for passages](agents.md)", "cite", "all recordings; none is of a search", "money", ""},
	{"talks, without tools", "default", "dialogues", "money", "locomo10"},
}

// kindsTable is the table to choose from.
func kindsTable(w io.Writer, plays map[string][]*played) {
	header(w, "your agent", "choose", "measured on", "cost", "references", "content", "foreign content")
	for _, k := range kinds {
		all := plays[k.play]
		if with, without := named(all, k.choice), named(all, none); with != nil && without != nil {
			s, n := with.Total(), without.Total()
			if k.set != "" {
				of, from := in(k.set, with.Files), in(k.set, without.Files)
				s, n = &of, &from
			}
			fmt.Fprintf(w, "| %s | `%s` | %s | %s |\n", k.agent, k.choice, k.measured, cells(s, n))
		}
	}
}

// cells are cost and recalls as shares of none, where anything was referred to.
func cells(s, n *report.FileReport) string {
	e, out := shareOf(s, n), make([]string, 0, 4)
	out = append(out, fmt.Sprintf("%.3f", e.cost))
	for _, kept := range []struct{ share, of float64 }{{e.references, n.ReferenceRecall}, {e.content, n.ContentRecall}, {e.foreign, n.ForeignContentRecall}} {
		if kept.of == 0 {
			out = append(out, "")
			continue
		}
		out = append(out, fmt.Sprintf("%.3f", kept.share))
	}
	return strings.Join(out, " | ")
}

// halves are the plays of the presets with the names that the page gives them.
var halves = []struct{ play, name string }{
	{firstHalf, "coding runs, tuned on"},
	{secondHalf, "coding runs, not tuned on"},
	{session, "the long session, not tuned on"},
	{joinedFirst, "five tasks in a row, of runs tuned on"},
	{joinedSecond, "five tasks in a row, of runs not tuned on"},
	{service, "customer service"},
}

// halvesTable is what the presets come to on what they were tuned on and on what
// they were not, beside what is possible.
func halvesTable(w io.Writer, plays map[string][]*played) {
	header(w, "recordings", "policy", "cost", "references", "content", "foreign content", "cost by cap")
	for _, h := range halves {
		all := plays[h.play]
		n := named(all, none)
		if n == nil {
			continue
		}
		for _, p := range all {
			if p != n {
				fmt.Fprintf(w, "| %s | `%s` | %s | %s |\n", h.name, p.name(), cells(p.Total(), n.Total()), p.byCap(n))
			}
		}
		for i := range all[0].Bounds {
			fmt.Fprintf(w, "| %s | %s | %s | |\n", h.name, all[0].Bounds[i].Name, cells(&all[0].Bounds[i].FileReport, n.Total()))
		}
	}
}

// byCap is the cost at each cap, as a share of none.
func (p *played) byCap(n *played) string {
	costs := make([]string, len(p.Caps))
	for i, one := range p.Caps {
		costs[i] = fmt.Sprintf("%.2f", one.CostWith/n.CostWith)
	}
	return strings.Join(costs, ", ")
}

// policiesTable is what the policies came to over everything.
func policiesTable(w io.Writer, all []*played) {
	n := named(all, none)
	header(w, "policy", "tokens", "cost", "references", "content", "foreign", "rewrites", "compactions", "summaries", "build p50, p95", "cost, had the model asked about each citation")
	for _, p := range all {
		asked := ""
		if p.Citations.Count > 0 {
			asked = fmt.Sprintf("%.3f", (p.CostWith+p.Citations.AskingCost)/n.CostWith)
		}
		fmt.Fprintf(w, "| `%s` | %.3f | %s | %d | %d | %d | %.1f, %.1f ms | %s |\n", p.name(), report.Share(p.TokensWith, n.TokensWith), cells(p.Total(), n.Total()),
			p.Rewrites, p.Compactions.Count, p.Compactions.Summaries, p.BuildMS.P50, p.BuildMS.P95, asked)
	}
}

// setsTable is what the policies came to on each set of recordings.
func setsTable(w io.Writer, all []*played) {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = "`" + p.name() + "`"
	}
	header(w, append([]string{"cost, references"}, names...)...)
	for _, s := range named(all, none).Files {
		if s.Builds == 0 {
			continue
		}
		row := make([]string, len(all))
		for i, p := range all {
			of := in(folderOf(&s), p.Files)
			row[i] = shares(&of, &s)
		}
		fmt.Fprintf(w, "| %s | %s |\n", folderOf(&s), strings.Join(row, " | "))
	}
}

// shares are cost and recall as shares of none, where anything was referred to.
func shares(s, of *report.FileReport) string {
	if of.ReferenceRecall == 0 {
		return fmt.Sprintf("%.2f", s.CostWith/of.CostWith)
	}
	return fmt.Sprintf("%.2f, %.3f", s.CostWith/of.CostWith, s.ReferenceRecall/of.ReferenceRecall)
}

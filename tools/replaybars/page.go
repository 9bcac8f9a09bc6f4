package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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
			s, n := with.total(), without.total()
			if k.set != "" {
				of, from := with.in(k.set), without.in(k.set)
				s, n = &of, &from
			}
			fmt.Fprintf(w, "| %s | `%s` | %s | %s |\n", k.agent, k.choice, k.measured, cells(s, n))
		}
	}
}

// cells are cost and recalls as shares of none, where anything was referred to.
func cells(s, n *set) string {
	e, out := shareOf(s, n), make([]string, 0, 4)
	out = append(out, fmt.Sprintf("%.3f", e.cost))
	for _, kept := range []struct{ share, of float64 }{{e.references, n.Recall}, {e.content, n.Content}, {e.foreign, n.Foreign}} {
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
				fmt.Fprintf(w, "| %s | `%s` | %s | %s |\n", h.name, p.name(), cells(p.total(), n.total()), p.byCap(n))
			}
		}
		for i := range all[0].Bounds {
			fmt.Fprintf(w, "| %s | %s | %s | |\n", h.name, all[0].Bounds[i].Name, cells(&all[0].Bounds[i].set, n.total()))
		}
	}
}

// byCap is the cost at each cap, as a share of none.
func (p *played) byCap(n *played) string {
	costs := make([]string, len(p.Caps))
	for i, raw := range p.Caps {
		one, err := onePlayed(raw)
		if err != nil {
			return "" // the whole was read, so that its parts can be
		}
		costs[i] = fmt.Sprintf("%.2f", one.Cost/n.Cost)
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
			asked = fmt.Sprintf("%.3f", (p.Cost+p.Citations.AskingCost)/n.Cost)
		}
		fmt.Fprintf(w, "| `%s` | %.3f | %s | %d | %.0f | %.0f | %.1f, %.1f ms | %s |\n", p.name(), p.Tokens/n.Tokens, cells(p.total(), n.total()),
			p.Rewrites, p.Compactions["count"], p.Compactions["summaries"], p.BuildMS["p50"], p.BuildMS["p95"], asked)
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
			of := p.in(s.folder())
			row[i] = shares(&of, &s)
		}
		fmt.Fprintf(w, "| %s | %s |\n", s.folder(), strings.Join(row, " | "))
	}
}

// shares are cost and recall as shares of none, where anything was referred to.
func shares(s, of *set) string {
	if of.Recall == 0 {
		return fmt.Sprintf("%.2f", s.Cost/of.Cost)
	}
	return fmt.Sprintf("%.2f, %.3f", s.Cost/of.Cost, s.Recall/of.Recall)
}

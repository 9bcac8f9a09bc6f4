package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// The policies that have bars, and the one that they are compared with.
const (
	none     = "none"
	own      = "own"
	balanced = "balanced"
	// summaries is a file's: summarize in the whole of every window.
	summaries = "summaries"
)

// money is what balanced may cost at most, and how much of the references it
// must keep in reach at least, as shares of none; in a context of 128,000 tokens
// whose newest ones it leaves alone.
type money struct {
	set          string
	cost, recall float64
}

var moneys = []money{
	{set: "mini_swe_agent", cost: 0.90, recall: 0.97},
	{set: "pi_sessions", cost: 0.68, recall: 0.96},
}

// untouched is how many of the newest tokens balanced must leave alone.
const untouched = 8000

// played is what was played under one policy.
type played struct {
	Policy      string             `json:"policy"`
	Window      int                `json:"window"`
	Files       []set              `json:"files"`
	Compactions map[string]float64 `json:"compactions"`
	Reached     map[string]float64 `json:"reached"`
	OwnCalls    map[string]float64 `json:"own_calls"`
	Builds      int                `json:"builds"`
	Tokens      float64            `json:"tokens_with"`
	Cost        float64            `json:"cost_with"`
	Recall      float64            `json:"reference_recall"`
	Rewrites    int                `json:"rewrites"`
	Fill        float64            `json:"mean_fill"`
	BuildMS     map[string]float64 `json:"build_ms"`
	Cite        bool               `json:"cite"`
	Citations   citing             `json:"citations"`
	Against     []json.RawMessage  `json:"against"`
	figures     map[string]any
}

// citing is what entered contexts as a citation, and what asking for it came to.
type citing struct {
	Count      float64            `json:"count"`
	Mean       float64            `json:"mean_tokens"`
	Largest    float64            `json:"max_tokens"`
	Words      float64            `json:"words"`
	Found      float64            `json:"words_found"`
	AskingCost float64            `json:"asking_cost"`
	RetrieveMS map[string]float64 `json:"retrieve_ms"`
}

// name is that of a policy that ships, of a file without its folder, or own for
// the sidecar's, with a mark if citations were switched on in it.
func (p *played) name() string {
	name := own
	if p.Policy != "" {
		name = strings.TrimSuffix(filepath.Base(p.Policy), ".yaml")
	}
	if p.Cite {
		name += citedMark
	}
	return name
}

// family is the folder of a file, which several of a kind lie in; empty for a
// policy that ships, and for a file that leaves everything to the server.
func (p *played) family() string {
	if p.Policy == filepath.Base(p.Policy) || p.name() == "default" {
		return ""
	}
	return filepath.Base(filepath.Dir(p.Policy))
}

// in is what the recordings of a folder came to.
func (p *played) in(folder string) set {
	for _, s := range p.Files {
		if s.folder() == folder {
			return s
		}
	}
	return set{}
}

// readPlayed reads a report and those of the policies against it.
func readPlayed(file string) ([]*played, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	first, err := onePlayed(raw)
	if err != nil {
		return nil, err
	}
	out := []*played{first}
	for _, raw := range first.Against {
		p, err := onePlayed(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func onePlayed(raw []byte) (*played, error) {
	p := &played{}
	return p, errors.Join(json.Unmarshal(raw, p), json.Unmarshal(raw, &p.figures))
}

// policies judges replays under several policies each: money.json, which has
// the bars of money and the table, long-*.json, which has those of compactions,
// and any others, in which nothing must be broken.
func policies(files []string, stdout io.Writer) error {
	var missed []string
	var table []*played
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		all, err := readPlayed(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: no result: %v", name, err))
			continue
		}
		for _, p := range all {
			for _, fault := range judgeZero(p.figures) {
				missed = append(missed, fmt.Sprintf("%s: %s: %s", name, p.name(), fault))
			}
			if strings.HasPrefix(name, "long-") {
				missed = append(missed, judgeCompactions(stdout, name, p)...)
			}
		}
		if name == "money" {
			table = all
		}
	}
	if table == nil {
		return errors.Join(errors.New("there is no money.json"), errors.New(strings.Join(missed, "; ")))
	}
	if err := writeTables(stdout, table); err != nil {
		return err
	}
	missed = append(missed, judgeMoney(stdout, table)...)
	return verdict(stdout, missed, len(files))
}

// judgeCompactions demands that views are small after a compaction, that there
// is at most one for each window filled, and that there was any.
func judgeCompactions(w io.Writer, name string, p *played) (missed []string) {
	if p.name() == none {
		return nil
	}
	c := p.Compactions
	fmt.Fprintf(w, "%s, %s: %.0f compactions, %.0f summaries, the largest view after one %.3f of B, %.0f over 0.55, %.0f early; %.0f messages reached\n",
		name, p.name(), c["count"], c["summaries"], c["largest_share"], c["over_55_percent"], c["early"], p.Reached["messages"])
	for _, figure := range []string{"over_55_percent", "early"} {
		if n, ok := c[figure]; !ok || n != 0 {
			missed = append(missed, fmt.Sprintf("%s: %s: %s is %v of compactions, must be 0", name, p.name(), figure, n))
		}
	}
	if c["count"] == 0 || c["summaries"] == 0 && p.name() == summaries {
		missed = append(missed, fmt.Sprintf("%s: %s: nothing was compacted, so nothing is shown", name, p.name()))
	}
	if c["summaries"] > 0 && p.Reached["messages"] == 0 {
		missed = append(missed, fmt.Sprintf("%s: %s: no summary was expanded", name, p.name()))
	}
	return missed
}

// judgeMoney holds balanced against none.
func judgeMoney(w io.Writer, all []*played) (missed []string) {
	with, without := named(all, balanced), named(all, none)
	if with == nil || without == nil {
		return []string{"money: balanced or none was not played"}
	}
	for _, bar := range moneys {
		s, n := with.in(bar.set), without.in(bar.set)
		if n.Builds == 0 || s.Builds != n.Builds {
			missed = append(missed, "money: "+bar.set+" was not played, or not the same builds")
			continue
		}
		cost, recall := s.Cost/n.Cost, s.Recall/n.Recall
		fmt.Fprintf(w, "%s, balanced: cost %.3f of none (bar %.2f), recall %.3f of none's (bar %.2f), the newest %d tokens untouched (bar %d)\n",
			bar.set, cost, bar.cost, recall, bar.recall, s.NewestKept, untouched)
		if cost > bar.cost || recall < bar.recall {
			missed = append(missed, "money: "+bar.set+": balanced costs too much or loses too much")
		}
		if s.NewestKept > 0 && s.NewestKept < untouched {
			missed = append(missed, "money: "+bar.set+": balanced touches the newest tokens")
		}
	}
	return missed
}

func named(all []*played, name string) *played {
	for _, p := range all {
		if p.name() == name {
			return p
		}
	}
	return nil
}

// writeTables writes what the policies came to, as docs/policies.md has it:
// over everything, and for each set as cost and recall, in shares of none.
func writeTables(w io.Writer, all []*played) error {
	n := named(all, none)
	if n == nil {
		return errors.New("money.json: none was not played")
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| policy \t| tokens \t| cost \t| recall \t| rewrites \t| compactions \t| summaries \t| build p50, p95 |")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---|")
	for _, p := range all {
		fmt.Fprintf(table, "| `%s` \t| %.3f \t| %.3f \t| %.3f \t| %d \t| %.0f \t| %.0f \t| %.1f, %.1f ms |\n", p.name(), p.Tokens/n.Tokens, p.Cost/n.Cost,
			p.Recall/n.Recall, p.Rewrites, p.Compactions["count"], p.Compactions["summaries"], p.BuildMS["p50"], p.BuildMS["p95"])
	}
	fmt.Fprint(table, "\n| cost, recall ")
	for _, p := range all {
		fmt.Fprintf(table, "\t| `%s` ", p.name())
	}
	fmt.Fprintln(table, "|\n|---"+strings.Repeat("\t|---", len(all))+"|")
	for _, s := range n.Files {
		if s.Builds == 0 {
			continue
		}
		fmt.Fprintf(table, "| %s ", s.folder())
		for _, p := range all {
			of := p.in(s.folder())
			fmt.Fprintf(table, "\t| %s ", shares(&of, &s))
		}
		fmt.Fprintln(table, "|")
	}
	fmt.Fprintln(table)
	for _, p := range all {
		if c := p.Citations; c.Count > 0 {
			fmt.Fprintf(table, "%s: %.0f results cited, %.0f tokens each; %.3f of the cost of none had the model asked about each\n", p.name(), c.Count, c.Mean, (p.Cost+c.AskingCost)/n.Cost)
		}
	}
	return table.Flush()
}

// shares are cost and recall as shares of none, where anything was referred to.
func shares(s, of *set) string {
	if of.Recall == 0 {
		return fmt.Sprintf("%.2f", s.Cost/of.Cost)
	}
	return fmt.Sprintf("%.2f, %.3f", s.Cost/of.Cost, s.Recall/of.Recall)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The policies that have bars, and the one that they are compared with.
const (
	none     = "none"
	own      = "own"
	balanced = "balanced"
	// summaries is a file's: summarize in the whole of every window.
	summaries = "summaries"
)

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
	Content     float64            `json:"content_recall"`
	Foreign     float64            `json:"foreign_content_recall"`
	Rewrites    int                `json:"rewrites"`
	Fill        float64            `json:"mean_fill"`
	BuildMS     map[string]float64 `json:"build_ms"`
	Cite        bool               `json:"cite"`
	Citations   citing             `json:"citations"`
	Against     []json.RawMessage  `json:"against"`
	Caps        []json.RawMessage  `json:"caps"`
	Bounds      []bound            `json:"bounds"`
	figures     map[string]any
}

// bound is what somebody comes to who knows the future.
type bound struct {
	Name string `json:"name"`
	set
	Files []set `json:"files"`
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

// total is what all recordings came to.
func (p *played) total() *set {
	return &set{Builds: p.Builds, Tokens: p.Tokens, Cost: p.Cost, Recall: p.Recall, Content: p.Content, Foreign: p.Foreign}
}

// in is what the recordings of a folder came to.
func (p *played) in(folder string) set { return setIn(p.Files, folder) }

func (b *bound) in(folder string) set { return setIn(b.Files, folder) }

func setIn(sets []set, folder string) set {
	for _, s := range sets {
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

// policies judges replays under several policies each: those of the presets, which
// have bars of what they cost and keep, long-*.json, which has those of
// compactions, and any others, in which nothing must be broken. It prints the
// figures of docs/policies.md, and what each set of recordings came to.
func policies(files []string, stdout io.Writer) error {
	plays, missed := readPlays(files)
	for _, name := range sortedKeys(plays) {
		for _, p := range plays[name] {
			for _, fault := range judgeZero(p.figures) {
				missed = append(missed, fmt.Sprintf("%s: %s: %s", name, p.name(), fault))
			}
			if strings.HasPrefix(name, "long-") {
				missed = append(missed, judgeCompactions(stdout, name, p)...)
			}
		}
	}
	figures, err := pageFigures(plays)
	if err != nil {
		return errors.Join(err, errors.New(strings.Join(missed, "; ")))
	}
	for _, f := range figures {
		fmt.Fprintf(stdout, "%s\n%s\n", f.begin(), f.text)
	}
	setsTable(stdout, plays["money"])
	missed = append(missed, judgePresets(stdout, plays)...)
	return verdict(stdout, missed, len(files))
}

// readPlays reads results by their names, and says which there are none of.
func readPlays(files []string) (plays map[string][]*played, missed []string) {
	plays = map[string][]*played{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		all, err := readPlayed(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: no result: %v", name, err))
			continue
		}
		plays[name] = all
	}
	return plays, missed
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

func named(all []*played, name string) *played {
	for _, p := range all {
		if p.name() == name {
			return p
		}
	}
	return nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
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

// result is what is read of a replay's report.
type result struct {
	figures map[string]any
	sets    map[string]set
}

// set is what the recordings of one folder came to.
type set struct {
	File        string  `json:"file"`
	Builds      int     `json:"builds"`
	Tokens      float64 `json:"tokens_with"`
	TokensWhole float64 `json:"tokens_without"`
	Cost        float64 `json:"cost_with"`
	CostWhole   float64 `json:"cost_without"`
	Recall      float64 `json:"reference_recall"`
	Content     float64 `json:"content_recall"`
	Foreign     float64 `json:"foreign_content_recall"`
	NewestKept  int     `json:"newest_kept"`
}

// folder is the last folder of the set's path.
func (s *set) folder() string { return filepath.Base(filepath.Dir(s.File)) }

// lifecycle judges replays under policies against one without, none.json.
func lifecycle(files []string, stdout io.Writer) error {
	results, missed := map[string]*result{}, []string(nil)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		r, err := readResult(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: no result: %v", name, err))
			continue
		}
		results[name] = r
		for _, fault := range judgeZero(r.figures) {
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

func readResult(file string) (*result, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &result{sets: map[string]set{}}
	var report struct {
		Files []set `json:"files"`
	}
	if err := errors.Join(json.Unmarshal(raw, &r.figures), json.Unmarshal(raw, &report)); err != nil {
		return nil, err
	}
	for _, s := range report.Files {
		r.sets[s.folder()] = s
	}
	return r, nil
}

// judgeTurns writes a row for each set, and demands that putting edits off is
// never dearer than making them at once.
func judgeTurns(w io.Writer, none *result, results map[string]*result, turns int) (missed []string) {
	now, later := results[name(eager, turns)], results[name(coalesced, turns)]
	if now == nil || later == nil {
		return []string{fmt.Sprintf("%d turns were not replayed in both modes", turns)}
	}
	for _, folder := range folders(none) {
		n, e, c := none.sets[folder], now.sets[folder], later.sets[folder]
		if n.Tokens == 0 || e.Builds != n.Builds || c.Builds != n.Builds {
			missed = append(missed, fmt.Sprintf("%s, %d turns: not the same builds", folder, turns))
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", folder, turns,
			e.Tokens/n.Tokens, c.Tokens/n.Tokens, e.Cost/n.Cost, c.Cost/n.Cost, e.Recall, c.Recall, n.Recall)
		if c.Cost > e.Cost*(1+1e-9) {
			missed = append(missed, fmt.Sprintf("%s, %d turns: coalesced costs %.4f of eager", folder, turns, c.Cost/e.Cost))
		}
	}
	return missed
}

// folders are the sets of which anything was played, sorted.
func folders(r *result) []string {
	var out []string
	for _, folder := range sortedKeys(r.sets) {
		if r.sets[folder].Builds > 0 {
			out = append(out, folder)
		}
	}
	return out
}

// judgeFrugal holds what was saved after two turns against the bars.
func judgeFrugal(w io.Writer, none, with *result) (missed []string) {
	if with == nil {
		return nil // said already
	}
	for _, bar := range frugals {
		n, s := none.sets[bar.set], with.sets[bar.set]
		if n.Tokens == 0 {
			fmt.Fprintf(w, "%s was not played\n", bar.set)
			continue
		}
		tokens, whole, price := s.Tokens/n.Tokens, s.Tokens/s.TokensWhole, s.Cost/n.Cost
		fmt.Fprintf(w, "%s, 500 characters after 2 turns, coalesced: tokens %.3f of none (bar %.2f), %.3f of the whole history (bar %.2f); "+
			"cost %.3f of none (bar %.2f), %.3f of the whole history; recall %.3f of %.3f\n",
			bar.set, tokens, bar.tokens, whole, bar.whole, price, bar.price, s.Cost/s.CostWhole, s.Recall, n.Recall)
		if tokens > bar.tokens || whole > bar.whole || price > bar.price {
			missed = append(missed, bar.set+" saves too little")
		}
	}
	return missed
}

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// under is a result under a policy, with the sets that have bars.
func under(policy string, cost, recall float64, kept int, compactions string) string {
	sets := ""
	for _, bar := range moneys {
		sets += fmt.Sprintf(`{"file": "/d/%s/conversations.jsonl", "builds": 9, "tokens_with": 50, "cost_with": %g, "reference_recall": %g, "newest_kept": %d},`,
			bar.set, cost, recall, kept)
	}
	return strings.Replace(good, `{"conversations"`, fmt.Sprintf(
		`{"policy": %q, "files": [%s{"file": "/d/empty/c.jsonl", "builds": 0}], "tokens_with": 50, "cost_with": %g, "reference_recall": %g, "compactions": {%s}, "reached": {"messages": 5}, "conversations"`,
		policy, sets, cost, recall, compactions), 1)
}

// beside is a report with others against it.
func beside(first string, others ...string) string {
	return strings.TrimSuffix(first, "}") + `, "against": [` + strings.Join(others, ",") + "]}"
}

const (
	noCompactions = `"count": 0, "summaries": 0, "largest_share": 0, "over_55_percent": 0, "early": 0`
	compactedOnce = `"count": 1, "summaries": 1, "largest_share": 0.5, "over_55_percent": 0, "early": 0`
)

func write(t *testing.T, results map[string]string) (files []string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range sortedKeys(results) {
		file := filepath.Join(folder, name+".json")
		if err := os.WriteFile(file, []byte(results[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func policiesOf(t *testing.T, changed map[string]string) (string, error) {
	t.Helper()
	results := map[string]string{
		"money":    beside(under("balanced", 60, 0.97, 9000, noCompactions), under("none", 100, 1, 0, noCompactions)),
		"long-32k": beside(under("summarize", 60, 1, 0, compactedOnce), under("/tmp/whole/summaries.yaml", 60, 1, 0, compactedOnce)),
	}
	for name, content := range changed {
		results[name] = content
	}
	var out bytes.Buffer
	err := run(append([]string{"policies"}, write(t, results)...), &out)
	return out.String(), err
}

func TestPolicies_BarsMet_PrintsTables(t *testing.T) {
	out, err := policiesOf(t, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"| `balanced` | 1.000 | 0.600 | 0.970 | 0 | 0 | 0 |", "| pi_sessions | 0.60, 0.970 | 1.00, 1.000 |",
		"mini_swe_agent, balanced: cost 0.600 of none (bar 0.90), recall 0.970 of none's (bar 0.97), the newest 9000 tokens",
		"long-32k, summaries: 1 compactions", "all bars met in 2 replays",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "empty") {
		t.Error("a row for a set that was not played")
	}
	if got := shares(&set{Cost: 3}, &set{Cost: 4}); got != "0.75" {
		t.Errorf("without references %q", got)
	}
}

func TestPolicies_Citing_SaysWhatAskingCosts(t *testing.T) {
	plain := under("none", 100, 1, 0, noCompactions)
	out, err := policiesOf(t, map[string]string{"money": beside(under("balanced", 60, 0.97, 9000, noCompactions), cited("cite", 70), plain)})
	if want := "cite+cite: 7 results cited, 180 tokens each; 0.900 of the cost of none"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v, no %q in\n%s", err, want, out)
	}
}

func TestPolicies_BarMissed_Fails(t *testing.T) {
	plain := under("none", 100, 1, 0, noCompactions)
	for want, changed := range map[string]map[string]string{
		"pi_sessions: balanced costs too much":          {"money": beside(under("balanced", 69, 1, 9000, noCompactions), plain)},
		"mini_swe_agent: balanced costs too much":       {"money": beside(under("balanced", 60, 0.96, 9000, noCompactions), plain)},
		"balanced touches the newest tokens":            {"money": beside(under("balanced", 60, 1, 7999, noCompactions), plain)},
		"balanced or none was not played":               {"money": beside(under("expiry", 60, 1, 9000, noCompactions), plain)},
		"money: balanced: illegal_contexts is 1":        {"money": strings.Replace(beside(under("balanced", 60, 1, 9000, noCompactions), plain), `"illegal_contexts": 0`, `"illegal_contexts": 1`, 1)},
		"money: none: unreachable is not reported":      {"money": beside(under("balanced", 60, 1, 9000, noCompactions), strings.Replace(plain, `"unreachable"`, `"other"`, 1))},
		"over_55_percent is 2":                          {"long-32k": under("summarize", 60, 1, 0, strings.Replace(compactedOnce, `percent": 0`, `percent": 2`, 1))},
		"early is 1":                                    {"long-32k": under("summarize", 60, 1, 0, strings.Replace(compactedOnce, `early": 0`, `early": 1`, 1))},
		"no summary was expanded":                       {"long-32k": strings.Replace(under("summarize", 60, 1, 0, compactedOnce), `"messages": 5`, `"messages": 0`, 1)},
		"summarize: nothing was compacted":              {"long-32k": under("summarize", 60, 1, 0, noCompactions)},
		"long-32k: no result":                           {"long-32k": "{"},
		"mini_swe_agent was not played, or not the":     {"money": beside(strings.Replace(under("balanced", 60, 1, 9000, noCompactions), `"builds": 9`, `"builds": 8`, 1), plain)},
		"anthropic at 8192: balanced: over_budget is 1": {"anthropic at 8192": strings.Replace(under("balanced", 60, 1, 0, noCompactions), `"over_budget": 0`, `"over_budget": 1`, 1)},
	} {
		if out, err := policiesOf(t, changed); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: error %v, output\n%s", want, err, out)
		}
	}
	if _, err := policiesOf(t, map[string]string{"money": ""}); err == nil || !strings.Contains(err.Error(), "money.json") {
		t.Errorf("without money: %v", err)
	}
}

func TestFrontier_IsXMLAndTheSameEachTime(t *testing.T) {
	files := write(t, map[string]string{"a": beside(under("balanced", 60, 0.97, 0, noCompactions), under("none", 100, 1, 0, noCompactions),
		under("prune-40k", 60, 0.971, 0, noCompactions), under("/tmp/1/window/16k.yaml", 30, 0.91, 0, noCompactions), under("/tmp/1/window/32k.yaml", 45, 0.93, 0, noCompactions))})
	var first, second bytes.Buffer
	if err := errors.Join(run(append([]string{"frontier"}, files...), &first), run(append([]string{"frontier"}, files...), &second)); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() || strings.Contains(first.String(), "%!") || strings.Contains(first.String(), "NaN") {
		t.Error("not the same twice, or misprinted")
	}
	decoder := xml.NewDecoder(&first)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for want, times := range map[string]int{">balanced<": 2, ">prune-40k<": 2, ">window<": 1, "window 16k: cost 0.300, recall 0.910": 2, "share of none": 4} {
		if got := strings.Count(second.String(), want); got != times {
			t.Errorf("%q stands %d times, want %d", want, got, times)
		}
	}
}

func TestFrontier_WithoutNone_Fails(t *testing.T) {
	files := write(t, map[string]string{"a": under("balanced", 60, 1, 0, noCompactions)})
	if err := run(append([]string{"frontier"}, files...), io.Discard); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	unplayed := write(t, map[string]string{"a": strings.ReplaceAll(under("none", 60, 1, 0, noCompactions), `"builds": 9`, `"builds": 0`)})
	if err := run(append([]string{"frontier"}, unplayed...), io.Discard); err == nil || !strings.Contains(err.Error(), "was not played") {
		t.Error(err)
	}
}

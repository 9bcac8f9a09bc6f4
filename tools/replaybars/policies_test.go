package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// under is a result under a policy, with two sets that come to the same.
func under(policy string, cost, recall float64, compactions string) string {
	figures := fmt.Sprintf(`"builds": 9, "tokens_with": 50, "cost_with": %g, "reference_recall": %g, "content_recall": %g, "foreign_content_recall": %g, "newest_kept": 9000`,
		cost, recall, recall, recall)
	return strings.Replace(good, `{"conversations"`, fmt.Sprintf(
		`{"policy": %q, "files": [{"file": "/d/mini_swe_agent/conversations.jsonl", %s}, {"file": "/d/pi_sessions/conversations.jsonl", %s}, {"file": "/d/empty/c.jsonl", "builds": 0}],
		%s, "compactions": {%s}, "reached": {"messages": 5}, "conversations"`, policy, figures, figures, figures, compactions), 1)
}

// capped is a result that is the mean of so many caps.
func capped(n int, policy string, cost, recall float64) string {
	one := under(policy, cost, recall, compactedOnce)
	return strings.TrimSuffix(one, "}") + `, "caps": [` + strings.Repeat(one+",", n-1) + one + "]}"
}

// possible adds what somebody comes to who knows the future.
func possible(result string) string {
	return strings.TrimSuffix(result, "}") + `, "bounds": [{"name": "bound: rewriting paid", "builds": 9, "cost_with": 40, "reference_recall": 1,
		"files": [{"file": "/d/mini_swe_agent/c.jsonl", "cost_with": 40, "reference_recall": 1}, {"file": "/d/pi_sessions/c.jsonl", "cost_with": 30, "reference_recall": 1}]}]}`
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
	for _, name := range slices.Sorted(maps.Keys(results)) {
		file := filepath.Join(folder, name+".json")
		if err := os.WriteFile(file, []byte(results[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// allPlays are results that meet all bars.
func allPlays() map[string]string {
	plain := under("none", 100, 1, noCompactions)
	preset := beside(capped(5, "balanced", 36, 0.999), capped(5, "thrifty", 30, 0.996), plain)
	joined := beside(capped(5, "balanced", 60, 0.97), plain, capped(5, "/tmp/today/summarize.yaml", 61, 0.97))
	return map[string]string{
		"money":      beside(under("balanced", 60, 0.97, compactedOnce), cited("cite", 70), plain),
		"half-first": possible(beside(capped(5, "balanced", 90, 0.9), plain)), "half-second": possible(preset), "session": preset, "service": preset,
		"joined-first": joined, "joined-second": joined,
		"long-32k": beside(under("summarize", 60, 1, compactedOnce), under("/tmp/whole/summaries.yaml", 60, 1, compactedOnce)),
	}
}

func policiesOf(t *testing.T, changed map[string]string) (string, error) {
	t.Helper()
	results := allPlays()
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
		"<!-- figures: kinds --> | your agent | choose |", "| codes, and can [expand messages](expanding.md) | `balanced` | coding runs | 0.360 | 0.999 | 0.999 | 0.999 |",
		"| coding runs, tuned on | `balanced` | 0.900 | 0.900 | 0.900 | 0.900 | 0.90, 0.90, 0.90, 0.90, 0.90 |",
		"| coding runs, not tuned on | bound: rewriting paid | 0.400 | 1.000 | 0.000 | 0.000 | |",
		"| `balanced` | 1.000 | 0.600 | 0.970 | 0.970 | 0.970 | 0 | 1 | 1 |", "| pi_sessions | 0.60, 0.970 |", "| 0.900 |",
		"half-second, mini_swe_agent, balanced at 5 caps: cost 0.360, references 0.999, content 0.999, foreign 0.999; at least the newest 9000 tokens are whole",
		"joined-first, summarize: cost 0.610", "long-32k, summaries: 1 compactions", "all bars met in 8 replays",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "empty") {
		t.Error("a row for a set that was not played")
	}
}

func TestPolicies_BarMissed_Fails(t *testing.T) {
	plain := under("none", 100, 1, noCompactions)
	money := beside(under("balanced", 60, 1, noCompactions), plain)
	half := func(cost, recall float64) string { return beside(capped(5, "balanced", cost, recall), plain) }
	joined := func(cost, recall float64) string {
		return beside(capped(5, "balanced", cost, recall), capped(5, "/tmp/today/summarize.yaml", 60, 0.97), plain)
	}
	for want, changed := range map[string]map[string]string{
		"half-second: mini_swe_agent: balanced: cost 0.871, at most 0.870":             {"half-second": half(87.1, 1)},
		"half-second: pi_sessions: balanced: references 0.994, at least 0.995":         {"half-second": half(80, 0.994)},
		"half-second: mini_swe_agent: balanced: content 0.949, at least 0.950":         {"half-second": half(80, 0.949)},
		"half-second: mini_swe_agent: balanced: foreign content 0.939, at least 0.940": {"half-second": half(80, 0.939)},
		"session: pi_sessions: balanced: cost 0.381":                                   {"session": half(38.1, 1)},
		"session: pi_sessions: balanced: references 0.969, at least 0.970":             {"session": half(30, 0.969)},
		"service: pi_sessions: balanced: cost 1.001":                                   {"service": half(100.1, 1)},
		"service: pi_sessions: thrifty: references 0.994":                              {"service": beside(capped(5, "balanced", 30, 1), capped(5, "thrifty", 30, 0.994), plain)},
		"session: balanced at 5 caps, or none, was not played":                         {"session": beside(capped(4, "balanced", 30, 1), plain)},
		"half-second: balanced at 5 caps, or none, was not played":                     {"half-second": beside(capped(5, "expiry", 30, 1), plain)},
		"session: balanced: mini_swe_agent was not played, or not the":                 {"session": beside(strings.ReplaceAll(capped(5, "balanced", 30, 1), `"builds": 9`, `"builds": 8`), plain)},
		"joined-first: balanced beside summaries alone: cost 0.601":                    {"joined-first": joined(60.1, 0.97)},
		"joined-second: balanced beside summaries alone: references 0.964, at least":   {"joined-second": joined(50, 0.964)},
		"joined-first: balanced and summarize at 5 caps, or none, were not played":     {"joined-first": half(50, 1)},
		"money: balanced: illegal_contexts is 1":                                       {"money": strings.Replace(money, `"illegal_contexts": 0`, `"illegal_contexts": 1`, 1)},
		"money: none: unreachable is not reported":                                     {"money": beside(under("balanced", 60, 1, noCompactions), strings.Replace(plain, `"unreachable"`, `"other"`, 1))},
		"over_55_percent is 2":                          {"long-32k": under("summarize", 60, 1, strings.Replace(compactedOnce, `percent": 0`, `percent": 2`, 1))},
		"early is 1":                                    {"long-32k": under("summarize", 60, 1, strings.Replace(compactedOnce, `early": 0`, `early": 1`, 1))},
		"no summary was expanded":                       {"long-32k": strings.Replace(under("summarize", 60, 1, compactedOnce), `"messages": 5`, `"messages": 0`, 1)},
		"summarize: nothing was compacted":              {"long-32k": under("summarize", 60, 1, noCompactions)},
		"long-32k: no result":                           {"long-32k": "{"},
		"anthropic at 8192: balanced: over_budget is 1": {"anthropic at 8192": strings.Replace(under("balanced", 60, 1, noCompactions), `"over_budget": 0`, `"over_budget": 1`, 1)},
	} {
		if out, err := policiesOf(t, changed); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: error %v, output\n%s", want, err, out)
		}
	}
	if _, err := policiesOf(t, map[string]string{"money": ""}); err == nil || !strings.Contains(err.Error(), "money.json") {
		t.Errorf("without money: %v", err)
	}
}

// A checkout that ships no thrifty is judged without.
func TestPolicies_WithoutThrifty_SaysSo(t *testing.T) {
	out, err := policiesOf(t, map[string]string{"service": beside(capped(5, "balanced", 30, 1), under("none", 100, 1, noCompactions))})
	if err != nil || !strings.Contains(out, "service: thrifty was not played") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPolicies_SetWithoutReferences_HasCostAlone(t *testing.T) {
	talk := func(policy string, cost int) string {
		set := fmt.Sprintf(`{"file": "/d/talking/c.jsonl", "builds": 1, "cost_with": %d}`, cost)
		return strings.Replace(under(policy, 60, 1, noCompactions), `{"file": "/d/empty/c.jsonl", "builds": 0}`, set, 1)
	}
	if out, err := policiesOf(t, map[string]string{"money": beside(talk("balanced", 3), talk("none", 4))}); err != nil || !strings.Contains(out, "| talking | 0.75 | 1.00 |") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPage_Figures_ReplaceThoseBetweenMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	text := "# A\n"
	for _, name := range []string{"kinds", "halves", "policies"} {
		text += "<!-- figures: " + name + " -->\nold\n" + figuresEnd + "\nkept " + name + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	results := write(t, allPlays())
	for range 2 { // what is written can be written again
		if err := run(append([]string{"page", file}, results...), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); strings.Contains(got, "old") || strings.Count(got, "kept ") != 3 || strings.Count(got, "| coding runs, tuned on ") != 2 || !strings.Contains(got, "| sliding") && !strings.Contains(got, "| `cite+cite`") {
		t.Errorf("page is\n%s", got)
	}
	if err := os.WriteFile(file, []byte("# no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{append([]string{"page", file}, results...), {"page", file}, {"page", file, "absent.json"}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%d arguments pass", len(args))
		}
	}
}

func TestFrontier_IsXMLAndTheSameEachTime(t *testing.T) {
	files := write(t, map[string]string{"a": possible(beside(under("balanced", 60, 0.97, noCompactions), under("none", 100, 1, noCompactions),
		under("prune-40k", 60, 0.971, noCompactions), under("/tmp/1/window/16k.yaml", 30, 0.91, noCompactions), under("/tmp/1/window/32k.yaml", 45, 0.93, noCompactions)))})
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
	for want, times := range map[string]int{">balanced<": 2, ">prune-40k<": 2, ">rewriting paid<": 2, "cost 0.300, recall 1.000": 1, ">window<": 1, "window 16k: cost 0.300, recall 0.910": 2, "share of none": 4} {
		if got := strings.Count(second.String(), want); got != times {
			t.Errorf("%q stands %d times, want %d", want, got, times)
		}
	}
}

func TestFrontier_WithoutNone_Fails(t *testing.T) {
	files := write(t, map[string]string{"a": under("balanced", 60, 1, noCompactions)})
	if err := run(append([]string{"frontier"}, files...), io.Discard); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	unplayed := write(t, map[string]string{"a": strings.ReplaceAll(under("none", 60, 1, noCompactions), `"builds": 9`, `"builds": 0`)})
	if err := run(append([]string{"frontier"}, unplayed...), io.Discard); err == nil || !strings.Contains(err.Error(), "was not played") {
		t.Error(err)
	}
}

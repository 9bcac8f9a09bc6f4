package main

import (
	"bytes"
	"strings"
	"testing"
)

// cited is a result in which citations were switched on.
func cited(policy string, cost float64) string {
	return strings.Replace(under(policy, cost, 0.97, noCompactions), `{"policy"`,
		`{"cite": true, "citations": {"count": 7, "mean_tokens": 180, "max_tokens": 290, "asking_cost": 20, "words": 10, "words_found": 9, "retrieve_ms": {"p50": 1.5, "p95": 9}}, "policy"`, 1)
}

func citationsOf(t *testing.T, changed map[string]string) (string, error) {
	t.Helper()
	plain := under("none", 100, 1, noCompactions)
	results := map[string]string{
		"coding-raw": beside(cited("none", 73), plain), "long": beside(cited("none", 70), cited("balanced", 50), plain), "gemini at 8192": cited("balanced", 90),
	}
	for name, content := range changed {
		results[name] = content
	}
	var out bytes.Buffer
	err := run(append([]string{"citations"}, write(t, results)...), &out)
	return out.String(), err
}

func TestCitations_BarsMet_PrintsTable(t *testing.T) {
	out, err := citationsOf(t, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"coding-raw none+cite 7 180 290 1.000 0.730 0.930 0.970 0.900 1.50 9.00", "coding-raw none 0 0 0 1.000 1.000 1.000 1.000 0.000",
		"long balanced+cite 7 180 290 1.000 0.500 0.700", "gemini at 8192 balanced+cite 7 180 290 1.000 1.000", "all bars met in 3 replays",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
}

func TestCitations_BarMissed_Fails(t *testing.T) {
	plain := under("none", 100, 1, noCompactions)
	for want, changed := range map[string]map[string]string{
		"none+cite: cost 0.810, at most 0.8":             {"coding-raw": beside(cited("none", 81), plain)},
		"none+cite: cost 0.900, at most 0.8":             {"long": beside(cited("none", 90), plain)},
		"long: none was not played with":                 {"long": beside(cited("balanced", 70), plain)},
		"long: no result":                                {"long": "{"},
		"coding-raw: nothing was cited":                  {"coding-raw": beside(strings.Replace(cited("none", 70), `"count": 7`, `"count": 0`, 1), plain)},
		"coding-raw: none+cite: mini_swe_agent was not":  {"coding-raw": beside(strings.ReplaceAll(cited("none", 70), `"builds": 9`, `"builds": 8`), plain)},
		"gemini at 8192: balanced+cite: content_mismatc": {"gemini at 8192": strings.Replace(cited("balanced", 90), `"content_mismatches": 0`, `"content_mismatches": 1`, 1)},
		"long: none+cite: cited_wrongly is not reported": {"long": beside(strings.Replace(cited("none", 70), `"cited_wrongly"`, `"other"`, 1), plain)},
	} {
		if out, err := citationsOf(t, changed); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: error %v, output\n%s", want, err, out)
		}
	}
	if err := run([]string{"citations"}, &bytes.Buffer{}); err == nil {
		t.Error("no result at all must fail")
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// resultOf is a result in which two sets were played, one of them with a cost of its own.
func resultOf(tokens, cost float64) string {
	sets := fmt.Sprintf(`"files": [
		{"file": "/d/mini_swe_agent/conversations.jsonl", "builds": 9, "tokens_with": %g, "tokens_without": 100, "cost_with": %g, "cost_without": 100},
		{"file": "/d/empty/conversations.jsonl", "builds": 0}], `, tokens, cost)
	return strings.Replace(good, `{"conversations"`, "{"+sets+`"conversations"`, 1)
}

// lifecycleOf judges results of which some were changed.
func lifecycleOf(t *testing.T, changed map[string]string) (string, error) {
	t.Helper()
	results := map[string]string{"none": resultOf(100, 100), "remove-0": good}
	for _, turns := range []string{"2", "5", "10", "20"} {
		results["eager-"+turns], results["coalesced-"+turns] = resultOf(70, 88), resultOf(71, 85)
	}
	for key, content := range changed {
		results[key] = content
	}
	folder, files := t.TempDir(), []string{"lifecycle"}
	for key, content := range results {
		file := filepath.Join(folder, key+".json")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var out bytes.Buffer
	err := run(files, &out)
	return out.String(), err
}

func TestLifecycle_BarsMet_PrintsRows(t *testing.T) {
	out, err := lifecycleOf(t, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows := strings.Split(out, "\n")
	if row := strings.Join(strings.Fields(rows[1]), " "); row != "mini_swe_agent 2 0.700 0.710 0.880 0.850 0.000 0.000 0.000" {
		t.Errorf("row = %q", row)
	}
	for _, want := range []string{"tokens 0.710 of none (bar 0.72)", "pi_sessions was not played", "all bars met in 10 replays"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
}

func TestLifecycle_BarMissed_Fails(t *testing.T) {
	for want, changed := range map[string]map[string]string{
		"coalesced costs 1.0114 of eager":                                               {"coalesced-5": resultOf(71, 89)},
		"coalesced-2: mini_swe_agent: tokens 0.730, at most 0.720":                      {"coalesced-2": resultOf(73, 80)},
		"coalesced-2: mini_swe_agent: tokens of the whole history 0.730, at most 0.720": {"coalesced-2": resultOf(73, 80)},
		"coalesced-2: mini_swe_agent: cost 0.910, at most 0.900":                        {"coalesced-2": resultOf(70, 91), "eager-2": resultOf(70, 91)},
		"remove-0: own: expired_late is 1":                                              {"remove-0": strings.Replace(good, `"expired_late": 0`, `"expired_late": 1`, 1)},
		"eager-10: no result":                                                           {"eager-10": ""},
		"10 turns were not replayed in both":                                            {"eager-10": ""},
		"2 turns: not the same builds":                                                  {"eager-2": strings.Replace(resultOf(70, 88), `"builds": 9`, `"builds": 8`, 1)},
		"none: own: savings_misstated is not repo":                                      {"none": strings.Replace(resultOf(100, 100), "savings_misstated", "other", 1)},
	} {
		if out, err := lifecycleOf(t, changed); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: error %v, output\n%s", want, err, out)
		}
	}
	if _, err := lifecycleOf(t, map[string]string{"none": ""}); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("without none: %v", err)
	}
}

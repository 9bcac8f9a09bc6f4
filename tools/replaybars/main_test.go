package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

const good = `{"conversations": 2, "builds": 40, "refused": {"PENDING_TOOL_CALLS": 3, "EMPTY_CONTEXT": 1},
  "wrong_refusals": 0, "illegal_contexts": 0, "over_budget": 0, "newest_unit_missing": 0, "prefix_broken": 0,
  "request_missing": 0, "request_cut": 0, "opening_missing": 0, "opening_cut": 0, "answers_lost": 0, "larger_shows_less": 0, "restores_without_effect": 0,
  "errors": 0, "readback_mismatches": 0, "expansion_mismatches": 0, "expired_early": 0, "expired_late": 0, "pruned_early": 0,
  "savings_misstated": 0, "unexplained": 0, "unreachable": 0,
  "cited_wrongly": 0, "citations_over_weight": 0, "content_mismatches": 0, "copies_missing": 0, "mean_fill": 0.7, "filled_tokens": 70, "filled_room": 100}`

// judged judges a result under none.
func judged(t *testing.T, result string) (string, error) {
	t.Helper()
	result = strings.Replace(result, "{", `{"policy": "none", `, 1)
	file := filepath.Join(t.TempDir(), "0004096-openai-chat.json")
	if err := os.WriteFile(file, []byte(result), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run([]string{file}, &out)
	return out.String(), err
}

func TestRun_BarsMet_PrintsRow(t *testing.T) {
	out, err := judged(t, good)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := strings.Join(strings.Fields(strings.Split(out, "\n")[1]), " ")
	if want := "4096 openai-chat none 2 40 4 0 0.700 0 0"; row != want {
		t.Errorf("row = %q, want %q", row, want)
	}
}

func TestRun_BarMissed_Fails(t *testing.T) {
	for name, result := range map[string]string{
		"one wrong":    strings.Replace(good, `"over_budget": 0`, `"over_budget": 1`, 1),
		"copies":       strings.Replace(good, `"copies_missing": 0`, `"copies_missing": 1`, 1),
		"not reported": strings.Replace(good, `"errors": 0`, `"other": 0`, 1),
		"no build":     strings.Replace(good, `"builds": 40`, `"builds": 0`, 1),
		"no result":    "",
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := judged(t, result); err == nil || !strings.Contains(out, "missed: 0004096-openai-chat") {
				t.Errorf("error %v, output:\n%s", err, out)
			}
		})
	}
	if err := run(nil, &bytes.Buffer{}); err == nil {
		t.Error("no result at all must fail")
	}
}

func TestRun_FillOrPrefixUnderBar_Fails(t *testing.T) {
	if out, err := judged(t, strings.Replace(good, `"filled_tokens": 70`, `"filled_tokens": 60`, 1)); err == nil {
		t.Errorf("a mean fill of 0.6 passes:\n%s", out)
	}
	one := &played{Report: report.Report{Policy: none, StablePrefixShare: 0.8}, play: "0032768-gemini"}
	if missed, err := grid(io.Discard, plays{one}); err != nil || !strings.Contains(strings.Join(missed, " "), "stable_prefix_share is 0.800") {
		t.Errorf("a stable prefix of 0.8 passes: %v, %v", missed, err)
	}
}

func TestRun_OtherPolicy_IsJudgedToo(t *testing.T) {
	against := strings.Replace(good, `"request_missing": 0`, `"request_missing": 3,
		"examples": [{"figure": "request_missing", "conversation": "run-7", "message": 12, "detail": "0 of 9 characters"}]`, 1)
	out, err := judged(t, strings.TrimSuffix(good, "}")+`, "against": [`+against+`]}`)
	if want := "missed: 0004096-openai-chat: own: request_missing is 3, must be 0, as in conversation run-7, message 12: 0 of 9 characters"; err == nil || !strings.Contains(out, want) {
		t.Errorf("%v, no %q in\n%s", err, want, out)
	}
	// What another policy leaves of its room is its own matter.
	other := strings.Replace(strings.Replace(good, "{", `{"policy": "balanced", `, 1), `"filled_tokens": 70`, `"filled_tokens": 10`, 1)
	if out, err := judged(t, strings.TrimSuffix(good, "}")+`, "against": [`+other+`]}`); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

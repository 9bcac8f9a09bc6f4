package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	metricsPage = "../../docs/metrics.md"
	rulesFile   = "../../deploy/prometheus/palimpsest.rules.yaml"
	grafanaFile = "../../deploy/grafana/palimpsest.json"
)

func TestRun_Repository_IsSound(t *testing.T) {
	if n, err := run(metricsPage, rulesFile, []string{grafanaFile}); err != nil || n < 50 {
		t.Errorf("%d queries: %v", n, err)
	}
}

// changed returns a copy of a file with some words replaced.
func changed(t *testing.T, file, before, after string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), before) {
		t.Fatalf("%s has no %q: %v", file, before, err)
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(copied, []byte(strings.Replace(string(text), before, after, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestRun_BrokenRules_GoRed(t *testing.T) {
	for name, c := range map[string][3]string{
		"a metric":    {"palimpsest_ready == 0", "palimpsest_redy == 0", "no metric palimpsest_redy"},
		"an operator": {"palimpsest_ready == 0", "palimpsest_ready = 0", "parse error"},
		"a label":     {"code=~", "cod=~", "has no label cod"},
		"a grouping":  {"by (job, instance, le)", "by (job, instnce, le)", "nothing has the label instnce"},
		"a field":     {"expr: palimpsest_ready", "exp: palimpsest_ready", "field exp not found"},
		"a bucket":    {"seconds_bucket[5m]", "seconds[5m]", "no metric palimpsest_store_commit_duration_seconds"},
	} {
		if _, err := run(metricsPage, changed(t, rulesFile, c[0], c[1]), []string{grafanaFile}); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRun_BrokenDashboard_GoesRed(t *testing.T) {
	for name, c := range map[string][3]string{
		"a metric":   {"palimpsest_rpc_calls_total", "palimpsest_rpc_call_total", "no metric palimpsest_rpc_call_total"},
		"a variable": {"label_values(palimpsest_builds_total", "label_values(palimpsest_build_total", "no metric palimpsest_build_total"},
		"a bracket":  {"sum by (method) (rate(", "sum by (method) (rate((", "parse error"},
	} {
		if _, err := run(metricsPage, rulesFile, []string{changed(t, grafanaFile, c[0], c[1])}); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

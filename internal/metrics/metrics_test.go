package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

const buildMethod = "/palimpsest.v1.ContextService/BuildContext"

// full returns metrics of which each has been told something.
func full(t *testing.T) *Metrics {
	t.Helper()
	m := New(Options{Methods: []string{buildMethod}, Call: func(context.Context) (string, int64) { return "default", 10 }, Version: "v1"})
	call(t, m, buildMethod, nil)
	m.Built("default", &engine.BuildResult{}, time.Second)
	m.ExpectProvider("openai")
	m.ExpectMemory("mem0")
	m.Committed(3, time.Millisecond)
	m.Read(Sources{
		Ready: func() bool { return true }, Writable: func() bool { return false },
		Store:     func() Store { return Store{Bytes: 5, DiskFreeBytes: 7} },
		Caches:    func() []Cache { return []Cache{{Name: "windows", Hits: 2}} },
		Admission: func() Admission { return Admission{Lanes: []Lane{{Name: "small_requests", Bytes: 1, MaxBytes: 2}}} },
		Sweeps:    func() Sweeps { return Sweeps{Runs: 1} },
		Breakers:  func() map[string]int { return map[string]int{"openai": 1} },
		Pending:   func() int64 { return 4 },
		Quotas:    func() []Quota { return []Quota{{Namespace: "default", Name: "conversations", Used: 1, Limit: 9}} },
		Spans:     func() Spans { return Spans{Dropped: 6} },
		Memories:  func() int64 { return 2 },
	})
	return m
}

func call(t *testing.T, m *Metrics, method string, fails error) {
	t.Helper()
	_, err := m.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: method}, func(context.Context, any) (any, error) { return nil, fails })
	if !errors.Is(err, fails) {
		t.Fatal(err)
	}
}

// ours are the families of a scrape that are ours, by name.
func ours(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), prefix) {
			out[f.GetName()] = f
		}
	}
	return out
}

// number is what a series of one family has.
func number(t *testing.T, m *Metrics, family string, labels ...string) float64 {
	t.Helper()
	for _, s := range ours(t, m)[family].GetMetric() {
		var have []string
		for _, l := range s.GetLabel() {
			have = append(have, l.GetValue())
		}
		if slices.Equal(have, labels) {
			return s.GetCounter().GetValue() + s.GetGauge().GetValue() + s.GetHistogram().GetSampleSum()
		}
	}
	t.Fatalf("%s has no series of %q", family, labels)
	return 0
}

const page = "../../docs/metrics.md"

const head = `# Metrics

For whoever reads dashboards or writes alerts. ` + "`--ops ADDRESS` serves these at `GET /metrics`, for Prometheus, with those of the Go runtime (`go_*`) and the process (`process_*`)." + `
There are [a Grafana dashboard](../deploy/grafana/palimpsest.json) and [alerts](../deploy/prometheus/palimpsest.rules.yaml).

- Counters are since the process started; times are seconds, sizes bytes, costs the currency of the models' profiles (US dollars in those that ship).
- Labels hold no ids, texts or names of models. Namespaces after the first 64 are ` + "`_other` (its quota figures are those of the fullest), calls of no known namespace `_none`, unknown methods `unknown`." + `
- What a mechanism keeps out is counted in each build, because each would have sent it; ` + "`palimpsest_saved_cost_total` counts it at the price of a cache read." + `

| metric | type | labels | meaning |
|---|---|---|---|
`

// TestMetrics_Page_IsWhatIsMeasured holds docs/metrics.md to the metrics there are, with their types and labels.
func TestMetrics_Page_IsWhatIsMeasured(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	families := ours(t, full(t))
	names := make([]string, 0, len(families))
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := families[name]
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
		if help := f.GetHelp(); !strings.HasSuffix(help, ".") || strings.Count(help, ". ") > 0 {
			t.Errorf("%s: %q is no plain sentence", name, help)
		}
	}
	if os.Getenv("PALIMPSEST_REWRITE") != "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(page); err != nil || string(kept) != b.String() {
		t.Errorf("%s has drifted from the metrics (%v): run the test with PALIMPSEST_REWRITE=1", page, err)
	}
}

func TestMetrics_Calls_LabelsAreOfClosedSets(t *testing.T) {
	m := full(t)
	call(t, m, buildMethod, status.Error(codes.NotFound, "x"))
	for i := range 100 {
		call(t, m, fmt.Sprint("/evil/", i), status.Error(codes.Code(100+i), "x"))
	}
	for _, want := range []struct {
		method, code string
		count        float64
	}{{"ContextService/BuildContext", "OK", 1}, {"ContextService/BuildContext", "NotFound", 1}, {"unknown", "Unknown", 100}} {
		if got := number(t, m, "palimpsest_rpc_calls_total", want.code, want.method, "default"); got != want.count {
			t.Errorf("%s, %s: %v calls, want %v", want.method, want.code, got, want.count)
		}
	}
	if n := len(ours(t, m)["palimpsest_rpc_calls_total"].GetMetric()); n != 3 {
		t.Errorf("%d series of calls, want 3", n)
	}
	if got := number(t, m, "palimpsest_rpc_received_bytes_total", "unknown"); got != 1000 {
		t.Errorf("%v bytes were received", got)
	}
	if got := number(t, m, "palimpsest_rpc_in_flight", "unknown"); got != 0 {
		t.Errorf("%v calls are in flight for ever", got)
	}
}

func TestMetrics_Namespaces_HaveABound(t *testing.T) {
	m := full(t)
	for i := range 1000 {
		m.Built(fmt.Sprint("team-", i), &engine.BuildResult{}, 0)
	}
	if n := len(ours(t, m)["palimpsest_builds_total"].GetMetric()); n != maxNamespaces+1 {
		t.Errorf("a thousand namespaces have %d series, want %d", n, maxNamespaces+1)
	}
	if got := number(t, m, "palimpsest_builds_total", otherNamespaces); got != 1000-(maxNamespaces-1) {
		t.Errorf("%v builds are of others", got)
	}
	m.Built("", &engine.BuildResult{}, 0)
	if got := number(t, m, "palimpsest_builds_total", noNamespace); got != 1 {
		t.Errorf("%v builds are nobody's", got)
	}
}

func TestMetrics_QuotasOfMoreNamespaces_TheFullestIsTold(t *testing.T) {
	m := New(Options{Version: "v1"})
	m.Read(Sources{Quotas: func() (out []Quota) {
		for i := range 2 * maxNamespaces {
			out = append(out, Quota{Namespace: fmt.Sprint("team-", i), Name: "bytes", Used: float64(i), Limit: 1000})
		}
		return append(out, Quota{Namespace: "small", Name: "bytes", Used: 9, Limit: 10}, Quota{Namespace: "last", Name: "bytes", Used: 500, Limit: 1000},
			Quota{Namespace: "last", Name: "conversations", Limit: 7})
	}})
	for family, want := range map[string]map[string]float64{"palimpsest_quota_used": {"bytes": 9, "conversations": 0}, "palimpsest_quota_limit": {"bytes": 10, "conversations": 7}} {
		for quota, want := range want {
			if got := number(t, m, family, otherNamespaces, quota); got != want {
				t.Errorf("%s of %s is %v, want %v", family, quota, got, want)
			}
		}
		if n := len(ours(t, m)[family].GetMetric()); n != maxNamespaces+2 {
			t.Errorf("%s has %d series", family, n)
		}
	}
}

func TestMetrics_Built_EachMechanismByItself(t *testing.T) {
	m := full(t)
	price := 0.5
	r := &engine.BuildResult{
		Tokens: engine.TokenReport{
			Messages: 1000, Factor: 2, SavedByClipping: 1, SavedByFit: 20, SavedByExpiry: 300, SavedByRetention: 4000, SavedByPruning: 50_000,
			SavedByCompaction: 600_000, SavedByCiting: 7_000_000, SavedByDeduplication: 80_000_000,
		},
		Prefix: engine.PrefixReport{StableTokens: 900, Rewrite: engine.RewriteReport{Reread: 80, Cost: 1}}, CacheReadPrice: &price,
	}
	m.Built("default", r, 2*time.Second)
	for how, want := range map[mechanism]float64{clipping: 1, fit: 20, expiry: 300, retention: 4000, pruning: 50_000, compaction: 600_000, citing: 7_000_000, deduplication: 80_000_000} {
		if got := number(t, m, "palimpsest_kept_out_tokens_total", string(how), "default"); got != want {
			t.Errorf("%s kept out %v tokens, want %v", how, got, want)
		}
		if got := number(t, m, "palimpsest_builds_by_mechanism_total", string(how), "default"); got != 1 {
			t.Errorf("%s: %v builds, want 1", how, got)
		}
	}
	if got, want := number(t, m, "palimpsest_saved_cost_total", "default"), 87_654_321*2*0.5/1e6; got != want {
		t.Errorf("saved %v, want %v", got, want)
	}
	r.CacheReadPrice, r.Prefix.Rewrite.Cost = nil, 0 // behind a cold cache
	m.Built("default", r, 0)
	if got, want := number(t, m, "palimpsest_saved_cost_total", "default"), 87_654_321*2*0.5/1e6; got != want {
		t.Errorf("without a price, saved %v, want %v", got, want)
	}
	if got := number(t, m, "palimpsest_context_stable_tokens_total", "default"); got != 1800 {
		t.Errorf("%v tokens were stable", got)
	}
	if got := number(t, m, "palimpsest_context_reread_tokens_total", "default"); got != 80 {
		t.Errorf("%v tokens were read anew", got)
	}
	if got := number(t, m, "palimpsest_build_wait_seconds"); got != 3 {
		t.Errorf("builds waited %v s", got)
	}
}

// TestMechanismOf_EveryKind: a kind of decision that keeps text out has a mechanism.
func TestMechanismOf_EveryKind(t *testing.T) {
	for kind := conversation.DecisionClipped; kind <= conversation.DecisionCorrected; kind++ {
		got := mechanismOf(&conversation.Decision{Kind: kind, Reason: conversation.ReasonExpired})
		switch kind {
		case conversation.DecisionRepaired, conversation.DecisionDeferred, conversation.DecisionHidden, conversation.DecisionCorrected:
			if got != "" { // nothing is kept out, or its author took it back
				t.Errorf("kind %d is %s", kind, got)
			}
		default:
			if !slices.Contains(mechanisms(), got) {
				t.Errorf("kind %d has no mechanism", kind)
			}
		}
	}
	if got := mechanismOf(&conversation.Decision{Kind: conversation.DecisionRemoved, Reason: conversation.ReasonRetention}); got != retention {
		t.Errorf("a block that was dropped is %s", got)
	}
}

func TestMetrics_ModelCall_OutcomesTokensAndCost(t *testing.T) {
	m := full(t)
	took := conversation.CallTokens{Input: 170, CacheRead: 40, CacheWrite: 30, Output: 10}
	m.ModelCall(summarize.CallReport{Provider: "openai", Tokens: took, Took: time.Second}, 0.25)
	m.ModelCall(summarize.CallReport{Provider: "openai", Reason: summarize.BreakerOpen}, 0)
	for outcome, want := range map[string]float64{answered: 1, "breaker_open": 1} {
		if got := number(t, m, "palimpsest_model_calls_total", outcome, "openai"); got != want {
			t.Errorf("%s: %v calls", outcome, got)
		}
	}
	for direction, want := range map[string]float64{directionInput: 100, directionRead: 40, directionWrite: 30, directionOutput: 10} {
		if got := number(t, m, "palimpsest_model_tokens_total", direction, "openai"); got != want {
			t.Errorf("%s: %v tokens", direction, got)
		}
	}
	if got := number(t, m, "palimpsest_model_cost_total", "openai"); got != 0.25 {
		t.Errorf("cost %v", got)
	}
}

func TestMetrics_Handler_AnswersWhatSourcesSay(t *testing.T) {
	w := httptest.NewRecorder()
	full(t).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for _, line := range []string{
		"palimpsest_ready 1", "palimpsest_store_writable 0", "palimpsest_store_size_bytes 5", "palimpsest_store_disk_free_bytes 7",
		`palimpsest_cache_hits_total{cache="windows"} 2`, `palimpsest_admission_bytes{lane="small_requests"} 1`, "palimpsest_sweeper_runs_total 1",
		`palimpsest_model_open_breakers{provider="openai"} 1`, "palimpsest_model_pending_summaries 4",
		`palimpsest_quota_used{namespace="default",quota="conversations"} 1`, `palimpsest_quota_limit{namespace="default",quota="conversations"} 9`,
		"palimpsest_trace_spans_dropped_total 6", "palimpsest_store_commit_changes_sum 3", `palimpsest_build_info{version="v1"} 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("the scrape lacks %s", line)
		}
	}
}

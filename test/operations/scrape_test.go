package operations

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

var row = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| ([^|]*) \\|")

// TestScrape_SmallWorkload_HasAllThatIsNamed: every metric of the page, the dashboard and the alerts is in a scrape of the real thing, after
// a workload that moves them.
func TestScrape_SmallWorkload_HasAllThatIsNamed(t *testing.T) {
	t.Parallel()
	w := start(t, "--quota-conversations", "1000", "--quota-bytes", "1GiB", "--quota-model-calls", "1000", "--quota-model-spend", "1000", "--memory", "embedded")
	w.work(t.Context(), "c")
	got := parse(t, w.scrape())
	quotas := map[string]float64{}
	for _, m := range got["palimpsest_quota_used"].GetMetric() {
		quotas[m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
	}
	if quotas["conversations"] != 1 || quotas["bytes"] == 0 || quotas["model_calls_per_minute"] == 0 || quotas["model_spend_per_minute"] == 0 {
		t.Errorf("quotas are used by %v", quotas)
	}
	listed := map[string]bool{}
	for _, r := range row.FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		name, kind, labels := r[1], r[2], strings.Trim(strings.ReplaceAll(r[3], "`", ""), " ")
		listed[name] = true
		f := got[name]
		if f == nil {
			t.Errorf("the page has %s, the scrape has not", name)
			continue
		}
		var have []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			have = append(have, l.GetName())
		}
		if have := strings.Join(have, ", "); have != labels || strings.ToLower(f.GetType().String()) != kind {
			t.Errorf("%s is a %s of %q, the page says %s of %q", name, f.GetType(), have, kind, labels)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "palimpsest_") && !listed[name] {
			t.Errorf("the scrape has %s, the page has not", name)
		}
	}
	named := regexp.MustCompile(`\b(palimpsest|go|process)_[a-z_]+`)
	for _, file := range []string{"deploy/grafana/palimpsest.json", "deploy/prometheus/palimpsest.rules.yaml"} {
		for _, name := range named.FindAllString(read(t, file), -1) {
			family := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
			if got[name] == nil && got[family] == nil {
				t.Errorf("%s asks for %s, which no scrape has", file, name)
			}
		}
	}
	for _, moved := range [][2]string{
		{"palimpsest_rpc_calls_total", "ContextService/BuildContext"}, {"palimpsest_rpc_received_bytes_total", "ContextService/AppendMessage"},
		{"palimpsest_builds_total", "default"}, {"palimpsest_kept_out_tokens_total", "compaction"}, {"palimpsest_builds_by_mechanism_total", "compaction"},
		{"palimpsest_saved_cost_total", "default"}, {"palimpsest_context_tokens_total", ""}, {"palimpsest_context_stable_tokens_total", ""},
		{"palimpsest_model_calls_total", "answered"}, {"palimpsest_model_tokens_total", "output"}, {"palimpsest_model_cost_total", "openai"},
		{"palimpsest_store_commit_duration_seconds", ""}, {"palimpsest_store_size_bytes", ""}, {"palimpsest_store_disk_free_bytes", ""},
		{"palimpsest_cache_hits_total", "windows"}, {"palimpsest_cache_size_bytes", "windows"}, {"palimpsest_sweeper_runs_total", ""},
		{"palimpsest_quota_used", "conversations"}, {"palimpsest_quota_limit", "model_spend_per_minute"}, {"palimpsest_ready", ""}, {"palimpsest_store_writable", ""},
	} {
		if sum(got[moved[0]], moved[1]) <= 0 {
			t.Errorf("%s of %q has not moved", moved[0], moved[1])
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRules_Runbooks_AreThere: whoever is woken by an alert finds what to do.
func TestRules_Runbooks_AreThere(t *testing.T) {
	rules, page := read(t, "deploy/prometheus/palimpsest.rules.yaml"), read(t, "docs/operations.md")
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		anchors[strings.ToLower(strings.ReplaceAll(heading[1], " ", "-"))] = true
	}
	alerts := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(rules, -1)
	books := regexp.MustCompile(`runbook_url: \S+docs/operations\.md#(\S+)`).FindAllStringSubmatch(rules, -1)
	if len(alerts) == 0 || len(books) != len(alerts) {
		t.Fatalf("%d alerts have %d runbooks", len(alerts), len(books))
	}
	for i, alert := range alerts {
		if books[i][1] != strings.ToLower(alert[1]) || !anchors[books[i][1]] {
			t.Errorf("%s leads to %s, which docs/operations.md has: %t", alert[1], books[i][1], anchors[books[i][1]])
		}
	}
	for _, part := range []string{"summary:", "description:", "severity:"} {
		if n := strings.Count(rules, part); n != len(alerts) {
			t.Errorf("%d alerts have %d times %q", len(alerts), n, part)
		}
	}
}

// TestScrape_TenThousandConversations_IsQuick holds a scrape to 5 ms.
func TestScrape_TenThousandConversations_IsQuick(t *testing.T) {
	testlane.Speed(t)
	w := start(t, "--log-level", "info", "--otlp-sample", "0")
	w.many(t.Context(), 10_000, func(i int) *pb.AppendMessageRequest {
		return &pb.AppendMessageRequest{ConversationId: id(i), Message: text(pb.Role_ROLE_USER, "hello")}
	})
	client := &http.Client{Timeout: 10 * time.Second}
	best, size := time.Hour, 0
	for range 20 {
		began := time.Now()
		answer, err := client.Get("http://" + w.sidecar.Operations() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		size = drain(t, answer)
		best = min(best, time.Since(began))
	}
	t.Logf("a scrape of %d KB at 10,000 conversations took %s", size>>10, best.Round(10*time.Microsecond))
	if best > 5*time.Millisecond {
		t.Errorf("a scrape takes %s, more than 5 ms", best)
	}
}

// TestTraces_Call_HasItsStepsAndTheCallersTrace: a call's span is the child of the caller's, has the steps of its build in it, and is named in
// the log beside the caller's request id.
func TestTraces_Call_HasItsStepsAndTheCallersTrace(t *testing.T) {
	t.Parallel()
	w := start(t)
	const traceID, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+traceID+"-"+parent+"-01", "tracestate", "evil="+canary, "x-request-id", "req-1")
	w.work(ctx, "c")
	w.stop()
	names, children := map[string]int{}, map[string]int{}
	for _, s := range w.collector.spans() {
		names[s.GetName()]++
		if hexOf(s.GetTraceId()) == traceID && hexOf(s.GetParentSpanId()) == parent {
			children[s.GetName()]++
		}
	}
	for _, name := range []string{"build.load", "build.plan", "build.commit", "build.wait_for_model", "store.commit", "model.call"} {
		if names[name] == 0 {
			t.Errorf("no span is called %s: %v", name, names)
		}
	}
	if n := children["palimpsest.v1.ContextService/BuildContext"]; n != 12 || len(children) != 3 {
		t.Errorf("the caller's trace has %v", children)
	}
	if log := w.sidecar.Log(); !strings.Contains(log, `"request_id":"req-1","trace_id":"`+traceID+`"`) {
		t.Error("the log names neither the request nor the trace")
	}
	if strings.Contains(w.collector.text(), canary) {
		t.Error("the caller's tracestate is exported")
	}
}

// TestTraces_CollectorThatIsAway_HarmsNoCall: spans are lost and counted, and the sidecar ends in time.
func TestTraces_CollectorThatIsAway_HarmsNoCall(t *testing.T) {
	t.Parallel()
	w := start(t, "--otlp-endpoint", "http://127.0.0.1:1")
	w.work(t.Context(), "c")
	for sum(parse(t, w.scrape())["palimpsest_trace_spans_dropped_total"], "") == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	w.stop()
	if took := time.Since(began); took > testlane.Slack(5*time.Second) {
		t.Errorf("the end took %s", took)
	}
}

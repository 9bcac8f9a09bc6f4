package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	collectpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// world is a sidecar with all that operators can switch on.
type world struct {
	*process.Client
	t         *testing.T
	sidecar   *process.Sidecar
	collector *collector
}

// start starts a sidecar that is asked for metrics and traces, logs everything, and has a model to ask.
func start(t *testing.T, flags ...string) *world {
	t.Helper()
	w := &world{t: t, collector: startCollector(t)}
	flags = append([]string{
		"--ops", "127.0.0.1:0", "--otlp-endpoint", "http://" + w.collector.address, "--log-level", "debug",
		"--openai-url", serveModel(t), "--summary-models", "openai/" + pricedModel,
	}, flags...)
	var err error
	if w.sidecar, err = process.Start(binary, t.TempDir(), flags...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.sidecar.Kill)
	if w.Client, err = w.sidecar.Dial(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// stop ends the sidecar, and with it every span is exported.
func (w *world) stop() {
	w.t.Helper()
	if err := w.sidecar.Stop(); err != nil {
		w.t.Fatalf("%v; the sidecar wrote:\n%s", err, w.sidecar.Log())
	}
}

// pricedModel is one whose profile ships, with prices.
const pricedModel = "gpt-6-luna"

// serveModel is an OpenAI-compatible server that summarizes everything alike.
func serveModel(t *testing.T) string {
	t.Helper()
	summary, err := json.Marshal(map[string]string{"summary": strings.Repeat("The parts were read, one after the other. ", 8)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": string(summary)}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 1000, "completion_tokens": 100},
		})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// collector is a collector of traces that keeps what it is sent.
type collector struct {
	collectpb.UnimplementedTraceServiceServer
	address string

	mu       sync.Mutex
	requests []*collectpb.ExportTraceServiceRequest
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, server := &collector{address: l.Addr().String()}, grpc.NewServer()
	collectpb.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return c
}

// Export implements collectpb.TraceServiceServer.
func (c *collector) Export(_ context.Context, r *collectpb.ExportTraceServiceRequest) (*collectpb.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	return &collectpb.ExportTraceServiceResponse{}, nil
}

func (c *collector) spans() (out []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.requests {
		for _, resource := range r.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				out = append(out, scope.GetSpans()...)
			}
		}
	}
	return out
}

// text is all that was sent, to be searched.
func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, r := range c.requests {
		b.WriteString(protojson.Format(r))
	}
	return b.String()
}

// scrape asks the operations listener for all metrics.
func (w *world) scrape() []byte {
	w.t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + w.sidecar.Operations() + "/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%d, %v: %s", answer.StatusCode, err, text)
	}
	return text
}

func parse(t *testing.T, scrape []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(scrape))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// sum adds up the series of a family that have a label, or all.
func sum(f *dto.MetricFamily, value string) (out float64) {
	for _, s := range f.GetMetric() {
		has := value == ""
		for _, l := range s.GetLabel() {
			has = has || l.GetValue() == value
		}
		if has {
			out += s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
	}
	return out
}

func text(role pb.Role, s string) *pb.Message {
	return &pb.Message{Role: role, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: s}}}}
}

func (w *world) append(ctx context.Context, conversation string, m *pb.Message) {
	w.t.Helper()
	if _, err := w.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: conversation, Message: m}); err != nil {
		w.t.Fatal(err)
	}
}

// work plays a conversation in which the window overflows, so that a model is asked.
func (w *world) work(ctx context.Context, conversation string) {
	w.t.Helper()
	policy := &pb.Policy{Fit: &pb.FitPolicy{MaxContextTokens: new(int32(1200))}}
	if _, err := w.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: conversation, Policy: policy}}); err != nil {
		w.t.Fatal(err)
	}
	for range 12 {
		w.append(ctx, conversation, text(pb.Role_ROLE_USER, strings.Repeat("Read the next part and say what it is about. ", 20)))
		if _, err := w.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation, Model: pricedModel}); err != nil {
			w.t.Fatal(err)
		}
		w.append(ctx, conversation, text(pb.Role_ROLE_ASSISTANT, "It is about parts."))
	}
}

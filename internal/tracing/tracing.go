package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// service is what the sidecar is called in traces.
const service = "palimpsest"

// exportTimeout is how long a collector may take for a batch. What it did not take then is lost.
const exportTimeout = 5 * time.Second

// Options is what traces are made of.
type Options struct {
	// Endpoint is a collector that speaks OTLP over gRPC: http://host:port, or https for TLS.
	Endpoint string
	// Ratio is the share of traces that begin here and are kept, 0 to 1. Of traces that callers began, those that they keep are kept.
	Ratio float64
	// Version is the sidecar's.
	Version string
	// Reason is the reason that a call's error carries; empty for none.
	Reason func(error) string
}

// Tracing makes spans and exports them in the background. It is safe for concurrent use.
type Tracing struct {
	reason   func(error) string
	queue    *queue
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns tracing to a collector. It does not connect yet: a collector that is away keeps no sidecar from starting.
func New(ctx context.Context, o Options) (*Tracing, error) {
	exporter, err := otlptracegrpc.New(ctx,
		otlptracegrpc.WithEndpointURL(o.Endpoint),
		otlptracegrpc.WithTimeout(exportTimeout),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: false}), // the queue would fill meanwhile
	)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	t := &Tracing{reason: o.Reason, queue: newQueue(exporter)} //nolint:contextcheck // exports outlive what is traced
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(t.queue),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", service), attribute.String("service.version", o.Version))),
	)
	t.tracer = t.provider.Tracer("github.com/palimpsest-context/palimpsest")
	return t, nil
}

// Close exports what waits, as long as ctx lets it.
func (t *Tracing) Close(ctx context.Context) { _ = t.provider.Shutdown(ctx) } // what is lost is counted, and nobody is left to tell

// Spans says how many spans a collector has taken, and how many were lost.
func (t *Tracing) Spans() (exported, dropped int64) {
	return t.queue.exported.Load(), t.queue.dropped.Load()
}

// TraceID is the id of the trace that a context belongs to; empty if it belongs to none that is kept.
func (t *Tracing) TraceID(ctx context.Context) string {
	if s := trace.SpanContextFromContext(ctx); s.IsSampled() {
		return s.TraceID().String()
	}
	return ""
}

// withCaller continues the trace of a caller. Of what callers send, the ids are taken: a trace's state is their text.
func withCaller(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, traceparent(metadata.ValueFromIncomingContext(ctx, traceparentKey)))
}

const traceparentKey = "traceparent"

// traceparent is a carrier of that header alone.
type traceparent []string

// Get implements propagation.TextMapCarrier.
func (c traceparent) Get(key string) string {
	if key == traceparentKey && len(c) == 1 {
		return c[0]
	}
	return ""
}

// Set implements propagation.TextMapCarrier; nobody sets anything.
func (traceparent) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (traceparent) Keys() []string { return []string{traceparentKey} }

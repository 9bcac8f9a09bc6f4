package tracing

import (
	"context"
	"strings"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Unary is an interceptor that makes a span of each call.
func (t *Tracing) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	ctx, span := t.call(ctx, info.FullMethod)
	reply, err = handler(ctx, req)
	t.endCall(span, err)
	return reply, err
}

// Stream is an interceptor that makes a span of each call.
func (t *Tracing) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, span := t.call(stream.Context(), info.FullMethod)
	err := handler(srv, &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx})
	t.endCall(span, err)
	return err
}

func (t *Tracing) call(ctx context.Context, full string) (context.Context, trace.Span) {
	name := strings.TrimPrefix(full, "/")
	service, method, _ := strings.Cut(name, "/")
	return t.tracer.Start(withCaller(ctx), name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("rpc.system", "grpc"), attribute.String("rpc.service", service), attribute.String("rpc.method", method),
	))
}

func (t *Tracing) endCall(span trace.Span, err error) {
	code := status.Code(err)
	span.SetAttributes(attribute.Int("rpc.grpc.status_code", int(code)))
	if reason := t.reason(err); reason != "" {
		span.SetAttributes(attribute.String("palimpsest.reason", reason))
	}
	switch code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		span.SetStatus(otelcodes.Error, "") // the server's faults, as OpenTelemetry has them
	}
	span.End()
}

// Step makes a span of a step of a build.
func (t *Tracing) Step(ctx context.Context, s engine.BuildStep) (inner context.Context, end func()) {
	ctx, span := t.tracer.Start(ctx, "build."+string(s))
	return ctx, func() { span.End() }
}

// Store makes a span of each commit of a store.
func (t *Tracing) Store(s store.Store) store.Store { return &tracedStore{s, t.tracer} }

type tracedStore struct {
	store.Store
	tracer trace.Tracer
}

// Commit implements store.Store.
func (s *tracedStore) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	ctx, span := s.tracer.Start(ctx, "store.commit")
	defer span.End()
	err := s.Store.Commit(ctx, key, c)
	if err != nil {
		span.SetStatus(otelcodes.Error, "")
	}
	return err
}

// Model makes a span of each call to a provider's models. It begins a trace: summaries are written behind the calls that want them.
func (t *Tracing) Model(provider string, m summarize.Model) summarize.Model {
	return &tracedModel{m, provider, t.tracer}
}

type tracedModel struct {
	summarize.Model
	provider string
	tracer   trace.Tracer
}

// Complete implements summarize.Model.
func (m *tracedModel) Complete(ctx context.Context, call summarize.Call) (summarize.Answer, error) {
	ctx, span := m.tracer.Start(ctx, "model.call", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("palimpsest.provider", m.provider)))
	defer span.End()
	answer, err := m.Model.Complete(ctx, call)
	span.SetAttributes(attribute.Int64("palimpsest.input_tokens", answer.InputTokens), attribute.Int64("palimpsest.output_tokens", answer.OutputTokens),
		attribute.Int64("palimpsest.cache_read_tokens", answer.CacheReadTokens))
	if why := summarize.ReasonOf(err); why != "" {
		span.SetAttributes(attribute.String("palimpsest.outcome", string(why)))
		span.SetStatus(otelcodes.Error, "")
	}
	return answer, err
}

package tracing

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exporter takes spans as it is told to.
type exporter struct {
	export func(ctx context.Context, n int) error
	taken  atomic.Int64
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.export(ctx, len(spans)); err != nil {
		return err
	}
	e.taken.Add(int64(len(spans)))
	return nil
}

func (e *exporter) Shutdown(context.Context) error { return nil }

// tracer makes spans that go to the queue.
func tracer(q *queue) trace.Tracer {
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q)).Tracer("test")
}

func spans(t *testing.T, q *queue, n int) {
	t.Helper()
	tr := tracer(q)
	for range n {
		_, s := tr.Start(t.Context(), "x")
		s.End()
	}
}

func TestQueue_Shutdown_ExportsWhatWaits(t *testing.T) {
	e := &exporter{export: func(context.Context, int) error { return nil }}
	q := newQueue(e)
	spans(t, q, 1000)
	if err := q.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e.taken.Load() != 1000 || q.exported.Load() != 1000 || q.dropped.Load() != 0 {
		t.Errorf("%d taken, %d exported, %d lost", e.taken.Load(), q.exported.Load(), q.dropped.Load())
	}
}

// TestQueue_ExporterThatHangs_NobodyWaits: what finds no room is lost and counted, and the end does not wait for the rest either.
func TestQueue_ExporterThatHangs_NobodyWaits(t *testing.T) {
	e := &exporter{export: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
	q := newQueue(e)
	const made = queueLength + 4*batchLength
	began := time.Now()
	spans(t, q, made)
	if took := time.Since(began); took > exportTimeout {
		t.Errorf("making spans took %s", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_ = q.Shutdown(ctx)
	if lost := q.dropped.Load(); lost != made {
		t.Errorf("%d of %d are counted as lost", lost, made)
	}
}

func TestQueue_ExporterThatFails_LossesAreCounted(t *testing.T) {
	q := newQueue(&exporter{export: func(_ context.Context, n int) error {
		if n == batchLength {
			return errors.New("refused")
		}
		return nil
	}})
	spans(t, q, batchLength+5)
	if err := q.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q.dropped.Load() != batchLength || q.exported.Load() != 5 {
		t.Errorf("%d lost, %d exported", q.dropped.Load(), q.exported.Load())
	}
}

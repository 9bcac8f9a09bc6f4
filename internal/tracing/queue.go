package tracing

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// queueLength is how many spans wait at most. One that finds no room is lost.
	queueLength = 4096
	batchLength = 512
	flushEvery  = time.Second
)

// queue hands spans to an exporter in batches, and counts those that are lost. The SDK's own loses them silently.
type queue struct {
	exporter sdktrace.SpanExporter
	spans    chan sdktrace.ReadOnlySpan
	ctx      context.Context //nolint:containedctx // of the exports, which no caller waits for
	cancel   context.CancelFunc
	once     sync.Once
	stop     chan struct{}
	stopped  chan struct{}

	exported, dropped atomic.Int64
}

func newQueue(e sdktrace.SpanExporter) *queue {
	q := &queue{
		exporter: e, spans: make(chan sdktrace.ReadOnlySpan, queueLength), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.run()
	return q
}

// OnStart implements sdktrace.SpanProcessor.
func (q *queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor. It does not wait.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

// ForceFlush implements sdktrace.SpanProcessor; spans go when they go.
func (q *queue) ForceFlush(context.Context) error { return nil }

// Shutdown implements sdktrace.SpanProcessor: it exports what waits, until ctx ends.
func (q *queue) Shutdown(ctx context.Context) error {
	q.once.Do(func() { close(q.stop) })
	select {
	case <-q.stopped:
	case <-ctx.Done():
		q.cancel()
		<-q.stopped
	}
	q.cancel()
	return q.exporter.Shutdown(ctx)
}

func (q *queue) run() {
	defer close(q.stopped)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	batch := make([]sdktrace.ReadOnlySpan, 0, batchLength)
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) < batchLength {
				continue
			}
		case <-ticker.C:
		case <-q.stop:
			q.finish(batch)
			return
		}
		batch = q.export(batch)
	}
}

// finish exports what is left.
func (q *queue) finish(batch []sdktrace.ReadOnlySpan) {
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) == batchLength {
				batch = q.export(batch)
			}
		default:
			q.export(batch)
			return
		}
	}
}

// export exports a batch and returns it empty.
func (q *queue) export(batch []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(q.ctx, exportTimeout)
	defer cancel()
	if q.exporter.ExportSpans(ctx, batch) != nil {
		q.dropped.Add(int64(len(batch)))
	} else {
		q.exported.Add(int64(len(batch)))
	}
	return batch[:0]
}

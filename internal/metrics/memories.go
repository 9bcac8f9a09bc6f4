package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// memories counts what memories across conversations are given.
type memories struct {
	batches  *prometheus.CounterVec
	messages *prometheus.CounterVec
	waited   *prometheus.HistogramVec
}

func newMemories(f family) *memories {
	return &memories{
		batches:  f.counter("memory_batches_total", "Batches sent to a memory, repeats included, by outcome.", labelTarget, labelOutcome),
		messages: f.counter("memory_messages_total", "Messages that a memory has taken.", labelTarget),
		waited: f.histogram("memory_lag_seconds", "Age of a batch's first message when a memory took it.",
			[]float64{1, 5, 30, 60, 300, 900, 1800, 3600, 14400, 86400}, labelTarget),
	}
}

// ExpectMemory gives a memory its series before it is given anything.
func (m *Metrics) ExpectMemory(target string) {
	m.memories.batches.WithLabelValues(target, string(engine.MemoryTaken))
	m.memories.messages.WithLabelValues(target)
	m.memories.waited.WithLabelValues(target)
}

// MemorySent counts a batch that a memory was given.
func (m *Metrics) MemorySent(target string, outcome engine.MemoryOutcome, messages int, waited time.Duration) {
	m.memories.batches.WithLabelValues(target, string(outcome)).Inc()
	if outcome == engine.MemoryTaken {
		m.memories.messages.WithLabelValues(target).Add(float64(messages))
		m.memories.waited.WithLabelValues(target).Observe(waited.Seconds())
	}
}

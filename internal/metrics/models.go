package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// What the tokens of a call were: those of the input that no cache knew, read from the provider's cache, written to it, and of the output.
const (
	directionInput  = "input"
	directionRead   = "cache_read"
	directionWrite  = "cache_write"
	directionOutput = "output"
)

// answered is the outcome of a call that was answered; others are the reasons of package summarize.
const answered = "answered"

// models counts the sidecar's own calls to models.
type models struct {
	calls    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	cost     *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newModels(f family) *models {
	return &models{
		calls:  f.counter("model_calls_total", "The sidecar's own calls to models, made or skipped, by outcome.", labelProvider, labelOutcome),
		tokens: f.counter("model_tokens_total", "Tokens of the sidecar's own calls to models, reported or estimated: input (uncached), cache_read, cache_write, output.", labelProvider, labelDirection),
		cost:   f.counter("model_cost_total", "Cost of the sidecar's own calls to models whose profile has prices.", labelProvider),
		duration: f.histogram("model_call_duration_seconds", "Time of the sidecar's own calls to models.",
			[]float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}, labelProvider),
	}
}

// ExpectProvider gives a provider its series before its first call.
func (m *Metrics) ExpectProvider(provider string) {
	m.models.calls.WithLabelValues(provider, answered)
	m.models.cost.WithLabelValues(provider)
	m.models.duration.WithLabelValues(provider)
	for _, direction := range []string{directionInput, directionRead, directionWrite, directionOutput} {
		m.models.tokens.WithLabelValues(provider, direction)
	}
}

// ModelCall counts a call to a model, and what it cost; 0 if nobody knows.
func (m *Metrics) ModelCall(r summarize.CallReport, cost float64) {
	outcome := answered
	if r.Reason != "" {
		outcome = string(r.Reason)
	}
	m.models.calls.WithLabelValues(r.Provider, outcome).Inc()
	for direction, n := range map[string]int64{
		directionInput: r.Tokens.Input - r.Tokens.CacheRead - r.Tokens.CacheWrite, directionRead: r.Tokens.CacheRead,
		directionWrite: r.Tokens.CacheWrite, directionOutput: r.Tokens.Output,
	} {
		m.models.tokens.WithLabelValues(r.Provider, direction).Add(float64(n))
	}
	m.models.cost.WithLabelValues(r.Provider).Add(cost)
	m.models.duration.WithLabelValues(r.Provider).Observe(r.Took.Seconds())
}

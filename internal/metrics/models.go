package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
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

func newModels() *models {
	return &models{
		calls:  counter("model_calls_total", "The sidecar's own calls to models, made or skipped, by how they ended.", labelProvider, labelOutcome),
		tokens: counter("model_tokens_total", "Tokens of the sidecar's own calls to models, as the provider reports them or estimated.", labelProvider, labelDirection),
		cost:   counter("model_cost_total", "What the sidecar's own calls to models cost, for models whose profile has prices.", labelProvider),
		duration: histogram("model_call_duration_seconds", "How long the sidecar's own calls to models took.",
			[]float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}, labelProvider),
	}
}

func (s *models) all() []prometheus.Collector {
	return []prometheus.Collector{s.calls, s.tokens, s.cost, s.duration}
}

// ExpectProvider gives a provider its series before its first call.
func (m *Metrics) ExpectProvider(provider string) {
	m.models.calls.WithLabelValues(provider, answered)
	m.models.cost.WithLabelValues(provider)
	m.models.duration.WithLabelValues(provider)
	m.models.tokens.WithLabelValues(provider, "input")
	m.models.tokens.WithLabelValues(provider, "output")
}

// ModelCall counts a call to a model, and what it cost; 0 if nobody knows.
func (m *Metrics) ModelCall(provider string, why summarize.Reason, input, output int64, took time.Duration, cost float64) {
	outcome := answered
	if why != "" {
		outcome = string(why)
	}
	m.models.calls.WithLabelValues(provider, outcome).Inc()
	m.models.tokens.WithLabelValues(provider, "input").Add(float64(input))
	m.models.tokens.WithLabelValues(provider, "output").Add(float64(output))
	m.models.cost.WithLabelValues(provider).Add(cost)
	m.models.duration.WithLabelValues(provider).Observe(took.Seconds())
}

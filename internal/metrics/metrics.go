package metrics

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapesAtOnce is how many scrapes are answered together; others are refused.
const scrapesAtOnce = 4

// Options is what metrics are made of.
type Options struct {
	// Methods are the full names of the methods that are counted by name; all others count as unknown.
	Methods []string
	// Call says whose the call of a context is, once it has ended, and how many bytes were received of it.
	Call func(context.Context) (namespace string, received int64)
	// Version is the sidecar's.
	Version string
}

// Metrics counts what it is told and reads what it is given, and answers scrapes. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	namespaces *namespaces
	calls      *calls
	builds     *builds
	models     *models
	commits    *commits
	memories   *memories
}

// New returns metrics in a registry of their own.
func New(o Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), namespaces: newNamespaces()}
	f := family{promauto.With(m.registry)}
	m.calls, m.builds = newCalls(f, &o, m.namespaces), newBuilds(f, m.namespaces)
	m.models, m.commits, m.memories = newModels(f), newCommits(f), newMemories(f)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "palimpsest_build_info", Help: "Always 1; the label is the sidecar's version.", ConstLabels: prometheus.Labels{"version": o.Version},
	})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce})
}

// family makes what is measured, and registers it; every name begins with the program's.
type family struct{ make promauto.Factory }

func (f family) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.make.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
}

func (f family) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.make.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
}

func (f family) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.make.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
}

const prefix = "palimpsest_"

// Labels.
const (
	labelNamespace = "namespace"
	labelMethod    = "method"
	labelCode      = "code"
	labelMechanism = "mechanism"
	labelProvider  = "provider"
	labelOutcome   = "outcome"
	labelDirection = "direction"
	labelCache     = "cache"
	labelLane      = "lane"
	labelQuota     = "quota"
	labelTarget    = "target"
)

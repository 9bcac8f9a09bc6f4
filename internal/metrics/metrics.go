package metrics

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
	m.calls = newCalls(&o, m.namespaces)
	m.builds, m.models, m.commits = newBuilds(m.namespaces), newModels(), newCommits()
	m.memories = newMemories()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "palimpsest_build_info", Help: "Always 1; the label is the sidecar's version.", ConstLabels: prometheus.Labels{"version": o.Version},
	})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, group := range [][]prometheus.Collector{m.calls.all(), m.builds.all(), m.models.all(), m.commits.all(), m.memories.all()} {
		m.registry.MustRegister(group...)
	}
	return m
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce})
}

// counter and its kind name what is measured; every name begins with the program's.
func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
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

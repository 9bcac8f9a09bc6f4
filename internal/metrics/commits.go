package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// commits counts the store's commits.
type commits struct {
	duration prometheus.Histogram
	changes  prometheus.Histogram
}

func newCommits() *commits {
	return &commits{
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "store_commit_duration_seconds", Help: "Time to make a group of changes durable.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
		changes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "store_commit_changes", Help: "Changes made durable together.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
		}),
	}
}

func (c *commits) all() []prometheus.Collector { return []prometheus.Collector{c.duration, c.changes} }

// Committed counts a group of changes that the store took.
func (m *Metrics) Committed(changes int, took time.Duration) {
	m.commits.duration.Observe(took.Seconds())
	m.commits.changes.Observe(float64(changes))
}

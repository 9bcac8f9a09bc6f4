package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// commits counts the store's commits.
type commits struct {
	duration prometheus.Observer
	changes  prometheus.Observer
}

func newCommits(f family) *commits {
	return &commits{
		duration: f.histogram("store_commit_duration_seconds", "Time to make a group of changes durable.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}).WithLabelValues(),
		changes: f.histogram("store_commit_changes", "Changes made durable together.", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}).WithLabelValues(),
	}
}

// Committed counts a group of changes that the store took.
func (m *Metrics) Committed(changes int, took time.Duration) {
	m.commits.duration.Observe(took.Seconds())
	m.commits.changes.Observe(float64(changes))
}

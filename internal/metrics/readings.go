package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// measure is one number of what is read, under its name.
type measure[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(S) float64
	is   func(S) bool // nil: always
}

type numeric interface{ int | int64 | float64 }

func gaugeOf[S any, N numeric](name, help string, of func(S) N, labels ...string) measure[S] {
	return measure[S]{desc: desc(name, help, labels...), kind: prometheus.GaugeValue, of: func(s S) float64 { return float64(of(s)) }}
}

func counterOf[S any, N numeric](name, help string, of func(S) N, labels ...string) measure[S] {
	m := gaugeOf(name, help, of, labels...)
	m.kind = prometheus.CounterValue
	return m
}

// readEach reads each of several, whose labels tell them apart; nil where nothing is to be read.
func readEach[S any](read func() []S, labels func(S) []string, measures ...measure[S]) *reading {
	if read == nil {
		return nil
	}
	out := &reading{read: func(give func(value)) {
		for _, s := range read() {
			for _, m := range measures {
				if m.is == nil || m.is(s) {
					give(value{m.desc, m.kind, m.of(s), labels(s)})
				}
			}
		}
	}}
	for _, m := range measures {
		out.descs = append(out.descs, m.desc)
	}
	return out
}

// readOne reads what there is one of.
func readOne[S any](read func() S, measures ...measure[S]) *reading {
	if read == nil {
		return nil
	}
	return readEach(func() []S { return []S{read()} }, func(S) []string { return nil }, measures...)
}

func readFlag(name, help string, read func() bool) *reading {
	return readOne(read, gaugeOf(name, help, func(is bool) int {
		if is {
			return 1
		}
		return 0
	}))
}

func readCount(name, help string, read func() int64) *reading {
	return readOne(read, gaugeOf(name, help, func(n int64) int64 { return n }))
}

func readStore(read func() Store) *reading {
	disk := gaugeOf("store_disk_free_bytes", "Bytes left in the file system of the store's file.", func(s Store) int64 { return s.DiskFreeBytes })
	disk.is = func(s Store) bool { return s.DiskFreeBytes >= 0 }
	return readOne(read, disk,
		gaugeOf("store_size_bytes", "The size of the store's file.", func(s Store) int64 { return s.Bytes }),
		gaugeOf("store_free_bytes", "Unused bytes of the store's file, filled before it grows.", func(s Store) int64 { return s.FreeBytes }),
		gaugeOf("store_limit_bytes", "The limit of the store's file (--max-store-size); 0 for none.", func(s Store) int64 { return s.MaxBytes }),
		gaugeOf("store_queue_length", "Changes waiting to be made durable.", func(s Store) int64 { return s.Queued }))
}

func readCaches(read func() []Cache) *reading {
	return readEach(read, func(c Cache) []string { return []string{c.Name} },
		gaugeOf("cache_size_bytes", "Memory used by a cache.", func(c Cache) int64 { return c.Bytes }, labelCache),
		gaugeOf("cache_limit_bytes", "Memory limit of a cache.", func(c Cache) int64 { return c.MaxBytes }, labelCache),
		counterOf("cache_hits_total", "Lookups found in a cache.", func(c Cache) int64 { return c.Hits }, labelCache),
		counterOf("cache_misses_total", "Lookups not found in a cache.", func(c Cache) int64 { return c.Misses }, labelCache))
}

func readAdmission(read func() Admission) *reading {
	return readOne(read,
		gaugeOf("admission_limit_calls", "Limit of calls in flight.", func(a Admission) int64 { return a.MaxCalls }),
		counterOf("admission_refusals_total", "Calls refused because too much was in flight.", func(a Admission) int64 { return a.Refused }))
}

func readLanes(read func() Admission) *reading {
	if read == nil {
		return nil
	}
	return readEach(func() []Lane { return read().Lanes }, func(l Lane) []string { return []string{l.Name} },
		gaugeOf("admission_bytes", "Memory granted to requests, answers and imports in flight.", func(l Lane) int64 { return l.Bytes }, labelLane),
		gaugeOf("admission_limit_bytes", "Memory limit of requests, answers and imports in flight.", func(l Lane) int64 { return l.MaxBytes }, labelLane))
}

func readSweeps(read func() Sweeps) *reading {
	return readOne(read,
		counterOf("sweeper_runs_total", "Runs of the sweeper, which looks for due work.", func(s Sweeps) int64 { return s.Runs }),
		counterOf("sweeper_tasks_total", "Due work that the sweeper found: deletions, expiries, bookkeeping.", func(s Sweeps) int64 { return s.Tasks }),
		counterOf("sweeper_failures_total", "Work that the sweeper could not do, and retries.", func(s Sweeps) int64 { return s.Failures }))
}

func readBreakers(read func() map[string]int) *reading {
	if read == nil {
		return nil
	}
	open := desc("model_open_breakers", "Models of a provider that are not called because they failed repeatedly.", labelProvider)
	return &reading{[]*prometheus.Desc{open}, func(give func(value)) {
		for provider, n := range read() {
			give(value{open, prometheus.GaugeValue, float64(n), []string{provider}})
		}
	}}
}

func readQuotas(read func() []Quota, n *namespaces) *reading {
	if read == nil {
		return nil
	}
	return readEach(func() []Quota { return onePerSeries(read(), n) }, func(q Quota) []string { return []string{q.Namespace, q.Name} },
		gaugeOf("quota_used", "A namespace's use of a quota, in its unit.", func(q Quota) float64 { return q.Used }, labelNamespace, labelQuota),
		gaugeOf("quota_limit", "A namespace's limit of a quota, in its unit.", func(q Quota) float64 { return q.Limit }, labelNamespace, labelQuota))
}

// onePerSeries names quotas by their namespaces' labels. Of several with the same label the fullest stands for all, so that an alert on
// its share of the limit fires for each of them.
func onePerSeries(quotas []Quota, n *namespaces) []Quota {
	out, rest := make([]Quota, 0, len(quotas)), map[string]Quota{}
	for _, q := range quotas {
		if q.Namespace = n.label(q.Namespace); q.Namespace != otherNamespaces {
			out = append(out, q)
			continue
		}
		if fullest, ok := rest[q.Name]; !ok || q.Used*fullest.Limit > fullest.Used*q.Limit {
			rest[q.Name] = q
		}
	}
	return slices.AppendSeq(out, maps.Values(rest))
}

func readSpans(read func() Spans) *reading {
	return readOne(read,
		counterOf("trace_spans_exported_total", "Spans that the collector has taken.", func(s Spans) int64 { return s.Exported }),
		counterOf("trace_spans_dropped_total", "Spans lost because the collector was slow, away or refused them.", func(s Spans) int64 { return s.Dropped }))
}

package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	isGauge   = prometheus.GaugeValue
	isCounter = prometheus.CounterValue
)

func readFlags(ready, writable func() bool) *reading {
	if ready == nil || writable == nil {
		return nil
	}
	isReady := desc("ready", "1 while calls are answered and the store takes writes, as /readyz says, or 0.")
	isWritable := desc("store_writable", "1 while the store takes writes, or 0.")
	return &reading{[]*prometheus.Desc{isReady, isWritable}, func(give func(value)) {
		give(value{isReady, isGauge, flag(ready()), nil})
		give(value{isWritable, isGauge, flag(writable()), nil})
	}}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func readStore(read func() Store) *reading {
	if read == nil {
		return nil
	}
	size := desc("store_size_bytes", "The size of the store's file.")
	free := desc("store_free_bytes", "Unused bytes of the store's file, filled before it grows.")
	limit := desc("store_limit_bytes", "The limit of the store's file (--max-store-size); 0 for none.")
	disk := desc("store_disk_free_bytes", "Bytes left in the file system of the store's file.")
	queue := desc("store_queue_length", "Changes waiting to be made durable.")
	return &reading{[]*prometheus.Desc{size, free, limit, disk, queue}, func(give func(value)) {
		s := read()
		give(value{size, isGauge, float64(s.Bytes), nil})
		give(value{free, isGauge, float64(s.FreeBytes), nil})
		give(value{limit, isGauge, float64(s.MaxBytes), nil})
		give(value{queue, isGauge, float64(s.Queued), nil})
		if s.DiskFreeBytes >= 0 {
			give(value{disk, isGauge, float64(s.DiskFreeBytes), nil})
		}
	}}
}

func readCaches(read func() []Cache) *reading {
	if read == nil {
		return nil
	}
	size := desc("cache_size_bytes", "Memory used by a cache.", labelCache)
	limit := desc("cache_limit_bytes", "Memory limit of a cache.", labelCache)
	hits := desc("cache_hits_total", "Lookups found in a cache.", labelCache)
	misses := desc("cache_misses_total", "Lookups not found in a cache.", labelCache)
	return &reading{[]*prometheus.Desc{size, limit, hits, misses}, func(give func(value)) {
		for _, c := range read() {
			name := []string{c.Name}
			give(value{size, isGauge, float64(c.Bytes), name})
			give(value{limit, isGauge, float64(c.MaxBytes), name})
			give(value{hits, isCounter, float64(c.Hits), name})
			give(value{misses, isCounter, float64(c.Misses), name})
		}
	}}
}

func readAdmission(read func() Admission) *reading {
	if read == nil {
		return nil
	}
	taken := desc("admission_bytes", "Memory granted to requests, answers and imports in flight.", labelLane)
	limit := desc("admission_limit_bytes", "Memory limit of requests, answers and imports in flight.", labelLane)
	calls := desc("admission_limit_calls", "Limit of calls in flight.")
	refused := desc("admission_refusals_total", "Calls refused because too much was in flight.")
	return &reading{[]*prometheus.Desc{taken, limit, calls, refused}, func(give func(value)) {
		a := read()
		give(value{calls, isGauge, float64(a.MaxCalls), nil})
		give(value{refused, isCounter, float64(a.Refused), nil})
		for _, l := range a.Lanes {
			give(value{taken, isGauge, float64(l.Bytes), []string{l.Name}})
			give(value{limit, isGauge, float64(l.MaxBytes), []string{l.Name}})
		}
	}}
}

func readSweeps(read func() Sweeps) *reading {
	if read == nil {
		return nil
	}
	runs := desc("sweeper_runs_total", "Runs of the sweeper, which looks for due work.")
	tasks := desc("sweeper_tasks_total", "Due work that the sweeper found: deletions, expiries, bookkeeping.")
	failures := desc("sweeper_failures_total", "Work that the sweeper could not do, and retries.")
	return &reading{[]*prometheus.Desc{runs, tasks, failures}, func(give func(value)) {
		s := read()
		give(value{runs, isCounter, float64(s.Runs), nil})
		give(value{tasks, isCounter, float64(s.Tasks), nil})
		give(value{failures, isCounter, float64(s.Failures), nil})
	}}
}

func readModels(breakers func() map[string]int, waiting func() int64) *reading {
	if breakers == nil || waiting == nil {
		return nil
	}
	open := desc("model_open_breakers", "Models of a provider that are not called because they failed repeatedly.", labelProvider)
	pending := desc("model_pending_summaries", "Summaries waiting for models.")
	return &reading{[]*prometheus.Desc{open, pending}, func(give func(value)) {
		give(value{pending, isGauge, float64(waiting()), nil})
		found := breakers()
		for _, provider := range slices.Sorted(maps.Keys(found)) {
			give(value{open, isGauge, float64(found[provider]), []string{provider}})
		}
	}}
}

func readQuotas(read func() []Quota, n *namespaces) *reading {
	if read == nil {
		return nil
	}
	used := desc("quota_used", "A namespace's use of a quota, in its unit.", labelNamespace, labelQuota)
	limit := desc("quota_limit", "A namespace's limit of a quota, in its unit.", labelNamespace, labelQuota)
	return &reading{[]*prometheus.Desc{used, limit}, func(give func(value)) {
		for _, q := range onePerSeries(read(), n) {
			give(value{used, isGauge, q.Used, []string{q.Namespace, q.Name}})
			give(value{limit, isGauge, q.Limit, []string{q.Namespace, q.Name}})
		}
	}}
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
	if read == nil {
		return nil
	}
	exported := desc("trace_spans_exported_total", "Spans that the collector has taken.")
	dropped := desc("trace_spans_dropped_total", "Spans lost because the collector was slow, away or refused them.")
	return &reading{[]*prometheus.Desc{exported, dropped}, func(give func(value)) {
		s := read()
		give(value{exported, isCounter, float64(s.Exported), nil})
		give(value{dropped, isCounter, float64(s.Dropped), nil})
	}}
}

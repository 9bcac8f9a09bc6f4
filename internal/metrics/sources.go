package metrics

import "github.com/prometheus/client_golang/prometheus"

// Sources are read at each scrape. None may wait. What is nil is not measured.
type Sources struct {
	Ready     func() bool
	Writable  func() bool
	Store     func() Store
	Caches    func() []Cache
	Admission func() Admission
	Sweeps    func() Sweeps
	Breakers  func() (openByProvider map[string]int)
	Pending   func() (summaries int64)
	Quotas    func() []Quota
	Spans     func() Spans
	Memories  func() (waiting int64)
}

// Store is the state of the store, in bytes.
type Store struct {
	Bytes, FreeBytes int64
	MaxBytes         int64 // 0 for no limit
	DiskFreeBytes    int64 // negative if it is not known
	Queued           int64
}

// Cache is the state of a cache, and what it was asked since it was made.
type Cache struct {
	Name            string
	Bytes, MaxBytes int64
	Hits, Misses    int64
}

// Admission is what is in flight.
type Admission struct {
	MaxCalls int64
	Lanes    []Lane
	Refused  int64
}

// Lane is how much is taken of a share of the memory for what is in flight, in bytes.
type Lane struct {
	Name            string
	Bytes, MaxBytes int64
}

// Sweeps counts runs of the sweeper, tasks that were due, and tasks that failed.
type Sweeps struct{ Runs, Tasks, Failures int64 }

// Quota is a limit of a namespace, and how much of it is used. The name is of a closed set.
type Quota struct {
	Namespace, Name string
	Used, Limit     float64
}

// Spans counts spans of traces.
type Spans struct{ Exported, Dropped int64 }

// Read has sources read at every scrape from now on.
func (m *Metrics) Read(s Sources) {
	m.registry.MustRegister(newCollector(s, m.namespaces))
}

// value is one number of a scrape.
type value struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	number float64
	labels []string
}

// reading names what is read, and reads it.
type reading struct {
	descs []*prometheus.Desc
	read  func(give func(value))
}

// collector reads sources.
type collector struct{ readings []reading }

func newCollector(s Sources, n *namespaces) *collector {
	c := &collector{}
	for _, r := range []*reading{
		readFlag("ready", "1 while calls are answered and the store takes writes, as /readyz says, or 0.", s.Ready),
		readFlag("store_writable", "1 while the store takes writes, or 0.", s.Writable),
		readStore(s.Store), readCaches(s.Caches), readAdmission(s.Admission), readLanes(s.Admission), readSweeps(s.Sweeps), readBreakers(s.Breakers),
		readCount("model_pending_summaries", "Summaries waiting for models.", s.Pending), readQuotas(s.Quotas, n), readSpans(s.Spans),
		readCount("memory_waiting_conversations", "Conversations of this process with messages that wait for a memory.", s.Memories),
	} {
		if r != nil {
			c.readings = append(c.readings, *r)
		}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, r := range c.readings {
		for _, d := range r.descs {
			out <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, r := range c.readings {
		r.read(func(v value) { out <- prometheus.MustNewConstMetric(v.desc, v.kind, v.number, v.labels...) })
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

// Package observation is what operators see of a running sidecar: health, metrics and traces.
package observation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/stores"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/listen"
	"github.com/palimpsest-context/palimpsest/internal/metrics"
	"github.com/palimpsest-context/palimpsest/internal/ops"
	"github.com/palimpsest-context/palimpsest/internal/tracing"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Observation is what operators see of a program: its health, and with flags for it the listener that tells of it, metrics and traces. What
// no flag asks for is nil, and nothing of it is measured.
type Observation struct {
	Health  *ops.Health
	server  *ops.Server
	served  chan error
	metrics *metrics.Metrics
	traces  *tracing.Tracing
	// modelCost is what a call to a model costs; set before the first.
	modelCost func(ctx context.Context, namespace, model string, took conversation.CallTokens) (float64, bool, error)
}

// New opens the operations listener before anything that may take long: a process that reads a large store lives, and is not ready.
func New(ctx context.Context, s *config.Settings, sockets listen.Sockets, version string, log *zap.Logger) (*Observation, error) {
	o := &Observation{Health: ops.NewHealth()}
	if err := o.listen(ctx, s, sockets, version, log); err != nil {
		return nil, err
	}
	if s.OTLPEndpoint == "" {
		return o, nil
	}
	var err error
	o.traces, err = tracing.New(ctx, tracing.Options{
		Endpoint: s.OTLPEndpoint, Ratio: s.OTLPSample, Version: version, Reason: grpcserver.ReasonOf,
	})
	if err != nil {
		return nil, errors.Join(err, o.Close(ctx))
	}
	if o.metrics != nil {
		o.metrics.Read(metrics.Sources{Spans: o.spans})
	}
	return o, nil
}

func (o *Observation) spans() metrics.Spans {
	exported, dropped := o.traces.Spans()
	return metrics.Spans{Exported: exported, Dropped: dropped}
}

// listen opens the operations listener, if there is to be one.
func (o *Observation) listen(ctx context.Context, s *config.Settings, sockets listen.Sockets, version string, log *zap.Logger) error {
	if s.Ops == "" {
		return nil
	}
	l, err := listen.On(ctx, s.Ops, sockets)
	if err != nil {
		return fmt.Errorf("--ops: %w", err)
	}
	o.metrics = metrics.New(metrics.Options{Methods: grpcserver.Methods(), Call: callOf, Version: version})
	for _, a := range s.Providers() {
		if a.URL != "" {
			o.metrics.ExpectProvider(a.Name)
		}
	}
	o.server, o.served = ops.NewServer(o.Health, o.metrics.Handler()), make(chan error, 1)
	go func() { o.served <- o.server.Serve(l) }()
	log.Info("operations", zap.String("address", listen.Address(l)))
	return nil
}

func callOf(ctx context.Context) (namespace string, received int64) {
	call := grpcserver.CallOf(ctx)
	return call.Caller.Namespace, call.RequestBytes()
}

// lastAnswers is how long spans and answers to a prober have that are on their way when everything else has ended.
const lastAnswers = time.Second

// Close exports the last spans and ends the operations listener.
func (o *Observation) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	if o.traces != nil {
		o.traces.Close(ctx)
	}
	if o.server == nil {
		return nil
	}
	if err := errors.Join(o.server.Close(ctx), <-o.served); err != nil {
		return fmt.Errorf("the operations listener: %w", err)
	}
	return nil
}

// Store completes what a store is told to tell.
func (o *Observation) Store(h stores.Hooks) stores.Hooks {
	if o.metrics != nil {
		h.Commit, h.Statistics = o.metrics.Committed, true
	}
	return h
}

// Builds is what the engine tells of builds.
func (o *Observation) Builds() engine.Observer {
	var out engine.Observer
	if o.metrics != nil {
		out.Built = o.metrics.Built
	}
	if o.traces != nil {
		out.Step = o.traces.Step
	}
	return out
}

// Memory is what the engine tells of what it gives a memory of a name.
func (o *Observation) Memory(name string) engine.MemoryObserver {
	if o.metrics == nil || name == "" {
		return engine.MemoryObserver{}
	}
	o.metrics.ExpectMemory(strings.TrimSuffix(name, "-server")) // as it calls itself
	return engine.MemoryObserver{Sent: o.metrics.MemorySent}
}

// ModelCalled is what the summarizer tells of its calls; nil if nobody listens.
func (o *Observation) ModelCalled() func(summarize.CallReport) {
	if o.metrics == nil {
		return nil
	}
	return func(r summarize.CallReport) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		cost, _, _ := o.modelCost(ctx, r.Scope.Namespace, r.Model, r.Tokens) // 0 where nobody knows
		o.metrics.ModelCall(r, cost)
	}
}

// Calls are the observers of calls.
func (o *Observation) Calls() grpcserver.Observers {
	var out grpcserver.Observers
	if o.metrics != nil {
		out.Unary, out.Stream = append(out.Unary, o.metrics.Unary), append(out.Stream, o.metrics.Stream)
	}
	if o.traces != nil {
		out.Unary, out.Stream = append(out.Unary, o.traces.Unary), append(out.Stream, o.traces.Stream)
	}
	return out
}

// TraceID names a call's trace for the log; nil without traces.
func (o *Observation) TraceID() func(context.Context) string {
	if o.traces == nil {
		return nil
	}
	return o.traces.TraceID
}

// Traced is a store whose commits are in traces.
func (o *Observation) Traced(kept store.Store) store.Store {
	if o.traces == nil {
		return kept
	}
	return o.traces.Store(kept)
}

// Model is a provider's client whose calls are in traces.
func (o *Observation) Model(provider string, m summarize.Model) summarize.Model {
	if o.traces == nil {
		return m
	}
	return o.traces.Model(provider, m)
}

// Follow reads the parts of a program from now on.
func (o *Observation) Follow(kept store.Store, e *engine.Engine, summaries *summarize.Service) {
	o.modelCost = e.ModelCost
	file, isFile := kept.(*bolt.Store)
	if isFile {
		o.Health.FollowWriter(file.Busy)
	}
	if o.metrics == nil {
		return
	}
	sources := metrics.Sources{
		Ready:    func() bool { _, ready := o.Health.Ready(); return ready },
		Writable: o.Health.Writable,
		Caches:   func() []metrics.Cache { return cacheStats(e, summaries) },
		Sweeps:   func() metrics.Sweeps { return metrics.Sweeps(e.Stats().Sweeps) },
		Breakers: func() map[string]int { return summaries.Stats().OpenBreakers },
		Pending:  func() int64 { return summaries.Stats().Pending },
		Memories: func() int64 { return int64(e.MemoryWaiting()) },
	}
	if isFile {
		sources.Store = func() metrics.Store { return storeStats(file) }
	}
	o.metrics.Read(sources)
}

// FollowServer reads a server from now on.
func (o *Observation) FollowServer(server *grpcserver.Server, e *engine.Engine) {
	if o.metrics == nil {
		return
	}
	o.metrics.Read(metrics.Sources{
		Admission: func() metrics.Admission { return admissionStats(server) },
		Quotas:    func() []metrics.Quota { return quotaUse(server, e) },
	})
}

func quotaUse(server *grpcserver.Server, e *engine.Engine) []metrics.Quota {
	use, requests := e.QuotaUse(), server.RequestsInFlight()
	out := make([]metrics.Quota, 0, len(use)+len(requests))
	for _, u := range use {
		out = append(out, metrics.Quota{Namespace: u.Namespace, Name: u.Limit, Used: u.Used, Limit: u.Max})
	}
	for _, u := range requests {
		out = append(out, metrics.Quota{Namespace: u.Namespace, Name: admission.RequestsLimit, Used: float64(u.Used), Limit: float64(u.Limit)})
	}
	return out
}

func storeStats(file *bolt.Store) metrics.Store {
	s := file.Stats()
	return metrics.Store{
		Bytes: s.FileBytes, FreeBytes: s.FreeBytes, MaxBytes: s.MaxBytes, DiskFreeBytes: s.DiskFreeBytes, Queued: int64(s.Queued),
	}
}

func cacheStats(e *engine.Engine, summaries *summarize.Service) []metrics.Cache {
	s, results := e.Stats(), summaries.Stats()
	named := func(name string, c engine.CacheStats) metrics.Cache {
		return metrics.Cache{Name: name, Bytes: c.Bytes, MaxBytes: c.MaxBytes, Hits: c.Hits, Misses: c.Misses}
	}
	return []metrics.Cache{
		named("windows", s.Windows), named("contents", s.Contents),
		{Name: "summaries", Bytes: results.ResultBytes, MaxBytes: results.MaxResultBytes, Hits: results.Hits, Misses: results.Misses},
	}
}

func admissionStats(server *grpcserver.Server) metrics.Admission {
	s := server.Admission()
	out := metrics.Admission{MaxCalls: s.MaxCalls, Refused: s.Refused}
	for _, l := range s.Lanes {
		out.Lanes = append(out.Lanes, metrics.Lane(l))
	}
	return out
}

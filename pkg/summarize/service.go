package summarize

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// Options configures a Service. With the zero value, a service has no models and every request ends at once without a text.
type Options struct {
	// Providers are the clients by provider: the part of a model's name before the first slash.
	Providers map[string]Model
	// Live are the providers whose clients take whole requests, by the format of these.
	Live map[conversation.Format]string
	// Models are asked in order for prompts that name none, as provider/model.
	Models []string
	// Extract makes an extract of about target characters without a model; the first characters if nil.
	Extract func(text string, target int) string
	// ExtractSpan makes an extract of about target characters of a stretch of conversation and the summaries before it; if nil, a simple
	// fallback is used.
	ExtractSpan func(earlier []string, units []conversation.Unit, target int) string
	// Deadline is the total time a request may take from its start; 30 seconds by default.
	Deadline time.Duration
	// TokensPerMinute limits what all conversations spend together, and TokensPerConversation what each spends during the process's
	// lifetime, in input and output tokens; 0 means no limit.
	TokensPerMinute       int64
	TokensPerConversation int64
	// CacheBytes bounds the memory of finished results; 16 MiB by default.
	CacheBytes int
	// Parallel is the number of concurrent calls; 4 by default. Waiting for a slot counts toward the request's deadline.
	Parallel int
	// Clock returns the current time; time.Now by default. Deadlines and breakers use runtime timers instead.
	Clock func() time.Time
	// OnFailure if set, is called for each request that ended without a text, on the goroutine that ran it.
	OnFailure func(*Failure)
	// OnCall if set, is called for each call to a model, made or skipped, on the goroutine that made it. It must not wait.
	OnCall func(CallReport)
}

// CallReport says how a call to a model ended.
type CallReport struct {
	Scope    Scope
	Provider string
	Model    string                  // the provider's own name
	Reason   Reason                  // empty for an answer, which may still turn out to be unusable
	Tokens   conversation.CallTokens // as counted by [Usage]
	Took     time.Duration
}

// The defaults of behaviour §14, and of Options.
const (
	DefaultDeadline   = 30 * time.Second
	DefaultCacheBytes = 16 << 20

	defaultParallel = 4
)

// maxPending limits the requests that wait or run, because each holds its content in memory.
const maxPending = 256

// bodiesShare is how many times what finished results may take the bodies of pending requests may: a system prompt can have megabytes, and
// every conversation its own.
const bodiesShare = 4

// Service takes requests for summaries (behaviour §5 and §8). It is safe for concurrent use. Its zero value is a service without models.
type Service struct {
	options Options
	base    context.Context // ends when the service is closed
	end     context.CancelCauseFunc
	running sync.WaitGroup
	slots   chan struct{} // one for each running call
	models  *modelHealthCache
	budget  *tokenBudget

	mu       sync.Mutex
	closed   bool
	jobs     map[key]*job
	bodies   int             // bytes of the bodies of requests that wait or run
	lastTurn <-chan struct{} // closed after the turn of the newest job; nil before the first
	results  results
	hits     int64 // requests whose result was there when they were started
	misses   int64
	usage    Usage
	ledger   ledger
	quotas   Quotas
}

// New returns a service. Close stops it, but not its providers, which belong to the caller.
func New(o Options) *Service {
	o.Deadline = cmp.Or(max(o.Deadline, 0), DefaultDeadline)
	o.CacheBytes = cmp.Or(max(o.CacheBytes, 0), DefaultCacheBytes)
	o.Parallel = cmp.Or(max(o.Parallel, 0), defaultParallel)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	d := &Service{
		options: o,
		slots:   make(chan struct{}, o.Parallel),
		models:  newModelHealthCache(),
		budget:  newTokenBudget(o.TokensPerMinute, o.TokensPerConversation, o.Clock()),
		jobs:    map[key]*job{},
		results: newResults(o.CacheBytes, o.Clock),
		usage:   Usage{Failures: map[Reason]int64{}},
		ledger:  newLedger(),
	}
	d.base, d.end = context.WithCancelCause(context.Background())
	return d
}

// Quotas holds namespaces to what their model calls may take. It must be safe for concurrent use.
type Quotas interface {
	// ReserveCall admits a call to a model, named provider/model, that may take so many tokens. If it does, settle is told once whether the
	// call was made and what it took.
	ReserveCall(ctx context.Context, namespace, model string, may conversation.CallTokens) (settle func(made bool, took conversation.CallTokens), admitted bool)
}

// HoldTo makes all calls from now on keep to quotas.
func (d *Service) HoldTo(q Quotas) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quotas = q
}

// Result returns how a request ended; false if it has not ended or was never started. A request without a usable model has already ended, as
// [NoModel]. Failures are forgotten after a minute, so that the request can start again.
func (d *Service) Result(r *Request) (Result, bool) {
	if failure := d.withoutModel(d.modelsFor(r)); failure != nil {
		return Result{Err: failure}, true
	}
	k := d.keyOf(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if result, ok := d.results.get(k, d.options.Clock()); ok {
		return result, true
	}
	if d.closed {
		return Result{Err: &Failure{Reason: Closed}}, true
	}
	return Result{}, false
}

// Start begins a request in the background unless it is pending or has ended. The same content, prompt, models and target in one
// conversation are one request. It does not block.
func (d *Service) Start(r *Request) {
	if d.withoutModel(d.modelsFor(r)) != nil {
		return
	}
	k := d.keyOf(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ended := d.results.get(k, d.options.Clock()); ended || d.closed || d.jobs[k] != nil {
		d.hits++
		return
	}
	d.misses++
	if body := r.bodyBytes(); len(d.jobs) >= maxPending || body > 0 && d.bodies+body > bodiesShare*d.options.CacheBytes {
		d.cacheResult(k, Result{Err: &Failure{Reason: Busy}})
		d.usage.Failures[Busy]++
		return
	}
	j := &job{key: k, request: *r, done: make(chan struct{}), previousTurn: d.lastTurn, turnDone: make(chan struct{})}
	d.lastTurn = j.turnDone
	ctx, cancel := context.WithCancelCause(d.base)
	j.cancel = cancel
	d.jobs[k] = j
	d.bodies += r.bodyBytes()
	d.running.Add(1)
	go d.run(ctx, j)
}

// IsStarted reports whether a request is pending or has ended, so that starting it would do nothing.
func (d *Service) IsStarted(r *Request) bool {
	_, ended := d.Result(r)
	return ended || d.pending(r) != nil
}

// Wait returns when all of the requests have ended, or when the context is done. It does not wait for what was not started.
func (d *Service) Wait(ctx context.Context, requests []*Request) {
	for _, r := range requests {
		done := d.pending(r)
		if done == nil {
			continue
		}
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

func (d *Service) pending(r *Request) <-chan struct{} {
	k := d.keyOf(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.jobs[k]; j != nil {
		return j.done
	}
	return nil
}

// Forget drops the results and the pending requests of a content; an answer that still arrives is discarded.
func (d *Service) Forget(s Scope, hash [32]byte) {
	d.forget(func(k key) bool { return k.content == contentID{s, hash} })
}

// ForgetConversation drops the results and the pending requests of a conversation. Its spending is still counted.
func (d *Service) ForgetConversation(s Scope) {
	d.forget(func(k key) bool { return k.content.scope == s })
}

// ForgetSpans drops the results and the pending requests of a conversation's spans, because any of them may hold an erased text. Those of
// single contents stay.
func (d *Service) ForgetSpans(s Scope) {
	d.forget(func(k key) bool { return k.span && k.content.scope == s })
}

func (d *Service) forget(gone func(key) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.results.drop(gone)
	for k, j := range d.jobs {
		if gone(k) {
			delete(d.jobs, k)
			j.cancel(&Failure{Reason: Forgotten})
		}
	}
}

// Extract makes an extract of about target characters (Unicode code points) without a model.
func (d *Service) Extract(text string, target int) string {
	if d.options.Extract != nil {
		return d.options.Extract(text, target)
	}
	return headChars(text, target)
}

// ExtractSpan makes an extract of about target characters of a stretch of conversation and the summaries before it, without a model.
func (d *Service) ExtractSpan(earlier []string, units []conversation.Unit, target int) string {
	if d.options.ExtractSpan != nil {
		return d.options.ExtractSpan(earlier, units, target)
	}
	return fallbackSpanExtract(earlier, units, target)
}

func headChars(text string, n int) string { return text[:facts.CharOffset(text, n)] }

// Deadline returns the total time a request may take.
func (d *Service) Deadline() time.Duration { return d.options.Deadline }

// Usage counts what was asked of models since the service was made.
type Usage struct {
	Calls int64 // made to a provider
	// Tokens are as reported by the providers, or estimated where one reports none.
	Tokens conversation.CallTokens
	// Failures counts failed calls, refused answers, skipped models and rejected requests, by reason.
	Failures map[Reason]int64
}

// Usage returns the counts so far; the caller owns them.
func (d *Service) Usage() Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	usage := d.usage
	usage.Failures = maps.Clone(d.usage.Failures)
	return usage
}

// Stats is the state of a service at a moment.
type Stats struct {
	// ResultBytes of MaxResultBytes are taken by finished requests.
	ResultBytes, MaxResultBytes int64
	// Hits counts requests that were pending or had ended when they were started, Misses those that were not.
	Hits, Misses int64
	// Pending requests wait or run.
	Pending int64
	// OpenBreakers counts, by provider, the models that are not asked because they failed repeatedly. Every provider has an entry.
	OpenBreakers map[string]int
}

// Stats returns the state; the caller owns it.
func (d *Service) Stats() Stats {
	open := make(map[string]int, len(d.options.Providers))
	for provider := range d.options.Providers {
		open[provider] = 0
	}
	for _, model := range d.models.open() {
		provider, _, _ := strings.Cut(model, "/")
		open[provider]++
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	results := d.results.kept.Stats()
	return Stats{
		ResultBytes: results.Bytes, MaxResultBytes: results.MaxBytes, Hits: d.hits, Misses: d.misses,
		Pending: int64(len(d.jobs)), OpenBreakers: open,
	}
}

// Close cancels pending requests and waits for them to end. Requests without a result end as [Closed].
func (d *Service) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	if d.end != nil {
		d.end(&Failure{Reason: Closed})
	}
	d.running.Wait()
}

// ModelsOf returns the models to ask for a prompt, in order, as provider/model. The caller must not modify them.
func (d *Service) ModelsOf(p *conversation.Prompt) []string {
	if len(p.Models) > 0 {
		return p.Models
	}
	return d.options.Models
}

// provider returns the client for a model and the provider's own name for it; nil if there is no such client.
func (d *Service) provider(model string) (client Model, name string) {
	provider, name, ok := strings.Cut(model, "/")
	if !ok || name == "" {
		return nil, ""
	}
	return d.options.Providers[provider], name
}

// CanAsk reports whether a client exists for one of the prompt's models. The call itself may still fail.
func (d *Service) CanAsk(p *conversation.Prompt) bool { return d.withoutModel(d.ModelsOf(p)) == nil }

// withoutModel returns the failure of a request none of whose models has a client, or nil.
func (d *Service) withoutModel(models []string) *Failure {
	var failures []*Failure
	for _, model := range models {
		if client, _ := d.provider(model); client != nil {
			return nil
		}
		failures = append(failures, &Failure{Reason: NoModel, Model: model})
	}
	if len(failures) == 0 {
		return &Failure{Reason: NoModel}
	}
	return chainFailures(failures)
}

// countChars counts as the contract does: in Unicode code points.
func countChars(text string) int { return utf8.RuneCountInString(text) }

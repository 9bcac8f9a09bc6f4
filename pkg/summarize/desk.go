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
)

// Options is what a Desk is made of. The zero value makes a desk without models: every request ends at once, without a text.
type Options struct {
	// Providers are the clients by provider: what stands before the first / in a model's name.
	Providers map[string]Model
	// Models are asked, in order, for prompts that name none: provider/model.
	Models []string
	// Extract makes an extract of about target characters without a model; the first characters if nil.
	Extract func(text string, target int) string
	// ExtractSpan makes an extract of about target characters of a stretch of conversation, with the summaries of what was before
	// it; something simpler if nil.
	ExtractSpan func(earlier []string, units []conversation.Unit, target int) string
	// Deadline is how long a request may take in all, from its start; 30 seconds by default.
	Deadline time.Duration
	// TokensPerMinute bounds what all conversations spend together, and TokensPerConversation what each does while the
	// process lives, in input and output tokens; 0 sets no limit.
	TokensPerMinute       int64
	TokensPerConversation int64
	// CacheBytes bounds the memory of finished results; 16 MiB by default.
	CacheBytes int
	// Parallel is how many calls are made at once; 4 by default. What waits for its place waits in its own time.
	Parallel int
	// Clock tells the time; time.Now by default. Deadlines and breakers are timers of the runtime and do not ask it.
	Clock func() time.Time
	// OnFailure, if set, is told of each request that ended without a text, by the goroutine that worked on it.
	OnFailure func(*Failure)
}

// The defaults of behaviour §14, and of Options.
const (
	DefaultDeadline   = 30 * time.Second
	DefaultCacheBytes = 16 << 20

	defaultParallel = 4
)

// maxPending bounds the requests that wait or are worked on: each holds its content.
const maxPending = 256

// Desk takes requests for summaries (behaviour §5 and §8). It is safe for concurrent use. Its zero value is a desk without
// models.
type Desk struct {
	options Options
	base    context.Context // ends when the desk is closed
	end     context.CancelCauseFunc
	running sync.WaitGroup
	slots   chan struct{} // one for each call under way
	models  *modelHealthCache
	budget  *tokenBudget

	mu       sync.Mutex
	closed   bool
	jobs     map[key]*job
	lastTurn <-chan struct{} // closed when the job that was started last has had its turn; nil before the first
	results  results
	usage    Usage
	ledger   ledger
}

// New returns a desk. Close ends it; its providers stay the caller's.
func New(o Options) *Desk {
	o.Deadline = cmp.Or(max(o.Deadline, 0), DefaultDeadline)
	o.CacheBytes = cmp.Or(max(o.CacheBytes, 0), DefaultCacheBytes)
	o.Parallel = cmp.Or(max(o.Parallel, 0), defaultParallel)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	d := &Desk{
		options: o,
		slots:   make(chan struct{}, o.Parallel),
		models:  newModelHealthCache(),
		budget:  newTokenBudget(o.TokensPerMinute, o.TokensPerConversation, o.Clock()),
		jobs:    map[key]*job{},
		results: newResults(o.CacheBytes),
		usage:   Usage{Failures: map[Reason]int64{}},
		ledger:  newLedger(),
	}
	d.base, d.end = context.WithCancelCause(context.Background())
	return d
}

// Look returns how a request ended; false if it has not, which includes that it was never started. A request that no model can
// be asked for has ended before it began, as [NoModel]. A failure is forgotten after a minute, so that the request can start
// again.
func (d *Desk) Look(r *Request) (Result, bool) {
	if failure := d.withoutModel(&r.Prompt); failure != nil {
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

// Start begins a request in the background, unless it is under way or has ended. The same content with the same prompt, models
// and target in one conversation is one request, however often it is started. It does not block.
func (d *Desk) Start(r *Request) {
	if d.withoutModel(&r.Prompt) != nil {
		return
	}
	k := d.keyOf(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ended := d.results.get(k, d.options.Clock()); ended || d.closed || d.jobs[k] != nil {
		return
	}
	if len(d.jobs) >= maxPending {
		d.cacheResult(k, Result{Err: &Failure{Reason: Busy}})
		d.usage.Failures[Busy]++
		return
	}
	j := &job{key: k, request: *r, done: make(chan struct{}), previousTurn: d.lastTurn, turnDone: make(chan struct{})}
	d.lastTurn = j.turnDone
	ctx, cancel := context.WithCancelCause(d.base)
	j.cancel = cancel
	d.jobs[k] = j
	d.running.Add(1)
	go d.run(ctx, j)
}

// Knows reports whether a request is under way or has ended, so that starting it would start nothing.
func (d *Desk) Knows(r *Request) bool {
	_, ended := d.Look(r)
	return ended || d.pending(r) != nil
}

// Wait returns when all of the requests have ended, or when the context is done. It does not wait for what was not started.
func (d *Desk) Wait(ctx context.Context, requests []*Request) {
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

func (d *Desk) pending(r *Request) <-chan struct{} {
	k := d.keyOf(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.jobs[k]; j != nil {
		return j.done
	}
	return nil
}

// Forget drops what is known of a content, and what is under way: an answer that still comes is thrown away.
func (d *Desk) Forget(s Scope, hash [32]byte) {
	d.forget(func(k key) bool { return k.content == contentID{s, hash} })
}

// ForgetConversation drops what is known of all of a conversation's contents, and what is under way. What the conversation has
// spent is remembered.
func (d *Desk) ForgetConversation(s Scope) {
	d.forget(func(k key) bool { return k.content.scope == s })
}

// ForgetSpans drops what is known of a conversation's spans, and what is under way, for an erasure: its text may be in any of
// them. What is known of single contents stays.
func (d *Desk) ForgetSpans(s Scope) {
	d.forget(func(k key) bool { return k.span && k.content.scope == s })
}

func (d *Desk) forget(gone func(key) bool) {
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
func (d *Desk) Extract(text string, target int) string {
	if d.options.Extract != nil {
		return d.options.Extract(text, target)
	}
	return headChars(text, target)
}

// ExtractSpan makes an extract of about target characters of a stretch of conversation, with the summaries of what was before it,
// without a model.
func (d *Desk) ExtractSpan(earlier []string, units []conversation.Unit, target int) string {
	if d.options.ExtractSpan != nil {
		return d.options.ExtractSpan(earlier, units, target)
	}
	return fallbackSpanExtract(earlier, units, target)
}

func headChars(text string, n int) string {
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}

// Deadline returns how long a request may take in all.
func (d *Desk) Deadline() time.Duration { return d.options.Deadline }

// Usage counts what was asked of models since the desk was made.
type Usage struct {
	Calls int64 // made to a provider
	// InputTokens and OutputTokens are what the provider reported; where it does not say, what was estimated.
	InputTokens  int64
	OutputTokens int64
	// Failures are calls that failed, answers that were refused, models that were not asked, and requests that were turned
	// away, by reason.
	Failures map[Reason]int64
}

// Usage returns the counts so far; the caller owns them.
func (d *Desk) Usage() Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	usage := d.usage
	usage.Failures = maps.Clone(d.usage.Failures)
	return usage
}

// Close cancels what is under way and returns when it has ended. What is not known by then ends as [Closed].
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	if d.end != nil {
		d.end(&Failure{Reason: Closed})
	}
	d.running.Wait()
}

// ModelsOf returns the models that are asked for a prompt, in order, as provider/model. They must not be changed.
func (d *Desk) ModelsOf(p *conversation.Prompt) []string {
	if len(p.Models) > 0 {
		return p.Models
	}
	return d.options.Models
}

// provider returns the client for a model, and the provider's own name of the model; nil if there is none.
func (d *Desk) provider(model string) (client Model, name string) {
	provider, name, ok := strings.Cut(model, "/")
	if !ok || name == "" {
		return nil, ""
	}
	return d.options.Providers[provider], name
}

// CanAsk reports whether one of a prompt's models has a provider here. It may fail all the same when it is asked.
func (d *Desk) CanAsk(p *conversation.Prompt) bool { return d.withoutModel(p) == nil }

// withoutModel returns the failure of a prompt none of whose models can be asked.
func (d *Desk) withoutModel(p *conversation.Prompt) *Failure {
	var failures []*Failure
	for _, model := range d.ModelsOf(p) {
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

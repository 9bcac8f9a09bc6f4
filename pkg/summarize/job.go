package summarize

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Retries of a model after a failure that may pass.
const (
	maxTries   = 3
	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Second
)

// job is a pending request.
type job struct {
	key     key
	request Request
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when it has ended, and its result is known

	// Jobs are worked on in the order in which they were started: who waits for the last ones finds the others done. Later ones have
	// their turn when this one has a place, or has ended without any.
	previousTurn <-chan struct{}
	turnDone     chan struct{}
	turn         sync.Once
}

// passTurn lets the next job take its turn.
func (j *job) passTurn() { j.turn.Do(func() { close(j.turnDone) }) }

// run runs a job to its end. It recovers from panics, because nobody waits for the goroutine.
func (d *Service) run(ctx context.Context, j *job) {
	defer d.running.Done()
	defer j.passTurn()
	defer j.cancel(nil)
	ctx, cancel := context.WithTimeout(ctx, d.options.Deadline)
	defer cancel()
	result := d.askRecovering(ctx, j)
	d.finish(j, result)
	d.releaseBody(j)
	close(j.done)
	d.report(result.Err)
}

// releaseBody lets others have the memory of a job's body.
func (d *Service) releaseBody(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bodies -= j.request.bodyBytes()
}

func (d *Service) askRecovering(ctx context.Context, j *job) (result Result) {
	defer func() {
		if recover() != nil {
			result = Result{Err: d.recordFailure(Internal)}
		}
	}()
	return d.ask(ctx, j)
}

// finish caches the result unless its content was forgotten in the meantime.
func (d *Service) finish(j *job, result Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.jobs[j.key] != j {
		return
	}
	delete(d.jobs, j.key)
	if ReasonOf(result.Err) != Closed {
		d.cacheResult(j.key, result)
	}
}

func (d *Service) cacheResult(k key, result Result) {
	var until time.Time
	switch {
	case result.Err == nil:
	case IsRetryable(result.Err):
		until = d.options.Clock().Add(refusalTTL)
	default:
		until = d.options.Clock().Add(failureTTL)
	}
	d.results.put(k, result, until)
}

func (d *Service) report(err error) {
	var failure *Failure
	if d.options.OnFailure == nil || !errors.As(err, &failure) || failure.Reason == Forgotten || failure.Reason == Closed {
		return
	}
	d.options.OnFailure(failure)
}

// ask tries the models in order until one gives a valid answer.
func (d *Service) ask(ctx context.Context, j *job) Result {
	r := &j.request
	models := d.modelsFor(r)
	var failures []*Failure
	for i, model := range models {
		client, name := d.provider(model)
		if client == nil {
			failures = append(failures, d.recordFailure(NoModel).withModel(model))
			continue
		}
		c := candidate{model: model, name: name, client: client, health: d.models.get(model)}
		text, failure := d.askOne(ctx, j, c, d.countAskable(models[i:]))
		if failure == nil {
			return Result{Text: text, Model: model}
		}
		failures = append(failures, failure.withModel(model))
		if ctx.Err() != nil {
			break
		}
	}
	return Result{Err: chainFailures(failures)}
}

// countAskable counts the models that have a client.
func (d *Service) countAskable(models []string) (n int) {
	for _, model := range models {
		if client, _ := d.provider(model); client != nil {
			n++
		}
	}
	return n
}

// candidate is a model that can be asked.
type candidate struct {
	model  string // provider/model
	name   string // without the provider
	client Model
	health *modelHealth
}

// askOne asks one model and retries if the failure may pass. The remaining time is shared equally with the models after it, so that one
// that never answers does not use up the others' time.
func (d *Service) askOne(ctx context.Context, j *job, c candidate, sharers int) (string, *Failure) {
	deadline, _ := ctx.Deadline()
	share := time.Until(deadline) / time.Duration(sharers)
	if share <= 0 {
		return "", d.recordFailure(contextReason(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	var last *Failure
	text, err := backoff.Retry(ctx, func() (string, error) {
		var text string
		text, last = d.attempt(ctx, j, c)
		return text, retryable(last)
	}, backoff.WithBackOff(newBackOff()), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(share))
	if err == nil {
		return text, nil
	}
	return "", last
}

func newBackOff() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = firstPause, maxPause, 2
	return b
}

// retryable converts a failure for the back-off: permanent, retry after the time that the provider names, or retry at any time. A pause
// that exceeds the share ends the retries at once.
func retryable(f *Failure) error {
	switch {
	case f == nil:
		return nil
	case f.Reason == RateLimited, f.Reason == Unreachable, f.Reason == Status && (f.Status >= 500 || f.Status == 408):
		if f.RetryAfter > 0 {
			return &backoff.RetryAfterError{Duration: f.RetryAfter}
		}
		return f
	default:
		return backoff.Permanent(f)
	}
}

// attempt makes one call once a slot is free, and checks its answer.
func (d *Service) attempt(ctx context.Context, j *job, c candidate) (string, *Failure) {
	r, began := &j.request, time.Now()
	switch {
	case d.takeSlot(ctx, j):
		defer func() { <-d.slots }()
	case contextReason(ctx) == Timeout:
		return "", d.recordFailure(Busy)
	}
	if ctx.Err() != nil { // also where a place was free: then either case may be taken
		return "", d.recordFailure(contextReason(ctx))
	}
	if pause := c.health.pausedFor(d.options.Clock()); pause > 0 {
		failure := d.recordFailure(RateLimited)
		failure.RetryAfter = pause
		return "", failure
	}
	call, err := r.newCall(c.name)
	if err != nil {
		return "", d.recordFailure(BadTemplate)
	}
	answer, failure := d.callWithinBudget(ctx, r.Scope, c, call, time.Since(began))
	if failure != nil {
		return "", failure
	}
	text, reason := readAnswer(answer, r)
	if reason != "" {
		return "", d.recordFailure(reason)
	}
	return text, nil
}

// takeSlot waits for the job's turn and then for a slot; false if the context ends first.
func (d *Service) takeSlot(ctx context.Context, j *job) bool {
	if j.previousTurn != nil {
		select {
		case <-j.previousTurn:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case d.slots <- struct{}{}:
		j.passTurn()
		return true
	case <-ctx.Done():
		return false
	}
}

// callWithinBudget makes a call if the token budget allows it.
func (d *Service) callWithinBudget(ctx context.Context, s Scope, c candidate, call Call, waited time.Duration) (Answer, *Failure) {
	estimated := conversation.CallTokens{Input: int64(call.chars()) / 4, Output: int64(call.MaxOutput)}
	settle, admitted := d.reserveQuota(ctx, s, c.model, estimated)
	if !admitted {
		return Answer{}, d.recordFailure(Quota)
	}
	if !d.budget.reserve(s, spent(estimated), d.options.Clock()) {
		settle(false, conversation.CallTokens{})
		return Answer{}, d.recordFailure(SpendLimit)
	}
	began := time.Now()
	answer, failure := d.callModel(ctx, c, call, waited)
	paid := actualCost(&call, answer, failure, estimated)
	settle(failure == nil || failure.Reason != BreakerOpen, paid)
	d.budget.correct(s, spent(paid)-spent(estimated))
	d.count(s, c.model, paid, failure)
	d.tell(s, c, paid, failure, time.Since(began))
	return answer, failure
}

// tell reports a call.
func (d *Service) tell(s Scope, c candidate, paid conversation.CallTokens, failure *Failure, took time.Duration) {
	if d.options.OnCall == nil {
		return
	}
	provider, _, _ := strings.Cut(c.model, "/")
	report := CallReport{Scope: s, Provider: provider, Model: c.name, Tokens: paid, Took: took}
	if failure != nil {
		report.Reason = failure.Reason
	}
	d.options.OnCall(report)
}

// reserveQuota asks the namespace's quota, if there are any.
func (d *Service) reserveQuota(ctx context.Context, s Scope, model string, estimated conversation.CallTokens) (settle func(bool, conversation.CallTokens), admitted bool) {
	d.mu.Lock()
	quotas := d.quotas
	d.mu.Unlock()
	if quotas == nil {
		return func(bool, conversation.CallTokens) {}, true
	}
	return quotas.ReserveCall(ctx, s.Namespace, model, estimated)
}

// callModel calls a model through its circuit breaker.
func (d *Service) callModel(ctx context.Context, c candidate, call Call, waited time.Duration) (Answer, *Failure) {
	var failure *Failure
	answer, err := c.health.breaker.Execute(func() (Answer, error) {
		deadline, _ := ctx.Deadline()
		starved := waited > time.Until(deadline)
		answer, err := c.client.Complete(ctx, call)
		if err == nil {
			return answer, nil
		}
		failure = asFailure(ctx, err)
		if failure.RetryAfter > 0 {
			c.health.pause(d.options.Clock().Add(min(failure.RetryAfter, maxRetryAfter)))
		}
		if failure.isExempt() || failure.Reason == Timeout && starved {
			return Answer{}, exemptError{failure}
		}
		return Answer{}, failure
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		failure = &Failure{Reason: BreakerOpen}
	}
	return answer, failure
}

// count adds a call, made or not, to the usage and to its conversation's ledger.
func (d *Service) count(s Scope, model string, paid conversation.CallTokens, failure *Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if failure == nil || failure.Reason != BreakerOpen {
		d.usage.Calls++
		d.ledger.add(s, model, paid)
	}
	d.usage.Tokens = d.usage.Tokens.Plus(paid)
	if failure != nil {
		d.usage.Failures[failure.Reason]++
	}
}

// recordFailure counts a failure and returns it.
func (d *Service) recordFailure(reason Reason) *Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.Failures[reason]++
	return &Failure{Reason: reason}
}

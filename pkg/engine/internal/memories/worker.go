package memories

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxErrands bounds what a worker knows of. What it does not, the sweeper finds again.
const maxErrands = 100_000

// verdict is what an errand learned of the target.
type verdict struct {
	reached bool          // it answered
	failed  bool          // it could not be reached, or its answer was lost
	denied  bool          // it takes nothing from anybody
	after   time.Duration // how long it asks to wait
}

// worker runs the errands of this process: each when it is due, one of a conversation at a time, and as many together as the target likes.
// While the target fails for all, it runs none but now and then one that tries.
type worker struct {
	clock func() time.Time
	limit int
	// run does what is due of a key, and says when it is to be looked at again; zero for never.
	run func(ctx context.Context, key store.Key) (next time.Time, v verdict)

	base       context.Context // ends with close
	end        context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	errands map[store.Key]*errand
	queue   []store.Key
	running int
	breaker breaker
	wake    *time.Timer // when the breaker lets one through
}

// errand is what is known of a key that waits.
type errand struct {
	due      time.Time // zero: queued; while it runs, when it is wanted again
	timer    *time.Timer
	running  bool
	again    bool  // it is wanted again once it has run
	messages int32 // since it was looked at, as far as this process knows
	tokens   int64
}

func newWorker(limit int, clock func() time.Time, run func(context.Context, store.Key) (time.Time, verdict)) *worker {
	w := &worker{clock: clock, limit: limit, run: run, errands: make(map[store.Key]*errand)}
	w.base, w.end = context.WithCancel(context.Background())
	return w
}

// close ends all errands and waits for those that run.
func (w *worker) close() {
	w.mu.Lock()
	w.closed = true
	for _, e := range w.errands {
		if e.timer != nil {
			e.timer.Stop()
		}
	}
	if w.wake != nil {
		w.wake.Stop()
	}
	w.mu.Unlock()
	w.end()
	w.background.Wait()
}

// beside runs f beside the errands. close ends its context and waits for it; after close, f does not run.
func (w *worker) beside(f func(closing context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.background.Go(func() { f(w.base) })
	}
}

func (w *worker) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.errands)
}

// at wants a key to be looked at at a time, if that is not to happen earlier anyway.
func (w *worker) at(key store.Key, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule(key, due)
}

// note counts what came to a conversation. due says from that when it is to be looked at.
func (w *worker) note(key store.Key, messages int32, tokens int64, due func(messages int32, tokens int64) time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.errands[key]
	if e == nil {
		w.schedule(key, due(messages, tokens))
		if e = w.errands[key]; e != nil {
			e.messages, e.tokens = messages, tokens
		}
		return
	}
	e.messages, e.tokens = e.messages+messages, e.tokens+tokens
	w.schedule(key, due(e.messages, e.tokens))
}

// schedule is at, under the lock.
func (w *worker) schedule(key store.Key, due time.Time) {
	e := w.errands[key]
	if w.closed || e == nil && len(w.errands) >= maxErrands {
		return
	}
	wait := due.Sub(w.clock())
	switch {
	case e == nil:
		e = &errand{}
		w.errands[key] = e
	case e.running:
		e.again = e.again || wait <= 0
		e.due = txn.Earliest(e.due, due)
		return
	case e.timer == nil, !due.Before(e.due): // queued, or it happens earlier
		return
	default:
		e.timer.Stop()
		e.timer = nil
	}
	if wait <= 0 {
		w.enqueue(key, e)
		return
	}
	e.due = due
	e.timer = time.AfterFunc(wait, func() { w.fire(key, e) })
}

func (w *worker) fire(key store.Key, e *errand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.errands[key] != e || e.timer == nil || w.clock().Before(e.due) {
		return
	}
	w.enqueue(key, e)
}

func (w *worker) enqueue(key store.Key, e *errand) {
	e.timer, e.due = nil, time.Time{}
	w.queue = append(w.queue, key)
	w.dispatch()
}

// dispatch begins as many errands as may run.
func (w *worker) dispatch() {
	for !w.closed && len(w.queue) > 0 && w.running < w.limit {
		if wait := w.breaker.wait(w.clock(), w.running); wait > 0 {
			w.wakeIn(wait)
			return
		}
		key := w.queue[0]
		w.queue = w.queue[1:]
		e := w.errands[key]
		e.running, e.due, e.messages, e.tokens = true, time.Time{}, 0, 0
		w.running++
		w.background.Add(1)
		go w.do(key, e)
	}
}

func (w *worker) wakeIn(wait time.Duration) {
	if w.wake != nil {
		w.wake.Stop()
	}
	w.wake = time.AfterFunc(wait, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dispatch()
	})
}

// do runs an errand.
func (w *worker) do(key store.Key, e *errand) {
	defer w.background.Done()
	next, v := w.run(w.base, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	w.breaker.learn(v, w.clock())
	e.running = false
	next = txn.Earliest(next, e.due) // what came meanwhile may be due before
	switch again := e.again; {
	case again:
		e.again = false
		w.enqueue(key, e)
	case next.IsZero():
		delete(w.errands, key)
	default:
		delete(w.errands, key)
		w.schedule(key, next)
		if kept := w.errands[key]; kept != nil {
			kept.messages, kept.tokens = e.messages, e.tokens
		}
	}
	w.dispatch()
}

// busy says whether a key is being looked at, or is about to be, and when. While the target fails for all, that is a while from now: the
// sweeper is to do little for each of many that wait.
func (w *worker) busy(key store.Key) (at time.Time, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.errands[key]; e == nil || e.timer != nil {
		return time.Time{}, false
	}
	now := w.clock()
	if w.breaker.wait(now, 0) > 0 {
		return now.Add(longestWait), true
	}
	return now, true
}

// The breaker: after so many failures in a row it lets nothing through for a while, and then one errand, whose success ends it.
const (
	breakAfter  = 5
	firstBreak  = 30 * time.Second
	longestWait = 15 * time.Minute
	deniedFor   = 5 * time.Minute
)

// breaker knows whether the target fails for all.
type breaker struct {
	failures int
	until    time.Time
}

// wait is how long nothing may be begun; so many run.
func (b *breaker) wait(now time.Time, running int) time.Duration {
	switch {
	case b.until.IsZero():
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case running > 0: // the one that tries
		return time.Second
	default:
		return 0
	}
}

func (b *breaker) learn(v verdict, now time.Time) {
	switch {
	case v.denied:
		b.until = now.Add(deniedFor)
	case v.failed:
		b.failures++
		if b.failures >= breakAfter {
			b.until = now.Add(max(v.after, jitter(firstBreak, b.failures-breakAfter)))
		}
	case v.reached:
		*b = breaker{}
	}
}

// jitter is a wait after so many failures before this one: at least a second, at random up to a bound that doubles.
func jitter(first time.Duration, failures int) time.Duration {
	most := longestWait
	if failures < 10 {
		most = min(first<<failures, longestWait)
	}
	return min(time.Second+rand.N(most), longestWait)
}

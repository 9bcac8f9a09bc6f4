package memories

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxErrands is how many keys a worker remembers. The sweeper finds the others again.
const maxErrands = 100_000

// verdict is what an errand learned about the target.
type verdict struct {
	reached bool          // the target answered
	failed  bool          // the target could not be reached, or its answer was lost
	denied  bool          // the target denies access for everything
	after   time.Duration // how long the target asks to wait
}

// worker runs the errands of this process: each when it is due, one per key at a time, and in all as many at once as the target allows.
// While the target fails for every key, it only runs one now and then to try.
type worker struct {
	clock func() time.Time
	limit int
	// run does what is due for a key, and returns when to look at it again; zero for never.
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
	wake    *time.Timer // fires when the breaker lets an errand through
}

// errand is what the worker knows about a key that waits.
type errand struct {
	due      time.Time // when it is due; zero while it is queued. While it runs: when it is wanted again
	timer    *time.Timer
	running  bool
	again    bool  // run once more after this run
	messages int32 // messages that this process received since the last look
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

// runBeside runs f next to the errands. close cancels its context and waits for it. After close, f does not run.
func (w *worker) runBeside(f func(closing context.Context)) {
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

// at schedules a key for a time, unless it is scheduled earlier already.
func (w *worker) at(key store.Key, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule(key, due)
}

// note counts messages that came to a conversation. due says from the sums when the key is to be looked at.
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

// schedule is at for a caller that holds the lock.
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
	case e.timer == nil, !due.Before(e.due): // it is queued, or due earlier
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

// dispatch starts as many errands as may run.
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
		go w.runErrand(key, e)
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

// runErrand runs an errand.
func (w *worker) runErrand(key store.Key, e *errand) {
	defer w.background.Done()
	next, v := w.run(w.base, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	w.breaker.learn(v, w.clock())
	e.running = false
	next = txn.Earliest(next, e.due) // something that came meanwhile may be due earlier
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

// busy reports whether a key is being looked at or is queued, and when the sweeper should come back. While the target fails for every key,
// that is a while from now, so that the sweeper does little for each of many waiting keys.
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

// The breaker: after breakAfter failures in a row it lets nothing through for a while. Then it lets one errand through, whose success
// closes it.
const (
	breakAfter  = 5
	firstBreak  = 30 * time.Second
	longestWait = 15 * time.Minute
	deniedFor   = 5 * time.Minute
)

// breaker knows whether the target fails for every key.
type breaker struct {
	failures int
	until    time.Time
}

// wait is how long no errand may start, while running errands are under way.
func (b *breaker) wait(now time.Time, running int) time.Duration {
	switch {
	case b.until.IsZero():
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case running > 0: // the errand that tries is still under way
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

// jitter returns a wait of at least a second, random up to a bound that starts at first and doubles with each failure.
func jitter(first time.Duration, failures int) time.Duration {
	most := longestWait
	if failures < 10 {
		most = min(first<<failures, longestWait)
	}
	return min(time.Second+rand.N(most), longestWait)
}

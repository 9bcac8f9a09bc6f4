package wipe

import (
	"sync"
	"time"
)

// Readers counts the open read transactions. Those that began before the last turn are counted separately: only they can see
// a page that no commit since then has freed.
type Readers struct {
	mu         sync.Mutex
	turn       uint64
	now, older int
}

// Begin must be called before the transaction begins, and End with the same turn after it has ended.
func (r *Readers) Begin() (turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	return r.turn
}

// End ends a read transaction.
func (r *Readers) End(turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if turn == r.turn {
		r.now--
	} else {
		r.older--
	}
}

func (r *Readers) turnOver() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.older += r.now
	r.now = 0
}

func (r *Readers) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.older == 0
}

// wait reports whether the transactions from before the turn have ended, after waiting about limit at most. It blocks nobody:
// those that begin meanwhile belong to the new turn.
func (r *Readers) wait(limit time.Duration) bool {
	for start := time.Now(); !r.gone(); time.Sleep(50 * time.Microsecond) {
		if time.Since(start) > limit {
			return false
		}
	}
	return true
}

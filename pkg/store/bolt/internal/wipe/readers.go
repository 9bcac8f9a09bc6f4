package wipe

import (
	"sync"
	"time"
)

// Readers counts the read transactions that are open. Those that began before the last turn are counted apart: they alone can
// see a page that no commit since then has freed.
type Readers struct {
	mu         sync.Mutex
	turn       uint64
	now, older int
}

// Begin must come before the transaction begins, and End with the same turn after it has ended.
func (r *Readers) Begin() (turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	return r.turn
}

// End ends it.
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

// wait says whether those from before the turn have ended, after at most about the time given. It keeps nobody out: who
// begins meanwhile belongs to the new turn.
func (r *Readers) wait(limit time.Duration) bool {
	for start := time.Now(); !r.gone(); time.Sleep(50 * time.Microsecond) {
		if time.Since(start) > limit {
			return false
		}
	}
	return true
}

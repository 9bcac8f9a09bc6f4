package bolt

import (
	"sync"
	"time"
)

// readers counts the read transactions that are open. Those that began before the last turn are counted apart: they alone can
// see a page that no commit since then has freed.
type readers struct {
	mu         sync.Mutex
	turn       uint64
	now, older int
}

// begin must come before the transaction begins, and end with the same turn after it has ended.
func (r *readers) begin() (turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	return r.turn
}

func (r *readers) end(turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if turn == r.turn {
		r.now--
	} else {
		r.older--
	}
}

func (r *readers) turnOver() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.older += r.now
	r.now = 0
}

func (r *readers) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.older == 0
}

// wait says whether those from before the turn have ended, after at most about the time given. It keeps nobody out: who
// begins meanwhile belongs to the new turn.
func (r *readers) wait(limit time.Duration) bool {
	for start := time.Now(); !r.gone(); time.Sleep(50 * time.Microsecond) {
		if time.Since(start) > limit {
			return false
		}
	}
	return true
}

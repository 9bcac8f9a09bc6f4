package ops

import (
	"sync"
	"time"
)

// stalledAfter is how long the store's writer may be in one commit before the process is taken to make no progress. A disk that is merely
// slow takes seconds.
const stalledAfter = time.Minute

// phase is how far the process has come.
type phase int

const (
	starting phase = iota
	serving
	draining
)

// Health is what the process knows of itself. It is safe for concurrent use.
type Health struct {
	mu         sync.Mutex
	phase      phase
	unwritable bool
	busy       func() time.Duration
}

// NewHealth returns the health of a process that starts: it lives, and is not ready.
func NewHealth() *Health {
	return &Health{busy: func() time.Duration { return 0 }}
}

// Serve says that calls are answered from now on.
func (h *Health) Serve() { h.reach(serving) }

// Drain says that calls will be refused soon. There is no way back.
func (h *Health) Drain() { h.reach(draining) }

func (h *Health) reach(p phase) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = max(h.phase, p)
}

// SetWritable says whether the store takes writes. A store that is full does: it can be deleted from.
func (h *Health) SetWritable(writable bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unwritable = !writable
}

// Writable says whether the store takes writes.
func (h *Health) Writable() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.unwritable
}

// FollowWriter has the store's writer watched: busy is how long it has been in its commit, 0 between commits.
func (h *Health) FollowWriter(busy func() time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = busy
}

// Live says whether the process and its store's writer can make progress, and if not, why. A process that does not should be started anew.
func (h *Health) Live() (reason string, live bool) {
	h.mu.Lock()
	busy := h.busy
	h.mu.Unlock()
	if busy() > stalledAfter {
		return "the store's writer hangs in a commit", false
	}
	return "", true
}

// Ready says whether calls are answered and the store takes writes, and if not, why.
func (h *Health) Ready() (reason string, ready bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.phase == starting:
		return "starting", false
	case h.phase == draining:
		return "draining", false
	case h.unwritable:
		return "the store takes no writes", false
	default:
		return "", true
	}
}

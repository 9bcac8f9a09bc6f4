package summarize

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxConversations limits how many conversations are tracked. One without requests restarts at zero once so many others had some.
const maxConversations = 65_536

// tokenBudget enforces the token limits. The estimated cost of a call is reserved before it and corrected after it, so that concurrent
// calls cannot exceed a limit together.
type tokenBudget struct {
	perMinute, perConversation int64 // 0: no limit

	mu sync.Mutex
	// available is what may be spent now: it grows by perMinute in a minute, up to perMinute. It is negative after a call that cost more
	// than estimated.
	available     float64
	refilledAt    time.Time
	conversations *simplelru.LRU[Scope, int64]
}

func newTokenBudget(perMinute, perConversation int64, now time.Time) *tokenBudget {
	s := &tokenBudget{perMinute: max(perMinute, 0), perConversation: max(perConversation, 0), available: float64(perMinute), refilledAt: now}
	s.conversations, _ = simplelru.NewLRU[Scope, int64](maxConversations, nil) // only a size below 1 is an error
	return s
}

// reserve takes tokens from the budget; false if they are not available.
func (s *tokenBudget) reserve(scope Scope, tokens int64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refill(now)
	spent, _ := s.conversations.Get(scope)
	if s.perMinute > 0 && float64(tokens) > s.available || s.perConversation > 0 && spent+tokens > s.perConversation {
		return false
	}
	s.add(scope, spent, tokens)
	return true
}

// correct adds the difference between a call's actual and reserved cost, which may be negative.
func (s *tokenBudget) correct(scope Scope, tokens int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spent, _ := s.conversations.Peek(scope)
	s.add(scope, spent, tokens)
}

func (s *tokenBudget) add(scope Scope, spent, tokens int64) {
	if s.perMinute > 0 {
		s.available = min(s.available-float64(tokens), float64(s.perMinute))
	}
	if s.perConversation > 0 {
		s.conversations.Add(scope, max(spent+tokens, 0))
	}
}

func (s *tokenBudget) refill(now time.Time) {
	if passed := now.Sub(s.refilledAt); passed > 0 {
		s.available = min(s.available+passed.Minutes()*float64(s.perMinute), float64(s.perMinute))
	}
	s.refilledAt = now
}

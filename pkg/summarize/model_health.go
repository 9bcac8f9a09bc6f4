package summarize

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/sony/gobreaker/v2"
)

// When a model rests, and for how long (behaviour §14).
const (
	breakerThreshold = 5 // in a row
	breakerTimeout   = time.Minute
	// maxRetryAfter bounds what a provider's Retry-After can do: after it, it is asked again.
	maxRetryAfter = time.Hour
)

// maxModels bounds the models that are remembered: prompts can name any.
const maxModels = 1024

// modelHealthCache are what is known of the models that are asked.
type modelHealthCache struct {
	mu     sync.Mutex
	models *simplelru.LRU[string, *modelHealth]
}

// modelHealth is what is known of one model: whether it works, and when it wants to be asked again.
type modelHealth struct {
	breaker *gobreaker.CircuitBreaker[Answer]

	mu          sync.Mutex
	pausedUntil time.Time
}

func newModelHealthCache() *modelHealthCache {
	known, _ := simplelru.NewLRU[string, *modelHealth](maxModels, nil) // only a size below 1 is an error
	return &modelHealthCache{models: known}
}

func (r *modelHealthCache) get(model string) *modelHealth {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.models.Get(model)
	if !ok {
		found = &modelHealth{breaker: gobreaker.NewCircuitBreaker[Answer](gobreaker.Settings{
			Timeout:     breakerTimeout,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerThreshold },
			IsExcluded:  isExempt,
		})}
		r.models.Add(model, found)
	}
	return found
}

// pausedFor returns how long the provider still wants to be left alone.
func (r *modelHealth) pausedFor(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pausedUntil.Sub(now)
}

func (r *modelHealth) pause(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until.After(r.pausedUntil) {
		r.pausedUntil = until
	}
}

package summarize

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/sony/gobreaker/v2"
)

// The circuit breaker of a model (behaviour §14).
const (
	breakerThreshold = 5 // in a row
	breakerTimeout   = time.Minute
	// maxRetryAfter caps a provider's Retry-After.
	maxRetryAfter = time.Hour
)

// maxModels limits the models that are tracked, because prompts can name any.
const maxModels = 1024

// modelHealthCache tracks the health of the models in use.
type modelHealthCache struct {
	mu     sync.Mutex
	models *simplelru.LRU[string, *modelHealth]
}

// modelHealth is one model's circuit breaker and the pause that its provider asked for.
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
			IsExcluded:  func(err error) bool { return errors.As(err, new(exemptError)) },
		})}
		r.models.Add(model, found)
	}
	return found
}

// open returns the models whose breaker is open.
func (r *modelHealthCache) open() (models []string) {
	if r == nil { // of the zero Service
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, model := range r.models.Keys() {
		if health, _ := r.models.Peek(model); health.breaker.State() == gobreaker.StateOpen {
			models = append(models, model)
		}
	}
	return models
}

// pausedFor returns how much of the provider's pause is left.
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

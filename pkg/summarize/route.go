package summarize

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/sony/gobreaker/v2"
)

// When a model rests, and for how long (behaviour §14).
const (
	failuresToRest = 5 // in a row
	restTime       = time.Minute
	// longestPause bounds what a provider's Retry-After can do: after it, it is asked again.
	longestPause = time.Hour
)

// maxRoutes bounds the models that are remembered: prompts can name any.
const maxRoutes = 1024

// routes are what is known of the models that are asked.
type routes struct {
	mu    sync.Mutex
	known *simplelru.LRU[string, *route]
}

// route is what is known of one model: whether it works, and when it wants to be asked again.
type route struct {
	breaker *gobreaker.CircuitBreaker[Answer]

	mu     sync.Mutex
	paused time.Time
}

func newRoutes() *routes {
	known, _ := simplelru.NewLRU[string, *route](maxRoutes, nil) // fails for a size that is not positive
	return &routes{known: known}
}

func (r *routes) of(model string) *route {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.known.Get(model)
	if !ok {
		found = &route{breaker: gobreaker.NewCircuitBreaker[Answer](gobreaker.Settings{
			Timeout:     restTime,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToRest },
			IsExcluded:  isBlameless,
		})}
		r.known.Add(model, found)
	}
	return found
}

// pausedFor is how long the provider still wants to be left alone.
func (r *route) pausedFor(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused.Sub(now)
}

func (r *route) pause(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until.After(r.paused) {
		r.paused = until
	}
}

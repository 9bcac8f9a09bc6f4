package admission

import (
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// RequestsLimit is the name of the limit of requests in flight, as errors and metrics have it.
const RequestsLimit = "requests_in_flight"

// InFlight holds namespaces to the requests that they may have in flight. Streams that only wait for what happens, and health checks, are
// not its callers' to count. It is safe for concurrent use.
type InFlight struct {
	limit func(namespace string) int64

	mu       sync.Mutex
	requests map[string]int64 // none is 0
}

// NewInFlight returns it. limit is asked with every request, so that a new one takes effect at once; 0 is no limit, and so is nil.
func NewInFlight(limit func(namespace string) int64) *InFlight {
	if limit == nil {
		limit = func(string) int64 { return 0 }
	}
	return &InFlight{limit: limit, requests: map[string]int64{}}
}

// Enter admits a request of a namespace; leave must be called once it is answered.
func (f *InFlight) Enter(namespace string) (leave func(), err error) {
	limit := f.limit(namespace)
	f.mu.Lock()
	defer f.mu.Unlock()
	if limit > 0 && f.requests[namespace] >= limit {
		return func() {}, conversation.Errorf(conversation.QuotaExceeded,
			"this namespace may have %d requests in flight: wait for some to be answered, or ask the operator for more", limit).
			OverQuota(RequestsLimit, RetryAfter)
	}
	f.requests[namespace]++
	return func() { f.leave(namespace) }, nil
}

func (f *InFlight) leave(namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests[namespace]--; f.requests[namespace] == 0 {
		delete(f.requests, namespace)
	}
}

// RequestUse is how many requests of a namespace are in flight, and how many may be.
type RequestUse struct {
	Namespace   string
	Used, Limit int64
}

// Use tells of the namespaces that have requests in flight and a limit, in no order.
func (f *InFlight) Use() []RequestUse {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]RequestUse, 0, len(f.requests))
	for namespace, n := range f.requests {
		if limit := f.limit(namespace); limit > 0 {
			out = append(out, RequestUse{namespace, n, limit})
		}
	}
	return out
}

package admission

import (
	"math"
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// RequestsLimit is the name of the limit of requests in flight, as errors and metrics have it.
const RequestsLimit = "requests_in_flight"

// InFlight holds namespaces to the requests that they may have in flight. Streams that only wait for what happens, and health checks, are
// not its callers' to count. It is safe for concurrent use.
type InFlight struct {
	limit    func(namespace string) int64
	requests *counts
}

// NewInFlight returns it. limit is asked with every request, so that a new one takes effect at once; 0 is no limit, and so is nil.
func NewInFlight(limit func(namespace string) int64) *InFlight {
	if limit == nil {
		limit = func(string) int64 { return 0 }
	}
	return &InFlight{limit: limit, requests: newCounts()}
}

// Enter admits a request of a namespace; leave must be called once it is answered.
func (f *InFlight) Enter(namespace string) (leave func(), err error) {
	limit := f.limit(namespace)
	most := limit
	if limit <= 0 {
		most = math.MaxInt64
	}
	leave, ok := f.requests.enter(namespace, most)
	if !ok {
		return leave, conversation.Errorf(conversation.QuotaExceeded,
			"this namespace may have %d requests in flight: wait for some to be answered, or ask the operator for more", limit).
			OverQuota(RequestsLimit, RetryAfter)
	}
	return leave, nil
}

// counts are how many of something are open, by whose they are. They are safe for concurrent use.
type counts struct {
	mu   sync.Mutex
	open map[string]int64 // none is 0
}

func newCounts() *counts { return &counts{open: map[string]int64{}} }

// enter counts one more of an owner's, unless there are so many already.
func (c *counts) enter(owner string, most int64) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[owner] >= most {
		return func() {}, false
	}
	c.open[owner]++
	return func() { c.leave(owner) }, true
}

func (c *counts) leave(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[owner]--; c.open[owner] == 0 {
		delete(c.open, owner)
	}
}

// RequestUse is how many requests of a namespace are in flight, and how many may be.
type RequestUse struct {
	Namespace   string
	Used, Limit int64
}

// Use tells of the namespaces that have requests in flight and a limit, in no order.
func (f *InFlight) Use() []RequestUse {
	f.requests.mu.Lock()
	defer f.requests.mu.Unlock()
	out := make([]RequestUse, 0, len(f.requests.open))
	for namespace, n := range f.requests.open {
		if limit := f.limit(namespace); limit > 0 {
			out = append(out, RequestUse{namespace, n, limit})
		}
	}
	return out
}

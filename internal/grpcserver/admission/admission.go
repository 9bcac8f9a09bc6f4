package admission

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const (
	// unlimited is what a process without a limit is taken to have.
	unlimited = 4 << 30

	// What a request takes until it is answered: its bytes are received, unmarshalled, encoded and written.
	copiesOfRequest = 4
	bytesOfElement  = 150

	// What an answer takes until its client has it: its bytes as the record or a rendering has them, and as they are sent.
	copiesOfReply = 2

	// SmallMessageBytes waits for no announced size: its bytes may be here already, as many as a stream's window has.
	SmallMessageBytes = 64 << 10
	// Requests up to this cost never wait for larger ones.
	smallCost = 512 << 10

	// A request waits no longer for its admission, and at most half of what is left of its deadline, so that the answer comes in time.
	maxAdmissionWait = 10 * time.Second
	// RetryAfter is when one that was refused should come again.
	RetryAfter = time.Second

	// Garbage of large requests goes back to the system when there were none for this long.
	reclaimAfter = time.Second
)

// Controller bounds what requests, answers and imports in flight may take together, by shares of the process's memory. What is small has
// shares of its own, so that a flood of what is large does not delay it. Nobody waits for a share while it holds some of the same, and who
// holds some of several has taken them in this order: request, line, answer.
type Controller struct {
	calls         *semaphore.Weighted
	requests      lanes
	replies       lanes
	imports       imports
	searches      *semaphore.Weighted
	watchers      *counts // of events, by namespace
	probeWatchers *counts // of the server's health
	MaxCalls      int
	longestReply  int
	reclaim       *time.Timer
	mu            sync.Mutex
	largeInFlight int

	callsInFlight atomic.Int64
	refused       atomic.Int64
}

// lanes are the shares of what is small and of what is large.
type lanes struct{ small, large *lane }

// lane is a share of the memory.
type lane struct {
	*semaphore.Weighted
	size  int64
	large bool         // what was admitted leaves so much garbage that it goes back at once
	taken atomic.Int64 // of the size
}

// give takes back a part of what was granted.
func (l *lane) give(n int64) {
	l.taken.Add(-n)
	l.Release(n)
}

func newLanes(small, large int64) lanes {
	return lanes{small: &lane{Weighted: semaphore.NewWeighted(small), size: small}, large: newLargeLane(large)}
}

func newLargeLane(size int64) *lane {
	return &lane{Weighted: semaphore.NewWeighted(size), size: size, large: true}
}

// New divides a memory limit in bytes; 0 is none.
func New(memoryLimit int64) *Controller {
	if memoryLimit == 0 {
		memoryLimit = unlimited
	}
	calls := min(max(memoryLimit/(512<<10), 64), 4096)
	a := &Controller{
		calls:        semaphore.NewWeighted(calls),
		MaxCalls:     int(calls),
		longestReply: int(min(max(memoryLimit/8, paging.DefaultReplyBytes), paging.MaxReplyBytes)),
		requests:     newLanes(max(memoryLimit/16, smallCost), max(memoryLimit/4, copiesOfRequest<<20)),
		replies:      newLanes(max(memoryLimit/8, smallCost), max(memoryLimit/4, copiesOfReply<<20)),
		imports:      newImports(memoryLimit),
		searches:     semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),

		watchers:      newCounts(),
		probeWatchers: newCounts(),
	}
	a.reclaim = time.AfterFunc(time.Hour, freeMemory)
	a.reclaim.Stop()
	return a
}

// freeMemory returns garbage to the system. Pools let go of their buffers at the second collection alone.
func freeMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}

// Enter admits a call, whatever it will send.
func (a *Controller) Enter() (leave func(), err error) {
	if !a.calls.TryAcquire(1) {
		a.refused.Add(1)
		return func() {}, conversation.Errorf(conversation.Overloaded, "%d calls are in flight, as many as the memory allows: try again later", a.MaxCalls)
	}
	a.callsInFlight.Add(1)
	return func() {
		a.callsInFlight.Add(-1)
		a.calls.Release(1)
	}, nil
}

// Search admits a search: each keeps a processor busy, and holds what it looks through.
func (a *Controller) Search(ctx context.Context) (done func(), err error) {
	if err := a.wait(ctx, a.searches, 1); err != nil {
		return nil, err
	}
	return func() { a.searches.Release(1) }, nil
}

// ReplyLimit is the most bytes an answer may have: what was asked for, as far as the memory lets it.
func (a *Controller) ReplyLimit(asked *int32) int {
	if asked == nil || *asked == 0 {
		return paging.DefaultReplyBytes
	}
	return min(int(*asked), a.longestReply)
}

// announced admits a message of a size before it is received.
func (a *Controller) announced(ctx context.Context, size int) (*grant, error) {
	if size <= SmallMessageBytes {
		return &grant{}, nil
	}
	return a.admit(ctx, costOf(size, min(size/2, maxElements)))
}

// counted corrects what was granted before the elements were counted, and admits what is small only now.
func (a *Controller) counted(ctx context.Context, g *grant, size, elements int) (*grant, error) {
	cost := costOf(size, elements)
	if g.admission == nil {
		return a.admit(ctx, cost)
	}
	g.shrink(cost)
	return g, nil
}

func costOf(size, elements int) int64 {
	return copiesOfRequest*int64(size) + bytesOfElement*int64(elements)
}

func (a *Controller) admit(ctx context.Context, cost int64) (*grant, error) {
	if cost > smallCost {
		return a.take(ctx, a.requests.large, cost)
	}
	return a.take(ctx, a.requests.small, cost)
}

// take waits for a share of a lane. What costs more than the lane has is alone in it.
func (a *Controller) take(ctx context.Context, l *lane, cost int64) (*grant, error) {
	cost = min(cost, l.size)
	if err := a.wait(ctx, l.Weighted, cost); err != nil {
		return nil, err
	}
	l.taken.Add(cost)
	if l.large {
		a.countLarge(1)
	}
	return &grant{a, l, cost}, nil
}

func (a *Controller) countLarge(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.largeInFlight += n
	if a.largeInFlight == 0 {
		a.reclaim.Reset(reclaimAfter)
	}
}

// wait acquires n, within the caller's deadline, and counts who goes without.
func (a *Controller) wait(ctx context.Context, s *semaphore.Weighted, n int64) error {
	err := wait(ctx, s, n)
	if conversation.KindOf(err) == conversation.Overloaded {
		a.refused.Add(1)
	}
	return err
}

// wait acquires n, within the caller's deadline.
func wait(ctx context.Context, s *semaphore.Weighted, n int64) error {
	if s.TryAcquire(n) {
		return nil
	}
	limit := maxAdmissionWait
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if s.Acquire(waiting, n) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return conversation.Errorf(conversation.Overloaded, "calls in flight take all the memory there is for them: try again later")
}

// grant is the memory that one message may take. The zero grant is none.
type grant struct {
	admission *Controller
	lane      *lane
	cost      int64
}

func (g *grant) shrink(cost int64) {
	if g.admission != nil && cost < g.cost {
		g.lane.give(g.cost - cost)
		g.cost = cost
	}
}

// fills says whether it has all of a lane of what is large.
func (g *grant) fills() bool { return g.admission != nil && g.lane.large && g.cost == g.lane.size }

// release gives the memory back.
func (g *grant) release() {
	if g.admission == nil {
		return
	}
	g.lane.give(g.cost)
	if g.lane.large {
		g.admission.countLarge(-1)
	}
	g.admission = nil
}

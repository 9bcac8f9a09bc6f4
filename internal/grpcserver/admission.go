package grpcserver

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const (
	// unlimited is what a process without a limit is taken to have.
	unlimited = 4 << 30

	// What a request takes until it is answered: its bytes are received, unmarshalled, encoded and written.
	copiesOfRequest = 4
	bytesOfElement  = 150

	// What waits for no announced size: its bytes may be here already, as many as a stream's window has.
	smallMessageBytes = 64 << 10
	// Requests up to this cost never wait for larger ones.
	smallCost = 512 << 10

	// A request waits no longer for its admission, and at most half of what is left of its deadline, so that the answer comes in time.
	maxAdmissionWait = 10 * time.Second
	overloadedRetry  = time.Second

	// Garbage of large requests goes back to the system when there were none for this long.
	reclaimAfter = time.Second
)

// admission bounds what requests in flight may take together, by a share of the process's memory. Small requests have a share of their
// own, so that a flood of large ones does not delay them.
type admission struct {
	calls         *semaphore.Weighted
	small, large  lane
	searches      *semaphore.Weighted
	maxCalls      int
	reclaim       *time.Timer
	mu            sync.Mutex
	largeInFlight int
}

// lane is a share of the memory.
type lane struct {
	*semaphore.Weighted
	size int64
}

func newLane(size int64) lane { return lane{semaphore.NewWeighted(size), size} }

// newAdmission divides a memory limit in bytes; 0 is none.
func newAdmission(memoryLimit int64) *admission {
	if memoryLimit == 0 {
		memoryLimit = unlimited
	}
	calls := min(max(memoryLimit/(512<<10), 64), 4096)
	a := &admission{
		calls:    semaphore.NewWeighted(calls),
		maxCalls: int(calls),
		small:    newLane(max(memoryLimit/16, smallCost)),
		large:    newLane(max(memoryLimit/4, copiesOfRequest*mebibyte)),
		searches: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
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

// enter admits a call, whatever it will send.
func (a *admission) enter() (leave func(), err error) {
	if !a.calls.TryAcquire(1) {
		return nil, conversation.Errorf(conversation.Overloaded, "%d calls are in flight, as many as the memory allows: try again later", a.maxCalls)
	}
	return func() { a.calls.Release(1) }, nil
}

// search admits a search: each keeps a processor busy, and holds what it looks through.
func (a *admission) search(ctx context.Context) (done func(), err error) {
	if err := wait(ctx, a.searches, 1); err != nil {
		return nil, err
	}
	return func() { a.searches.Release(1) }, nil
}

// announced admits a message of a size before it is received.
func (a *admission) announced(ctx context.Context, size int) (*grant, error) {
	if size <= smallMessageBytes {
		return &grant{}, nil
	}
	return a.admit(ctx, costOf(size, min(size/2, maxElements)))
}

// counted corrects what was granted before the elements were counted, and admits what is small only now.
func (a *admission) counted(ctx context.Context, g *grant, size, elements int) (*grant, error) {
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

func (a *admission) admit(ctx context.Context, cost int64) (*grant, error) {
	l := a.small
	if cost > smallCost {
		l = a.large
	}
	cost = min(cost, l.size)
	if err := wait(ctx, l.Weighted, cost); err != nil {
		return nil, err
	}
	if l == a.large {
		a.countLarge(1)
	}
	return &grant{a, l, cost}, nil
}

func (a *admission) countLarge(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.largeInFlight += n
	if a.largeInFlight == 0 {
		a.reclaim.Reset(reclaimAfter)
	}
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
	return conversation.Errorf(conversation.Overloaded, "requests in flight take all the memory there is for them: try again later")
}

// grant is the memory that one message may take. The zero grant is none.
type grant struct {
	admission *admission
	lane      lane
	cost      int64
}

func (g *grant) shrink(cost int64) {
	if cost < g.cost {
		g.lane.Release(g.cost - cost)
		g.cost = cost
	}
}

// release gives the memory back.
func (g *grant) release() {
	if g.admission == nil {
		return
	}
	g.lane.Release(g.cost)
	if g.lane == g.admission.large {
		g.admission.countLarge(-1)
	}
	g.admission = nil
}

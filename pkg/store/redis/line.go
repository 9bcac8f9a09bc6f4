package redis

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// A commit goes out by itself while few are on their way to its node. Behind those, commits of any callers gather, and go together: the
// server reads and answers them in one go, and both sides are spared most of what a trip costs.
const (
	lanes = 16 // commits, or bundles of them, on their way to a node before others gather
	// bundle is how many bytes go together. A server reads 16 KiB of a connection at a time, and syncs before it reads on: more in one bundle
	// would take as many syncs one after the other. A commit of more goes by itself.
	bundle   = 14 << 10
	patience = 50 * time.Millisecond // how long a commit waits before it goes by itself after all
)

// line is where commits to a node gather.
type line struct {
	mu      sync.Mutex
	under   int // on their way
	waiting []*dispatch
}

// dispatch is a command that waits for its turn.
type dispatch struct {
	cmd    *redis.Cmd
	launch *launch
	weight int
	turn   chan []*dispatch // gives those to send, itself the first; nil once another has sent it
}

// lines are those of all nodes.
type lines struct {
	mu sync.Mutex
	of map[string]*line
}

func (l *lines) to(node string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[string]*line)
	}
	if l.of[node] == nil {
		l.of[node] = &line{}
	}
	return l.of[node]
}

// send sends a command that a launch is part of.
func (l *line) send(ctx context.Context, c *redis.Client, la *launch, cmd *redis.Cmd) {
	d := l.join(cmd, la)
	if d == nil {
		_ = c.Process(ctx, cmd)
		l.leave()
		return
	}
	if d.turn == nil {
		_ = c.Process(ctx, cmd)
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case together := <-d.turn:
		l.dispatch(ctx, c, together)
		return
	case <-late.C:
	case <-ctx.Done(): // it fails as one that goes by itself
	}
	if l.forget(d) {
		_ = c.Process(ctx, cmd)
		return
	}
	l.dispatch(ctx, c, <-d.turn)
}

// join is nil if a command may go at once; one without a turn goes by itself, beside the line.
func (l *line) join(cmd *redis.Cmd, la *launch) *dispatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under < lanes {
		l.under++
		return nil
	}
	d := &dispatch{cmd: cmd, launch: la}
	if d.weight = weight(cmd.Args()); d.weight < bundle {
		d.turn = make(chan []*dispatch, 1)
		l.waiting = append(l.waiting, d)
	}
	return d
}

func weight(args []any) (n int) {
	for _, a := range args {
		switch v := a.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
	}
	return n
}

// forget is false for a command that was taken out of the line before.
func (l *line) forget(d *dispatch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, d)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// dispatch sends what goes together, for whoever is the first of it.
func (l *line) dispatch(ctx context.Context, c *redis.Client, together []*dispatch) {
	if together == nil {
		return
	}
	if len(together) == 1 {
		_ = c.Process(ctx, together[0].cmd)
	} else {
		ctx = context.WithoutCancel(ctx) // it is not the caller's alone
		_, _ = c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, d := range together {
				_ = pipe.Process(ctx, d.cmd)
			}
			return nil
		})
	}
	l.leave()
	for _, d := range together[1:] {
		d.turn <- nil
	}
}

// leave has those go that gathered. The first of them sends them all.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var together []*dispatch
	taken, sum := 0, 0
	for _, d := range l.waiting {
		if sum += d.weight; sum > bundle {
			break
		}
		taken++
		if d.launch.take() {
			together = append(together, d)
		} else { // its caller has gone
			d.cmd.SetErr(errNeverSent)
			d.turn <- nil
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, taken)
	if len(together) == 0 {
		l.under--
		return
	}
	together[0].turn <- together
}

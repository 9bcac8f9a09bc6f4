package redis

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// A commit is sent by itself while few are on their way to its node. If there are more, commits of any callers gather and are sent
// together: the server reads and answers them at once, and both sides save most of the cost of a round trip.
const (
	lanes = 16 // commits, or bundles of them, on their way to a node before others gather
	// bundle is how many bytes are sent together. A server reads 16 KiB of a connection at a time, and syncs before it reads on, so a
	// larger bundle would need several syncs in sequence. A larger commit is sent by itself.
	bundle   = 14 << 10
	patience = 50 * time.Millisecond // how long a commit waits before it is sent by itself after all
)

// line holds the commits that wait for a node.
type line struct {
	mu      sync.Mutex
	under   int // number on their way
	waiting []*dispatch
}

// dispatch is a command that waits to be sent.
type dispatch struct {
	cmd    *redis.Cmd
	launch *launch
	weight int
	turn   chan []*dispatch // receives the commands to send, with this one first; nil once another caller has sent it
}

// lines holds the lines of all nodes.
type lines struct {
	mu sync.Mutex
	of map[string]*line
}

func (l *lines) lineOf(node string) *line {
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

// send sends a command that contains a launch.
func (l *line) send(ctx context.Context, c *redis.Client, la *launch, cmd *redis.Cmd) {
	d := l.join(cmd, la)
	if d == nil {
		_ = c.Process(ctx, cmd)
		l.sendNext()
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
	case <-ctx.Done(): // it is sent by itself, and fails there
	}
	if l.forget(d) {
		_ = c.Process(ctx, cmd)
		return
	}
	l.dispatch(ctx, c, <-d.turn)
}

// join returns nil if a command may be sent at once. If the result has no turn, the command is sent by itself, outside the line.
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

// forget takes a command out of the line. It is false if the command was taken out before.
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

// dispatch sends the commands of a bundle, for the caller of the first one.
func (l *line) dispatch(ctx context.Context, c *redis.Client, together []*dispatch) {
	if together == nil {
		return
	}
	if len(together) == 1 {
		_ = c.Process(ctx, together[0].cmd)
	} else {
		ctx = context.WithoutCancel(ctx) // it does not belong to this caller alone
		_, _ = c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, d := range together {
				_ = pipe.Process(ctx, d.cmd)
			}
			return nil
		})
	}
	l.sendNext()
	for _, d := range together[1:] {
		d.turn <- nil
	}
}

// sendNext lets the next gathered commands be sent. The caller of the first one sends them all.
func (l *line) sendNext() {
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
		} else { // its caller has given up
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

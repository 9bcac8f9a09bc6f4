package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// errRefused is what a server is not connected to for.
var errRefused = errors.New("the server does not write")

// epochs is what this process has written of each node: which run of which server it is.
type epochs struct {
	mu    sync.Mutex
	known map[string]string
}

func (e *epochs) of(node string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[node]
}

// put takes note of an epoch that was written when another was known. If a third one came in between, nobody knows which was written last.
func (e *epochs) put(node, had, epoch string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = make(map[string]string)
	}
	if now := e.known[node]; now != had && now != epoch {
		delete(e.known, node)
		return
	}
	e.known[node] = epoch
}

func (e *epochs) forget(node string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, node)
}

// greet sees to it, before anything else is sent over a new connection, that the partitions of a server have its epoch. All connections
// break when a server ends, so that nobody reads from one that came back and does not notice. A server that does not write can be read.
func (s *Store) greet(ctx context.Context, node string, c pipeliner) error {
	if err := s.inspect(ctx, node, c); !readable(err) {
		return err
	}
	return nil
}

// ready sees to the epoch before anything is written: a connection may be from when that could not be.
func (s *Store) ready(ctx context.Context, c *redis.Client) error {
	node := c.Options().Addr
	if s.epochs.of(node) != "" {
		return nil
	}
	return s.inspect(ctx, node, c)
}

// inspect asks a server what it is, and settles.
func (s *Store) inspect(ctx context.Context, node string, c pipeliner) error {
	ctx = context.WithValue(ctx, greeting{}, true)
	var server, replication *redis.StringCmd
	if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		server, replication = p.Info(ctx, "server"), p.Info(ctx, "replication")
		return nil
	}); err != nil {
		return err
	}
	return s.settle(ctx, node, infoOf(server.Val()+replication.Val()), c)
}

// pipeliner is a connection, or a client of one node.
type pipeliner interface {
	Pipelined(ctx context.Context, fill func(redis.Pipeliner) error) ([]redis.Cmder, error)
}

// settle writes a server's epoch. It holds no lock meanwhile: its client may have to connect first, and that settles too. Before it is known
// what the database holds, it writes nothing.
func (s *Store) settle(ctx context.Context, node string, info map[string]string, c pipeliner) error {
	if info["role"] != "master" {
		return fmt.Errorf("it is a replica: %w", errRefused)
	}
	epoch := info["run_id"] + "/" + info["master_replid"]
	had := s.epochs.of(node)
	if had == epoch || !s.admitted.Load() {
		return nil
	}
	if err := s.writeEpoch(ctx, epoch, c); err != nil {
		s.epochs.forget(node)
		return err
	}
	s.epochs.put(node, had, epoch)
	return nil
}

// writeEpoch writes where another epoch is. Of a cluster's node, all partitions but its own answer that they are elsewhere.
func (s *Store) writeEpoch(ctx context.Context, epoch string, c pipeliner) error {
	have, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range partitions {
			p.Get(ctx, s.space.base(i)+kindEpoch)
		}
		return nil
	})
	if err := worstHere(have, err); err != nil {
		return err
	}
	cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range partitions {
			if word(have[i]) != epoch && !elsewhere(have[i].Err()) {
				s.mark(ctx, p, s.space.base(i)+kindEpoch, "SET", epoch)
			}
		}
		return nil
	})
	return worstHere(cmds, err)
}

// worstHere is the first error of a call that is not that something is elsewhere.
func worstHere(cmds []redis.Cmder, err error) error {
	here := slices.DeleteFunc(slices.Clone(cmds), func(c redis.Cmder) bool { return elsewhere(c.Err()) })
	if elsewhere(err) {
		err = nil
	}
	return worst(here, err)
}

// health is whether the store can write.
type health struct {
	mu      sync.Mutex
	down    bool
	changed func(error)
}

func (h *health) set(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down == (reason != nil) {
		return
	}
	h.down = reason != nil
	h.changed(reason)
}

// failed is the contract's error for one of a call, and tells if it says that the store cannot write. A call that was given too little time,
// found all connections busy or its partition on the move says nothing of the kind; if no call comes through, the pulse will tell.
func (s *Store) failed(ctx context.Context, err error, begun bool) error {
	out := failure(ctx, err, begun)
	var slow net.Error
	if errors.Is(out, store.ErrUnavailable) && ctx.Err() == nil && !busy(err) && !elsewhere(err) && !(errors.As(err, &slow) && slow.Timeout()) {
		s.health.set(out)
	}
	return out
}

// pulse asks every server now and then, so that health follows without calls, and says when it is well again.
func (s *Store) pulse(ctx context.Context) {
	for {
		s.health.mu.Lock()
		wait := s.options.PulseInterval
		if s.health.down {
			wait = min(wait, 200*time.Millisecond)
		}
		s.health.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		err := s.feel(ctx)
		if ctx.Err() == nil {
			s.health.set(err)
		}
	}
}

// feel asks all masters once.
func (s *Store) feel(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.DialTimeout)
	defer cancel()
	err := s.masters(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := s.probe(ctx, c)
		if err != nil {
			return err
		}
		if err := unfit(info, s.options.AcceptVolatile); err != nil {
			return err
		}
		return s.settle(ctx, c.Options().Addr, info, c)
	})
	if err == nil {
		return nil
	}
	if s.cluster != nil {
		s.cluster.ReloadState(ctx) // another may have taken its place
	}
	return failure(ctx, err, false)
}

// probe asks a server what it is, and has it begin a script that may write. A server that has too few replicas, or cannot write its file or
// its snapshots, refuses that; nothing in INFO says so as surely.
func (s *Store) probe(ctx context.Context, c *redis.Client) (map[string]string, error) {
	var info *redis.StringCmd
	cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		info = p.Info(ctx, "server", "replication", "persistence", "memory")
		p.Eval(ctx, s.scripts.probe.text, nil)
		return nil
	})
	return infoOf(info.Val()), worst(cmds, err)
}

// unfit is why a server must not be written to as it is set now.
func unfit(info map[string]string, acceptVolatile bool) error {
	switch {
	case info["loading"] == "1":
		return fmt.Errorf("it reads its file: %w", errRefused)
	case info["aof_enabled"] == "1" && info["aof_last_write_status"] != "ok":
		return fmt.Errorf("it cannot write its file: %w", errRefused)
	case info["aof_enabled"] != "1" && !acceptVolatile:
		return fmt.Errorf("it has no append-only file any more: %w", errRefused)
	case info["maxmemory_policy"] != "noeviction":
		return fmt.Errorf("its maxmemory-policy is not noeviction any more: %w", errRefused)
	default:
		return nil
	}
}

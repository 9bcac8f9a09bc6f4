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

// errRefused is the reason not to connect to a server.
var errRefused = errors.New("the server does not write")

// epochs remembers which epoch this process has written for each node: which run of which server it is.
type epochs struct {
	mu    sync.Mutex
	known map[string]string
}

func (e *epochs) of(node string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[node]
}

// noteWritten records that an epoch was written when another was known. If a third one came in between, it is unknown which was written last.
func (e *epochs) noteWritten(node, had, epoch string) {
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

// greet ensures, before anything else is sent on a new connection, that the partitions of a server have its epoch. All connections break
// when a server ends, so nobody can read from a restarted server without noticing. A server that refuses to write can still be read.
func (s *Store) greet(ctx context.Context, node string, c pipeliner) error {
	if err := s.inspect(ctx, node, c); !readable(err) {
		return err
	}
	return nil
}

// ready ensures that the epoch is written before anything else is: a connection may date from a time when that was not possible.
func (s *Store) ready(ctx context.Context, c *redis.Client) error {
	node := c.Options().Addr
	if s.epochs.of(node) != "" {
		return nil
	}
	return s.inspect(ctx, node, c)
}

// inspect asks a server for its state, and settles its epoch.
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

// settle writes a server's epoch. It holds no lock meanwhile: its client may have to connect first, which settles too. Until the contents
// of the database are known, it writes nothing.
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
	s.epochs.noteWritten(node, had, epoch)
	return nil
}

// writeEpoch writes the epoch where another one is stored. In a cluster, partitions of other nodes answer that they are elsewhere.
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

// worstHere returns the first error of a call, ignoring those of partitions that are elsewhere.
func worstHere(cmds []redis.Cmder, err error) error {
	here := slices.DeleteFunc(slices.Clone(cmds), func(c redis.Cmder) bool { return elsewhere(c.Err()) })
	if elsewhere(err) {
		err = nil
	}
	return worst(here, err)
}

// health says whether the store can write.
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

// failed turns the error of a call into one of the contract, and reports it if it means that the store cannot write. A short deadline, busy
// connections, or a partition that is being moved do not mean that. If no call succeeds at all, the pulse finds out.
func (s *Store) failed(ctx context.Context, err error, begun bool) error {
	out := failure(ctx, err, begun)
	var slow net.Error
	if errors.Is(out, store.ErrUnavailable) && ctx.Err() == nil && !busy(err) && !elsewhere(err) && !(errors.As(err, &slow) && slow.Timeout()) {
		s.health.set(out)
	}
	return out
}

// pulse asks every server from time to time, so that health is known without calls, and reports recovery.
func (s *Store) pulse(ctx context.Context) {
	for {
		s.health.mu.Lock()
		wait := s.options.PulseInterval
		if s.health.down {
			wait = min(wait, 200*time.Millisecond)
		}
		s.health.mu.Unlock()
		if store.Pause(ctx, wait) != nil {
			return
		}
		err := s.checkMasters(ctx)
		if ctx.Err() == nil {
			s.health.set(err)
		}
	}
}

// checkMasters asks all masters once.
func (s *Store) checkMasters(ctx context.Context) error {
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
		s.cluster.ReloadState(ctx) // another node may have taken its place
	}
	return failure(ctx, err, false)
}

// probe asks a server for its state, and starts a script that may write. A server refuses that if it has too few replicas, or cannot write
// its file or its snapshots. INFO does not tell this as reliably.
func (s *Store) probe(ctx context.Context, c *redis.Client) (map[string]string, error) {
	var info *redis.StringCmd
	cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		info = p.Info(ctx, "server", "replication", "persistence", "memory")
		p.Eval(ctx, s.scripts.probe.text, nil)
		return nil
	})
	return infoOf(info.Val()), worst(cmds, err)
}

// unfit returns why a server must not be written to with its present settings.
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

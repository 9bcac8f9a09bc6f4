package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// launch is the first argument of a script that writes: the kind of the call. The driver asks for its bytes only when it writes the
// command. Until then the caller may give up; from then on nothing stops the command.
type launch struct {
	how    string
	caller context.Context
	state  atomic.Int32
}

const (
	waiting int32 = iota
	taken         // chosen to be sent with others: it cannot be withdrawn any more
	sent
)

// MarshalBinary implements encoding.BinaryMarshaler.
func (l *launch) MarshalBinary() ([]byte, error) {
	if l.state.Load() == waiting && l.caller.Err() != nil {
		return nil, errNeverSent
	}
	l.state.Store(sent)
	return []byte(l.how), nil
}

// take marks the command as taken. It is false if the caller has given up.
func (l *launch) take() bool {
	if l.caller.Err() != nil {
		return false
	}
	l.state.Store(taken)
	return true
}

// unless is a caller's context for the time until a command can be sent. It has no deadline, because the driver would apply the deadline
// to the answer too; the client's own timeouts bound that.
type unless struct{ context.Context }

// Deadline implements context.Context.
func (unless) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// runScript runs a script that writes, on the node of a partition. The answer is a string, or a list with one.
func (s *Store) runScript(ctx context.Context, partition int, sc *script, how string, w *writes) (answer any, err error) { //nolint:contextcheck // see unless
	if err := s.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	l, unlessGone := &launch{how: how, caller: ctx}, context.Context(unless{ctx})
	w.args[launchArg] = l
	began := time.Now()
	err = s.onNode(unlessGone, partition, func(c *redis.Client) error { //nolint:contextcheck // see unless
		if err := s.ready(unlessGone, c); err != nil {
			return err
		}
		answer, err = s.eval(unlessGone, c, sc, l, w)
		if errorWord(err) != "" && !midway(err) {
			l.state.Store(waiting) // the script answered, so nothing is in progress
		}
		return err
	})
	if err != nil {
		return nil, s.failed(ctx, err, l.state.Load() == sent)
	}
	s.options.OnCommit(1, time.Since(began))
	return answer, nil
}

// mark writes a value that is so small and necessary that it is written even if memory is full.
func (s *Store) mark(ctx context.Context, to redis.Scripter, key string, command ...any) *redis.Cmd {
	return to.Eval(ctx, s.scripts.mark.text, []string{key}, command...)
}

// eval runs a script by its hash, or with its whole text if the server does not know it.
func (s *Store) eval(ctx context.Context, c *redis.Client, sc *script, l *launch, w *writes) (any, error) {
	cmd := redis.NewCmd(ctx, w.command("evalsha", sc.sha)...)
	s.lines.lineOf(c.Options().Addr).send(ctx, c, l, cmd)
	if noScript(cmd.Err()) {
		cmd = redis.NewCmd(ctx, w.command("eval", sc.text)...)
		_ = c.Process(ctx, cmd)
	}
	return cmd.Result()
}

// onNode runs a call on the node of a partition. It repeats the call while the cluster moves the partition: an answer that says so means
// that nothing was written.
func (s *Store) onNode(ctx context.Context, partition int, run func(*redis.Client) error) error {
	if s.cluster == nil {
		return run(s.single)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.CallTimeout)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		c, err := s.cluster.MasterForKey(ctx, s.space.base(partition))
		if err == nil {
			err = run(c)
		}
		if !elsewhere(err) {
			return err
		}
		s.cluster.ReloadState(ctx)
		if store.Pause(ctx, wait) != nil {
			return err
		}
	}
}

// transact sends commands as one MULTI to the node of a partition. Scripts are sent by hash, and once more as whole texts if the server
// does not know them. With apart, the commands are sent without MULTI.
func (s *Store) transact(ctx context.Context, partition int, apart bool, fill func(pipe redis.Pipeliner, whole bool)) error {
	whole := false
	_, err := s.ask(ctx, partition, func(ctx context.Context, c *redis.Client) ([]redis.Cmder, error) {
		send := c.TxPipelined
		if apart {
			send = c.Pipelined
		}
		for {
			cmds, err := send(ctx, func(p redis.Pipeliner) error {
				fill(p, whole)
				return nil
			})
			if whole || !noScript(worst(cmds, err)) {
				return cmds, err
			}
			whole = true
		}
	})
	return err
}

// pipeline sends commands together.
func (s *Store) pipeline(ctx context.Context, partition int, fill func(redis.Pipeliner)) ([]redis.Cmder, error) {
	return s.ask(ctx, partition, func(ctx context.Context, c *redis.Client) ([]redis.Cmder, error) {
		return c.Pipelined(ctx, func(p redis.Pipeliner) error {
			fill(p)
			return nil
		})
	})
}

func (s *Store) ask(ctx context.Context, partition int, send func(context.Context, *redis.Client) ([]redis.Cmder, error)) (out []redis.Cmder, err error) {
	if err := s.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	err = s.onNode(ctx, partition, func(c *redis.Client) error {
		out, err = send(ctx, c)
		return worst(out, err)
	})
	if err != nil {
		return nil, s.failed(ctx, err, false)
	}
	return out, nil
}

// worst returns the first error of a call, ignoring "no such key".
func worst(cmds []redis.Cmder, err error) error {
	for _, c := range cmds {
		if e := c.Err(); e != nil && !errors.Is(e, redis.Nil) {
			return e
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

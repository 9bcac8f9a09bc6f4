package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Store is a store in a database.
type Store struct {
	options Options
	schema  string // quoted
	codec   *record.Codec
	pool    *pgxpool.Pool
	texts   texts
	wakes   store.Wakes
	turns   store.Turns
	epochs  epochs
	state   *state
	poller  *poller
	teller  *teller // nil without Options.Notify

	background sync.WaitGroup
	stop       context.CancelFunc

	gate store.Gate
}

var _ store.Store = (*Store)(nil)

// Open connects to the database. It makes the tables if there are none, unless they must exist. It returns ErrSchema if the tables belong
// to another program.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	s, err := newStore(o) //nolint:contextcheck // the pool lives longer than the call
	if err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		s.pool.Close()
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.background.Go(func() { s.state.watch(run) })
	s.background.Go(func() { s.poller.run(run) })
	if o.Notify {
		s.background.Go(func() { s.teller.run(run) })
		s.background.Go(func() { s.teller.listen(run) })
	}
	return s, nil
}

func newStore(o Options) (*Store, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, errors.New("postgres: the pool cannot be made")
	}
	s := &Store{options: o, schema: quoted(o.Schema), codec: record.New(), pool: pool}
	s.state = newState(s)
	s.poller = &poller{s: s}
	if o.Notify {
		s.teller = newTeller(s, config.ConnConfig)
	}
	return s, nil
}

func quoted(schema string) string { return pgx.Identifier{schema}.Sanitize() }

// begin checks the server once, before anything is served.
func (s *Store) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.CommitTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("%w: %s", store.ErrUnavailable, reason(err))
	}
	defer conn.Release()
	if err := s.prepareSchema(ctx, conn.Conn()); err != nil {
		return err
	}
	volatile, err := s.epochs.look(ctx, conn.Conn())
	switch {
	case errors.Is(err, errEncoding):
		return err
	case err != nil:
		return s.fault(err, false)
	case volatile && !s.options.AcceptVolatile:
		return errors.New("postgres: the server loses acknowledged commits when it crashes (fsync or synchronous_commit is off): " +
			"turn them on, or accept it with --accept-volatile")
	}
	return nil
}

// Durability implements store.Store.
func (s *Store) Durability() store.Durability {
	if s.epochs.isVolatile() {
		return store.DurabilityNone
	}
	return store.DurabilityServer
}

// Close implements store.Store.
func (s *Store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	s.wakes.Close()
	s.stop()
	s.gate.Wait()
	s.background.Wait()
	s.pool.Close()
	return nil
}

// within returns a context for a wait. It ends a little before the caller's own, so that the caller is told why.
func within(ctx context.Context, own time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) * 9 / 10; left < own {
			return context.WithTimeout(ctx, left)
		}
	}
	return context.WithTimeoutCause(ctx, own, errOwnLimit)
}

// errOwnLimit is the cause of a wait that the store itself ended.
var errOwnLimit = errors.New("the server took too long")

// byCallersLimit reports whether a wait ended because of the caller's own limit, which says nothing about the server.
func byCallersLimit(waiting context.Context) bool {
	return waiting.Err() != nil && !errors.Is(context.Cause(waiting), errOwnLimit)
}

// acquire waits for a connection of the pool.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	waiting, cancel := within(ctx, s.options.AcquireTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(waiting)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) && s.pool.Stat().AcquiredConns() == s.pool.Config().MaxConns:
		s.state.suspect()
		return nil, fmt.Errorf("%w: no connection of the pool became free in time", store.ErrUnavailable)
	default:
		return nil, s.ended(waiting, err)
	}
}

// onConnection runs a write. Its limit counts from when it has a connection; from then on the caller cannot end it.
func (s *Store) onConnection(ctx context.Context, limit time.Duration, run func(context.Context, *pgx.Conn) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return run(ctx, conn.Conn())
}

// nanos is a time in nanoseconds, limited to what 64 bits hold: from 1678 to 2262.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}

func maybeNanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := nanos(t)
	return &n
}

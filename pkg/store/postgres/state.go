package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	probeEvery     = 2 * time.Second
	probeEveryDown = 250 * time.Millisecond
	probeWithin    = 2 * time.Second
	resetEvery     = 100 * time.Millisecond
)

// state knows whether the store can write. It asks on a connection of its own, so that a busy pool does not look like an outage.
type state struct {
	s    *Store
	kick chan struct{}
	down bool      // used by the watcher only
	conn *pgx.Conn // used by the watcher only

	mu    sync.Mutex
	reset time.Time
}

func newState(s *Store) *state { return &state{s: s, kick: make(chan struct{}, 1)} }

// suspect makes the watcher ask the server now.
func (t *state) suspect() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// connectionFailed is told about a failed connection. Others in the pool may have failed too, and a commit on one of them would end with an
// unknown outcome.
func (t *state) connectionFailed() {
	t.mu.Lock()
	due := time.Since(t.reset) > resetEvery
	if due {
		t.reset = time.Now()
	}
	t.mu.Unlock()
	if due {
		t.s.pool.Reset()
	}
	t.suspect()
}

// watch reports changes of the server's state to OnState until run ends.
func (t *state) watch(run context.Context) {
	defer t.hangUp() //nolint:contextcheck // it says farewell when all else has ended
	for {
		every := probeEvery
		if t.down {
			every = probeEveryDown
		}
		select {
		case <-run.Done():
			return
		case <-t.kick:
		case <-time.After(every):
		}
		err := t.probe(run)
		if run.Err() != nil {
			return
		}
		t.tell(err)
		if err != nil {
			_ = store.Pause(run, probeEveryDown)
		}
	}
}

func (t *state) tell(err error) {
	if t.down == (err != nil) {
		return
	}
	if t.down = err != nil; t.down {
		t.s.pool.Reset() // calls that were in haste have not said that it broke
	}
	t.s.options.OnState(err)
}

func (t *state) probe(run context.Context) error {
	ctx, cancel := context.WithTimeout(run, probeWithin)
	defer cancel()
	if t.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, t.s.pool.Config().ConnConfig)
		if err != nil {
			return fmt.Errorf("%w: %s", store.ErrUnavailable, reason(err))
		}
		t.conn = conn
	}
	var readOnly bool
	err := t.conn.QueryRow(ctx, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'`).Scan(&readOnly)
	if err != nil {
		t.hangUp() //nolint:contextcheck // the time to ask is over
		return fmt.Errorf("%w: %s", store.ErrUnavailable, reason(err))
	}
	if readOnly {
		t.hangUp() //nolint:contextcheck // the name may lead to another server by now
		return errors.Join(store.ErrUnavailable, errors.New("the server is read-only"))
	}
	return nil
}

func (t *state) hangUp() {
	if t.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), undoWithin)
	defer cancel()
	_ = t.conn.Close(ctx)
	t.conn = nil
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// epochs maps the start time of a server, which every read of a head returns, to the server's epoch: neither changes while it runs.
type epochs struct {
	mu       sync.Mutex
	known    map[int64]string // by start time, in microseconds
	volatile bool
}

// serverSQL also asks for the timeline, which a promotion begins anew. Names of WAL files begin with it; a standby has none.
const serverSQL = `SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
  (SELECT system_identifier FROM pg_control_system())::text,
  CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
  current_setting('fsync') = 'off' OR current_setting('synchronous_commit') = 'off', current_setting('server_encoding')`

// errEncoding is returned because the readable columns must hold any text.
var errEncoding = errors.New("postgres: the database's encoding is not UTF8")

// look asks the server. It returns whether the server loses acknowledged commits when it crashes. What such a server lost before a
// start is not known, so each of its starts is an epoch.
func (e *epochs) look(ctx context.Context, conn *pgx.Conn) (volatile bool, err error) {
	var start int64
	var system, timeline, encoding string
	if err := conn.QueryRow(ctx, serverSQL).Scan(&start, &system, &timeline, &volatile, &encoding); err != nil {
		return false, err
	}
	if encoding != "UTF8" {
		return false, errEncoding
	}
	epoch := system + "/" + timeline
	if volatile {
		epoch += "/" + fmt.Sprint(start)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil || len(e.known) > 100 {
		e.known = make(map[int64]string)
	}
	e.known[start], e.volatile = epoch, volatile
	return volatile, nil
}

func (e *epochs) isVolatile() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.volatile
}

// starts returns the known start times of servers in an epoch.
func (e *epochs) starts(epoch string) []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []time.Time{}
	for start, of := range e.known {
		if of == epoch {
			out = append(out, time.UnixMicro(start).UTC())
		}
	}
	return out
}

// of returns the epoch of the server with a start time; "" if it is not known.
func (e *epochs) of(start time.Time) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[start.UnixMicro()]
}

// epochOf returns the epoch of the server that answered. If that server started later than those known, it is asked.
func (s *Store) epochOf(ctx context.Context, start time.Time) (string, error) {
	if epoch := s.epochs.of(start); epoch != "" {
		return epoch, nil
	}
	conn, err := s.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	bounded, cancel := within(ctx, s.options.ReadTimeout)
	defer cancel()
	epoch, err := s.askEpoch(bounded, conn.Conn(), start)
	return epoch, s.ended(bounded, err)
}

func (s *Store) askEpoch(ctx context.Context, conn *pgx.Conn, start time.Time) (string, error) {
	if epoch := s.epochs.of(start); epoch != "" {
		return epoch, nil
	}
	if _, err := s.epochs.look(ctx, conn); err != nil {
		return "", err
	}
	if epoch := s.epochs.of(start); epoch != "" {
		return epoch, nil
	}
	return fmt.Sprint("start ", start.UnixMicro()), nil // another server answered the question
}

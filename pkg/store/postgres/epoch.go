package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// epochs knows the epoch of a server by when the server was started, which every read of a head carries: neither changes while it runs.
type epochs struct {
	mu       sync.Mutex
	known    map[int64]string // by start, in microseconds
	volatile bool
}

// serverSQL: the timeline, which a promotion begins anew, is what names of WAL files begin with; on a standby there is none.
const serverSQL = `SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
  (SELECT system_identifier FROM pg_control_system())::text,
  CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
  current_setting('fsync') = 'off' OR current_setting('synchronous_commit') = 'off', current_setting('server_encoding')`

// errEncoding: the columns for readers hold any text.
var errEncoding = errors.New("postgres: the database's encoding is not UTF8")

// look asks the server and says whether it loses acknowledged commits when it crashes. What such a server has lost after a start nobody
// can know, so that each start is an epoch.
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

// starts are when servers were started that are of an epoch, as far as they are known.
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

// of is the epoch of the server that was started then, "" if it is not known.
func (e *epochs) of(start time.Time) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[start.UnixMicro()]
}

// epochOf is the epoch of the server that answered. A server that was started since is asked.
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
	return fmt.Sprint("start ", start.UnixMicro()), nil // another server has answered the question
}

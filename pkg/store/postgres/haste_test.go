package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// filled makes the pool open all its connections, and holds them.
func filled(t *testing.T, s *Store) (release func()) {
	t.Helper()
	held := make([]*pgxpool.Conn, s.options.PoolSize)
	for i := range held {
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		held[i] = conn
	}
	return func() {
		for _, conn := range held {
			conn.Release()
		}
		await(t, func() bool { return int(s.pool.Stat().IdleConns()) == len(held) })
	}
}

// locked holds a lock as another process would, until the test or release ends it.
func locked(t *testing.T, dsn, statement string, args ...any) (release func()) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	must(t, err)
	t.Cleanup(pool.Close)
	tx, err := pool.Begin(t.Context())
	must(t, err)
	release = func() { _ = tx.Rollback(context.Background()) }
	t.Cleanup(release)
	_, err = tx.Exec(t.Context(), statement, args...)
	must(t, err)
	return release
}

func oneMessage() store.Query {
	return store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 1}}}}
}

// TestStore_CallInHaste_LeavesThePool: if a caller's own deadline ends a read, or no connection can be made in time, at most the
// connection in use is lost.
func TestStore_CallInHaste_LeavesThePool(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 6})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	filled(t, s)()
	release := locked(t, dsn, s.sql("LOCK TABLE {s}.messages IN ACCESS EXCLUSIVE MODE"))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := s.Read(ctx, k.key, oneMessage()); !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("%v, the deadline: %v", err, ctx.Err())
	}
	release()
	for range 20 {
		brief, end := context.WithTimeout(t.Context(), time.Nanosecond)
		if _, err := s.acquire(brief); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a wait that is over: %v", err)
		}
		end()
	}
	if n := s.pool.Stat().IdleConns(); n < 5 {
		t.Errorf("%d of 6 connections are left", n)
	}
}

// TestStore_OwnLimit_ResetsThePool: a server that has not answered within the store's own limit may have dropped all connections.
func TestStore_OwnLimit_ResetsThePool(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 6, ReadTimeout: 50 * time.Millisecond})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	filled(t, s)()
	locked(t, dsn, s.sql("LOCK TABLE {s}.messages IN ACCESS EXCLUSIVE MODE"))
	if _, err := s.Read(t.Context(), k.key, oneMessage()); !errors.Is(err, store.ErrUnavailable) {
		t.Error(err)
	}
	await(t, func() bool { return s.pool.Stat().TotalConns() < 3 })
}

// TestStore_CommitOverItsLimit_LeavesThePool: only the connection of a commit that waits for another's lock beyond its limit is closed.
func TestStore_CommitOverItsLimit_LeavesThePool(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 6})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	filled(t, s)()
	s.options.CommitTimeout = 200 * time.Millisecond // making the schema takes longer
	locked(t, dsn, s.sql("SELECT FROM {s}.conversations FOR UPDATE"))
	if err := s.Commit(t.Context(), k.key, k.appending()); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Error(err)
	}
	if n := s.pool.Stat().IdleConns(); n < 5 {
		t.Errorf("%d of 6 connections are left", n)
	}
}

// TestStore_Answers_LeaveThePool: a server that answers with an error is there. One that has become read-only is the wrong server.
func TestStore_Answers_LeaveThePool(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	s := opened(t, Options{DSN: dsn, PoolSize: 6})
	filled(t, s)()
	for _, text := range []string{
		`DO $$ BEGIN RAISE EXCEPTION SQLSTATE '57014'; END $$`, `SELECT FROM {s}.nothing`, `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '53200'; END $$`,
	} {
		if _, err := s.pool.Exec(t.Context(), s.sql(text)); !errors.Is(s.fault(err, true), store.ErrUnavailable) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n := s.pool.Stat().TotalConns(); n != 6 {
		t.Errorf("%d of 6 connections are left", n)
	}
	_, err := s.pool.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '25006'; END $$`)
	if !errors.Is(s.fault(err, true), store.ErrUnavailable) {
		t.Error(err)
	}
	await(t, func() bool { return s.pool.Stat().TotalConns() < 3 })
}

// TestState_Down_ResetsThePool: the watcher finds out what callers in haste have not waited for.
func TestState_Down_ResetsThePool(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 6})
	filled(t, s)()
	newState(s).tell(store.ErrUnavailable)
	await(t, func() bool { return s.pool.Stat().TotalConns() < 3 })
}

// TestStore_Wait_NearItsEnd_GivesTheContextsError: a look that had no time to succeed does not mean an outage.
func TestStore_Wait_NearItsEnd_GivesTheContextsError(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN, PoolSize: 1, AcquireTimeout: 50 * time.Millisecond})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	release := filled(t, s)
	defer release()
	near, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
	defer cancel()
	if err := s.Wait(near, k.key, k.head.Version); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("near its end: %v", err)
	}
	far, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Wait(far, k.key, k.head.Version); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("far from its end: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(cancelled, k.key, k.head.Version); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

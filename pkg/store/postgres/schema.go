package postgres

import (
	"context"
	"embed"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion is the version of the tables that this program makes, which is the number of its migrations. A program also works on
// newer tables if they name its version as one that may still write them, so two consecutive versions can run side by side.
const SchemaVersion = 1

// leastReader and leastWriter are the oldest versions that may read and write the tables of this program.
const (
	leastReader = 1
	leastWriter = 1
)

// migrationLock is held while tables are made or changed, until the transaction ends: a lock of the session would not work through a
// pooler.
const migrationLock = `SELECT pg_advisory_xact_lock($1::bigint)`

// Migrate makes the tables, or brings them up to this program's version. It returns the version before and after. It changes nothing if
// they are as new, or newer.
func Migrate(ctx context.Context, o Options) (from, to int, err error) {
	s, err := newStore(o.withDefaults()) //nolint:contextcheck // the pool ends by Close
	if err != nil {
		return 0, 0, err
	}
	defer s.pool.Close()
	conn, err := s.acquire(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Release()
	return s.migrate(ctx, conn.Conn(), false)
}

// prepareSchema makes the tables in an empty database, and refuses tables that are not this program's.
func (s *Store) prepareSchema(ctx context.Context, conn *pgx.Conn) error {
	have, err := s.schemaVersion(ctx, conn)
	if err == nil && have.version == 0 {
		if s.options.MustExist {
			return fmt.Errorf("%w in the schema %s", ErrNoStore, s.options.Schema)
		}
		_, _, err = s.migrate(ctx, conn, true)
		if err == nil {
			have, err = s.schemaVersion(ctx, conn)
		}
	}
	switch {
	case err != nil:
		return s.fault(err, false)
	case have.version < SchemaVersion:
		return fmt.Errorf("%w: the tables have version %d and this program needs %d: run `sidecar migrate`", ErrSchema, have.version, SchemaVersion)
	case have.writer > SchemaVersion:
		return fmt.Errorf("%w: the tables have version %d, which programs from version %d on may write, and this one knows version %d: "+
			"run a newer program (`sidecar migrate` cannot bring tables back)", ErrSchema, have.version, have.writer, SchemaVersion)
	default:
		return nil
	}
}

type versions struct{ version, writer int }

// schemaVersion returns the version of the tables; 0 if there are none.
func (s *Store) schemaVersion(ctx context.Context, conn *pgx.Conn) (v versions, err error) {
	var there bool
	const exists = `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1::text AND tablename = 'schema')`
	if err := conn.QueryRow(ctx, exists, s.options.Schema).Scan(&there); err != nil || !there {
		return v, err
	}
	err = conn.QueryRow(ctx, s.sql(`SELECT version, least_writer FROM {s}.schema`)).Scan(&v.version, &v.writer)
	return v, err
}

// migrate takes the missing steps, in one transaction. A second process finds nothing left to do.
func (s *Store) migrate(ctx context.Context, conn *pgx.Conn, onlyEmpty bool) (from, to int, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return 0, 0, s.fault(err, false)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, migrationLock, lockOf("migrate", s.options.Schema)); err != nil {
		return 0, 0, s.fault(err, false)
	}
	have, err := s.schemaVersion(ctx, conn)
	if err != nil {
		return 0, 0, s.fault(err, false)
	}
	if have.version >= SchemaVersion || onlyEmpty && have.version > 0 {
		return have.version, have.version, nil
	}
	if err := s.step(ctx, conn, have.version); err != nil {
		return have.version, have.version, s.fault(err, false)
	}
	return have.version, SchemaVersion, s.fault(tx.Commit(ctx), false)
}

func (s *Store) step(ctx context.Context, conn *pgx.Conn, from int) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	texts := []string{`CREATE SCHEMA IF NOT EXISTS {s}`}
	for _, file := range files[from:SchemaVersion] {
		text, err := migrations.ReadFile("migrations/" + file.Name())
		if err != nil {
			return err
		}
		texts = append(texts, string(text))
	}
	texts = append(texts, `DELETE FROM {s}.schema`, fmt.Sprintf(
		`INSERT INTO {s}.schema (version, least_reader, least_writer) VALUES (%d, %d, %d)`, SchemaVersion, leastReader, leastWriter))
	// The simple protocol, because a file holds many statements.
	return conn.PgConn().Exec(ctx, s.sql(strings.Join(texts, ";\n"))).Close()
}

// lockOf is the number of an advisory lock. If two names have the same number, the only cost is a wait.
func lockOf(names ...string) int64 {
	h := fnv.New64a()
	for _, name := range names {
		fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return int64(h.Sum64())
}

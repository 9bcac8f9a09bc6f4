package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	beginTx = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`
	// touch makes every writer meet the trigger of a sealed store, and makes sealing wait for every writer.
	touchSQL    = `UPDATE {s}.conversations SET version = version WHERE false`
	holdNameSQL = `SELECT pg_advisory_xact_lock($1::bigint)`
	lockRowSQL  = `SELECT FROM {s}.conversations WHERE namespace = $1::bytea AND conversation = $2::bytea FOR NO KEY UPDATE`

	undoWithin = 2 * time.Second
)

// tx is a transaction that holds a name. It looks in one round trip, and writes in another.
type tx struct {
	s     *Store
	ctx   context.Context //nolint:containedctx // it lives as long as a call
	conn  *pgx.Conn
	batch *pgx.Batch
	ended bool
}

// hold begins a transaction. While it runs, nobody else can begin, stage or delete under the name, or commit to what the name
// leads to.
func (s *Store) hold(ctx context.Context, conn *pgx.Conn, key store.Key) *tx {
	t := &tx{s: s, ctx: ctx, conn: conn, batch: &pgx.Batch{}}
	t.batch.Queue(beginTx)
	t.batch.Queue(s.sql(touchSQL))
	t.batch.Queue(holdNameSQL, lockOf("name", s.options.Schema, key.Namespace, key.Conversation))
	return t
}

// head asks for the head that the name leads to, and locks its row.
func (t *tx) head(key store.Key, into **store.Head) {
	t.each(`SELECT head FROM {s}.conversations WHERE namespace = $1::bytea AND conversation = $2::bytea FOR NO KEY UPDATE`,
		one(into, t.s.codec.DecodeHead), []byte(key.Namespace), []byte(key.Conversation))
}

// place asks for an incarnation that no name leads to.
func (t *tx) place(id []byte, into **place) {
	t.each(`SELECT namespace, conversation, staged, dying, due FROM {s}.unnamed WHERE incarnation = $1::bytea`, func(rows pgx.Rows) error {
		var p place
		var err error
		p.key, err = scanKey(rows, &p.staged, &p.dying, &p.due)
		*into = &p
		return err
	}, id)
}

func (t *tx) ask(text string, scan func(pgx.Row) error, args ...any) {
	t.batch.Queue(t.s.sql(text), args...).QueryRow(scan)
}

func (t *tx) each(text string, scan func(pgx.Rows) error, args ...any) {
	each(t.batch, t.s.sql(text), scan, args...)
}

// each passes the rows of a statement to scan one by one.
func each(b *pgx.Batch, text string, scan func(pgx.Rows) error, args ...any) {
	b.Queue(text, args...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func (t *tx) write(w *statement) { t.batch.Queue(t.s.text(w), w.values()...) }

// send runs the queued statements, in one round trip.
func (t *tx) send() error {
	b := t.batch
	t.batch = &pgx.Batch{}
	return t.conn.SendBatch(t.ctx, b).Close()
}

// commit runs the queued statements and commits, in one round trip.
func (t *tx) commit() error {
	t.batch.Queue("COMMIT")
	err := t.send()
	t.ended = err == nil
	return err
}

// end rolls back what was not committed. If that fails, it closes the connection.
func (t *tx) end() {
	if t.ended || t.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), undoWithin)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "ROLLBACK"); err != nil && !errors.Is(err, context.Canceled) {
		_ = t.conn.Close(ctx)
	}
}

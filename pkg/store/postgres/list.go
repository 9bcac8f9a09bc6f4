package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// rows runs a statement that reads, and passes its rows to scan one by one.
func (s *Store) rows(ctx context.Context, text string, scan func(pgx.Rows) error, args ...any) error {
	b := &pgx.Batch{}
	each(b, s.sql(text), scan, args...)
	return s.ask(ctx, b)
}

// ask runs statements that read, in one round trip.
func (s *Store) ask(ctx context.Context, b *pgx.Batch) error {
	bounded, cancel := within(ctx, s.options.ReadTimeout)
	defer cancel()
	conn, err := s.acquire(bounded)
	if err != nil {
		return err
	}
	defer conn.Release()
	err = conn.SendBatch(bounded, b).Close()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() == nil && conn.Conn().IsClosed():
		return fmt.Errorf("%w: %w", errAgain, s.fault(err, false)) // the connection broke, perhaps long ago
	default:
		return s.ended(bounded, err)
	}
}

// collect runs a statement that reads, and returns what scan makes of each row.
func collect[T any](ctx context.Context, s *Store, text string, scan func(pgx.Rows) (T, error), args ...any) (out []T, err error) {
	err = s.retried(func() error {
		out = nil
		return s.rows(ctx, text, func(rows pgx.Rows) error {
			v, err := scan(rows)
			out = append(out, v)
			return err
		}, args...)
	})
	return out, err
}

// scanKey reads a row that begins with a namespace and a conversation.
func scanKey(rows pgx.Rows, rest ...any) (store.Key, error) {
	var namespace, name []byte
	err := rows.Scan(append([]any{&namespace, &name}, rest...)...)
	return store.Key{Namespace: string(namespace), Conversation: string(name)}, err
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error) {
	if err := s.gate.Enter(ctx, store.Key{Namespace: namespace}); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	return collect(ctx, s, `SELECT c.conversation, c.head, i.payload FROM {s}.conversations c LEFT JOIN {s}.infos i USING (incarnation)
 WHERE c.namespace = $1::bytea AND c.conversation > $2::bytea ORDER BY c.conversation LIMIT $3::bigint`, s.entry,
		[]byte(namespace), []byte(after), int64(max(limit, 0)))
}

func (s *Store) entry(rows pgx.Rows) (e store.Entry, err error) {
	var name, head, info []byte
	if err := rows.Scan(&name, &head, &info); err != nil {
		return e, err
	}
	e.ID = string(name)
	if e.Head, err = s.codec.DecodeHead(head); err != nil || info == nil {
		return e, err
	}
	e.Info, err = s.codec.DecodeInfo(info)
	return e, err
}

// Names implements store.Store: in byte order.
func (s *Store) Names(ctx context.Context, after *store.Key, limit int) ([]store.Key, error) {
	if err := s.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	text := `SELECT namespace, conversation FROM {s}.conversations ORDER BY namespace, conversation LIMIT $1::bigint`
	args := []any{int64(max(limit, 0))}
	if after != nil {
		text = `SELECT namespace, conversation FROM {s}.conversations WHERE (namespace, conversation) > ($2::bytea, $3::bytea)
 ORDER BY namespace, conversation LIMIT $1::bigint`
		args = append(args, []byte(after.Namespace), []byte(after.Conversation))
	}
	return collect(ctx, s, text, func(rows pgx.Rows) (store.Key, error) { return scanKey(rows) }, args...)
}

// dueSQL takes from each of the three indexes no more rows than were asked for.
const dueSQL = `(SELECT namespace, conversation, incarnation, NULL::bytea AS content, false AS staged, next_due AS due FROM {s}.conversations
  WHERE next_due <= $1::bigint ORDER BY next_due LIMIT $2::bigint)
UNION ALL (SELECT namespace, conversation, incarnation, NULL, staged, due FROM {s}.unnamed WHERE due <= $1::bigint ORDER BY due LIMIT $2::bigint)
UNION ALL (SELECT namespace, conversation, incarnation, content, false, due FROM {s}.contents WHERE due <= $1::bigint ORDER BY due LIMIT $2::bigint)
ORDER BY due, incarnation, content NULLS FIRST LIMIT $2::bigint`

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, until time.Time, limit int) ([]store.Task, error) {
	if err := s.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	return collect(ctx, s, dueSQL, scanTask, nanos(until), int64(max(limit, 0)))
}

func scanTask(rows pgx.Rows) (task store.Task, err error) {
	var incarnation, content []byte
	var due int64
	task.Key, err = scanKey(rows, &incarnation, &content, &task.Staged, &due)
	task.Incarnation, task.Upload, task.Time = idOf(incarnation), idOf(content), time.Unix(0, due).UTC()
	return task, err
}

func idOf(b []byte) (id conversation.ID) {
	copy(id[:], b)
	return id
}

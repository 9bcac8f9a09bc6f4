package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// deleteStep is how many records a call without a limit deletes: as many as a transaction can in some milliseconds.
const deleteStep = 1000

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, d store.Deletion) (done bool, err error) {
	if err := s.gate.Enter(ctx, key); err != nil {
		return false, err
	}
	defer s.gate.Leave()
	d.Limit = cmp.Or(max(d.Limit, 0), deleteStep)
	err = s.held(ctx, key, func(t *tx) (err error) {
		done, err = s.remove(t, d)
		return err
	})
	if err == nil {
		s.wakes.Wake(key)
	}
	return done && err == nil, err
}

// doomed is what a deletion is checked against.
type doomed struct {
	named   *store.Key
	head    *store.Head // head of the incarnation, if a name leads to it
	staged  *place
	content *content
}

func (f *doomed) look(t *tx, d store.Deletion) {
	id := d.Incarnation[:]
	t.named(id, &f.named)
	t.each(`SELECT head FROM {s}.conversations WHERE incarnation = $1::bytea FOR NO KEY UPDATE`, one(&f.head, t.s.codec.DecodeHead), id)
	t.place(id, &f.staged)
	t.content(id, d.Upload[:], &f.content)
}

func (s *Store) remove(t *tx, d store.Deletion) (bool, error) {
	var f doomed
	f.look(t, d)
	if err := t.send(); err != nil {
		return false, s.fault(err, false)
	}
	live := f.head != nil && f.head.State != store.Deleted
	switch {
	case f.head == nil && f.staged == nil:
		return true, nil
	case !d.Upload.IsZero():
		return s.removeUpload(t, &f, d, live)
	case live:
		return false, fmt.Errorf("%w: the incarnation is live", store.ErrConflict)
	}
	return s.removeIncarnation(t, &f, d)
}

func (s *Store) removeUpload(t *tx, f *doomed, d store.Deletion, live bool) (bool, error) {
	switch {
	case f.content == nil:
		return true, nil
	case live && f.content.referred:
		return false, fmt.Errorf("%w: a commit refers to the upload", store.ErrConflict)
	}
	var gone int
	id, upload := d.Incarnation[:], d.Upload[:]
	t.batch.Queue(s.sql(`UPDATE {s}.contents SET dying = true, due = COALESCE(due, $3::bigint)
 WHERE incarnation = $1::bytea AND content = $2::bytea`), id, upload, f.due())
	t.ask(`WITH gone AS (DELETE FROM {s}.chunks WHERE ctid IN (SELECT ctid FROM {s}.chunks WHERE incarnation = $1::bytea AND content = $2::bytea
  LIMIT $3::bigint) RETURNING 1),
 last AS (DELETE FROM {s}.contents WHERE incarnation = $1::bytea AND content = $2::bytea AND (SELECT count(*) FROM gone) < $3::bigint)
SELECT count(*) FROM gone`, func(row pgx.Row) error { return row.Scan(&gone) }, id, upload, int64(d.Limit))
	err := s.fault(t.commit(), true)
	return err == nil && gone < d.Limit, err
}

// due is when the incarnation is due; nil for never. A content of it that is deleted separately is due at the same time.
func (f *doomed) due() *int64 {
	if f.staged != nil {
		return &f.staged.due
	}
	return maybeNanos(f.head.NextDue)
}

func (s *Store) removeIncarnation(t *tx, f *doomed, d store.Deletion) (bool, error) {
	var gone int
	tombstone := f.head != nil && d.KeepHead
	if f.staged != nil {
		t.batch.Queue(s.sql(`UPDATE {s}.unnamed SET dying = true WHERE incarnation = $1::bytea AND NOT dying`), d.Incarnation[:])
	}
	t.ask(purge(tombstone), func(row pgx.Row) error { return row.Scan(&gone) }, d.Incarnation[:], int64(d.Limit))
	err := s.fault(t.commit(), true)
	return err == nil && gone < d.Limit, err
}

// purge is the statement that deletes records of an incarnation up to a limit. If there are fewer than that, it also deletes the head and
// the name. A tombstone keeps its head and its outcomes.
func purge(tombstone bool) string {
	tables := []string{"messages", "edits", "manifests", "slots", "infos", "chunks", "contents"}
	if !tombstone {
		tables = append(tables, "outcomes")
	}
	sections := make([]string, 0, len(tables)+2)
	sum := "0"
	for _, table := range tables {
		sections = append(sections, fmt.Sprintf(`%[1]s_gone AS (DELETE FROM {s}.%[1]s WHERE ctid = ANY(ARRAY(SELECT ctid FROM {s}.%[1]s
 WHERE incarnation = $1::bytea LIMIT $2::bigint - (%[2]s))) RETURNING 1)`, table, sum))
		sum += fmt.Sprintf(" + (SELECT count(*) FROM %s_gone)", table)
	}
	if !tombstone {
		for _, table := range []string{"conversations", "unnamed"} {
			sections = append(sections, fmt.Sprintf(`%[1]s_gone AS (DELETE FROM {s}.%[1]s WHERE incarnation = $1::bytea AND %[2]s < $2::bigint)`,
				table, sum))
		}
	}
	return "WITH " + strings.Join(sections, ",\n") + "\nSELECT " + sum
}

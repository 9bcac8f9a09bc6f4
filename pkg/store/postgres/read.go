package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Which incarnation a read is about, as part of a statement. It is the one that the name leads to, unless that is at the version the
// caller has; or it is a required one, which may be staged.
const (
	ledTo = `(SELECT incarnation FROM {s}.conversations WHERE namespace = ?::bytea AND conversation = ?::bytea AND version <> ?::bigint)`
	// The parentheses hold at most one row: an incarnation is in only one of the two tables.
	demanded = `(SELECT incarnation FROM {s}.conversations WHERE namespace = ?::bytea AND conversation = ?::bytea AND version <> ?::bigint
  AND incarnation = ?::bytea
 UNION ALL SELECT incarnation FROM {s}.unnamed WHERE incarnation = ?::bytea AND namespace = ?::bytea AND conversation = ?::bytea
  AND staged AND NOT dying)`

	headSQL = `SELECT head, pg_postmaster_start_time() FROM {s}.conversations WHERE namespace = $1::bytea AND conversation = $2::bytea`
	// A staged incarnation has no head yet.
	demandedHeadSQL = `SELECT head, pg_postmaster_start_time() FROM {s}.conversations
 WHERE namespace = $1::bytea AND conversation = $2::bytea AND incarnation = $3::bytea
UNION ALL SELECT NULL, pg_postmaster_start_time() FROM {s}.unnamed
 WHERE incarnation = $3::bytea AND namespace = $1::bytea AND conversation = $2::bytea AND staged AND NOT dying`
)

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	if err := s.gate.Enter(ctx, key); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	var snap *store.Snapshot
	err := s.retried(func() (err error) {
		snap, err = s.read(ctx, key, &q)
		return err
	})
	return snap, err
}

func (s *Store) read(ctx context.Context, key store.Key, q *store.Query) (*store.Snapshot, error) {
	r := &reader{s: s, key: key, q: q, snap: &store.Snapshot{}, batch: &pgx.Batch{}}
	r.prepare()
	if err := s.ask(ctx, r.batch); err != nil {
		return nil, err
	}
	if !r.found {
		return nil, fmt.Errorf("%w: the name leads nowhere", store.ErrNotFound)
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	return r.snap, nil
}

// reader answers one query.
type reader struct {
	s     *Store
	key   store.Key
	q     *store.Query
	snap  *store.Snapshot
	batch *pgx.Batch

	found   bool
	started time.Time
	// What the answer is made from. For Since, these are the messages and edits that may belong to it.
	edits         []conversation.Edit
	sinceMessages []conversation.Message
	sinceEdits    []conversation.Edit
	contents      []piecewise
}

// prepare queues all statements of the query. If there is more than one, they need a transaction to read one snapshot.
func (r *reader) prepare() {
	r.batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	r.head()
	alone := r.batch.Len()
	if r.q.Info {
		r.each(`SELECT payload FROM {s}.infos WHERE incarnation = {i}`, one(&r.snap.Info, r.s.codec.DecodeInfo))
	}
	for i := range r.q.Ranges {
		r.messages(&r.q.Ranges[i])
	}
	for _, step := range []func(){r.askEdits, r.askSince, r.outcome, r.manifests, r.slots, r.askContents, r.outcomes, r.stored} {
		step()
	}
	if r.batch.Len() == alone {
		r.batch.QueuedQueries = r.batch.QueuedQueries[1:]
		return
	}
	r.batch.Queue("COMMIT")
}

func (r *reader) head() {
	text, args := headSQL, []any{[]byte(r.key.Namespace), []byte(r.key.Conversation)}
	if !r.q.Incarnation.IsZero() {
		text, args = demandedHeadSQL, append(args, r.q.Incarnation[:])
	}
	each(r.batch, r.s.sql(text), func(rows pgx.Rows) (err error) {
		var payload []byte
		if err := rows.Scan(&payload, &r.started); err != nil {
			return err
		}
		r.found = true
		if payload != nil {
			r.snap.Head, err = r.s.codec.DecodeHead(payload)
		}
		return err
	}, args...)
}

// each queues a statement whose first value is {i}, the incarnation.
func (r *reader) each(text string, scan func(pgx.Rows) error, args ...any) {
	namespace, name, version := []byte(r.key.Namespace), []byte(r.key.Conversation), int64(-1)
	if r.q.IfNewer != 0 && r.q.IfNewer <= math.MaxInt64 {
		version = int64(r.q.IfNewer)
	}
	all := []any{namespace, name, version}
	which := ledTo
	if id := r.q.Incarnation; !id.IsZero() {
		which, all = demanded, append(all, id[:], id[:], namespace, name)
	}
	each(r.batch, r.s.numbered(text, which), scan, append(all, args...)...)
}

// all collects the rows, each a single column of bytes.
func all[T any](into *[]T, decode func([]byte) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			return err
		}
		v, err := decode(value)
		*into = append(*into, v)
		return err
	}
}

// one takes the only row, if there is one.
func one[T any](into **T, decode func([]byte) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			return err
		}
		v, err := decode(value)
		*into = &v
		return err
	}
}

const (
	ascendingSQL  = `SELECT index, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int ORDER BY index LIMIT ?::bigint`
	descendingSQL = `SELECT index, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int ORDER BY index DESC LIMIT ?::bigint`
	// Goes from message to message, and ends after the one that brings the tokens to the bound.
	ascendingToSQL = `WITH RECURSIVE w AS (
 (SELECT incarnation, index, tokens::bigint AS total, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int
  ORDER BY index LIMIT 1)
 UNION ALL SELECT n.incarnation, n.index, w.total + n.tokens, n.payload FROM w CROSS JOIN LATERAL (
  SELECT m.incarnation, m.index, m.tokens, m.payload FROM {s}.messages m WHERE m.incarnation = w.incarnation AND m.index > w.index AND m.index < ?::int
  ORDER BY m.index LIMIT 1) n WHERE w.total < ?::bigint)
SELECT index, payload FROM w LIMIT ?::bigint`
	descendingToSQL = `WITH RECURSIVE w AS (
 (SELECT incarnation, index, tokens::bigint AS total, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int
  ORDER BY index DESC LIMIT 1)
 UNION ALL SELECT n.incarnation, n.index, w.total + n.tokens, n.payload FROM w CROSS JOIN LATERAL (
  SELECT m.incarnation, m.index, m.tokens, m.payload FROM {s}.messages m WHERE m.incarnation = w.incarnation AND m.index < w.index AND m.index >= ?::int
  ORDER BY m.index DESC LIMIT 1) n WHERE w.total < ?::bigint)
SELECT index, payload FROM w LIMIT ?::bigint`
)

func (r *reader) messages(q *store.MessageRange) {
	var limit *int64
	if q.Limit > 0 {
		n := int64(q.Limit)
		limit = &n
	}
	text, args := ascendingSQL, []any{q.First, q.End}
	switch {
	case q.MaxTokens > 0 && q.Reverse:
		text, args = descendingToSQL, append(args, q.First, q.MaxTokens)
	case q.MaxTokens > 0:
		text, args = ascendingToSQL, append(args, q.End, q.MaxTokens)
	case q.Reverse:
		text = descendingSQL
	}
	r.each(text, func(rows pgx.Rows) error {
		m, err := r.message(rows)
		r.snap.Messages = append(r.snap.Messages, m)
		return err
	}, append(args, limit)...)
}

// message decodes a message and compares it with its key.
func (r *reader) message(rows pgx.Rows) (conversation.Message, error) {
	var index int32
	var value []byte
	if err := rows.Scan(&index, &value); err != nil {
		return conversation.Message{}, err
	}
	m, err := r.s.codec.DecodeMessage(value)
	if err == nil && m.Index != index {
		err = fmt.Errorf("message %d lies under another index: %w", m.Index, store.ErrCorrupt)
	}
	return m, err
}

// finish assembles what several statements answered.
func (r *reader) finish(ctx context.Context) error {
	if r.q.IfNewer != 0 && r.q.IfNewer == r.snap.Head.Version {
		*r.snap = store.Snapshot{Head: r.snap.Head}
	} else {
		r.finishEdits()
		r.finishSince()
		r.finishContents()
	}
	epoch, err := r.s.epochOf(ctx, r.started)
	r.snap.Head.Epoch = epoch
	return err
}

func (r *reader) outcome() {
	if r.q.Request == nil {
		return
	}
	r.each(`SELECT payload FROM {s}.outcomes WHERE incarnation = {i} AND rpc = ?::bytea AND id = ?::bytea`,
		one(&r.snap.Outcome, r.s.codec.DecodeOutcome), []byte(r.q.Request.RPC), []byte(r.q.Request.ID))
}

func (r *reader) outcomes() {
	q := r.q.Outcomes
	if q == nil {
		return
	}
	take, limit := all(&r.snap.Outcomes, r.s.codec.DecodeOutcome), int64(max(q.Limit, 0))
	if q.After == nil {
		r.each(`SELECT payload FROM {s}.outcomes WHERE incarnation = {i} ORDER BY rpc, id LIMIT ?::bigint`, take, limit)
		return
	}
	r.each(`SELECT payload FROM {s}.outcomes WHERE incarnation = {i} AND (rpc, id) > (?::bytea, ?::bytea) ORDER BY rpc, id LIMIT ?::bigint`, take,
		[]byte(q.After.RPC), []byte(q.After.ID), limit)
}

func (r *reader) manifests() {
	q := r.q.Manifest
	if q == nil {
		return
	}
	before := q.Before
	if before <= 0 {
		before = math.MaxInt64
	}
	r.each(`SELECT payload FROM {s}.manifests WHERE incarnation = {i} AND seq < ?::bigint ORDER BY seq DESC LIMIT ?::bigint`,
		all(&r.snap.Manifests, r.s.codec.DecodeManifest), before, int64(max(q.Limit, 0)))
}

func (r *reader) slots() {
	if len(r.q.Slots) > 0 {
		names := make([][]byte, len(r.q.Slots))
		for i, name := range r.q.Slots {
			names[i] = []byte(name)
		}
		r.each(`SELECT name, payload FROM {s}.slots WHERE incarnation = {i} AND name = ANY(?::bytea[])`, r.slot, names)
	}
	if r.q.AllSlots {
		r.each(`SELECT name, payload FROM {s}.slots WHERE incarnation = {i} ORDER BY name LIMIT ?::bigint`, r.slot, int64(store.MaxSlots))
		return
	}
	if r.q.SlotsOf == "" {
		return
	}
	prefix := []byte(r.q.SlotsOf)
	if end := after(prefix); end != nil {
		r.each(`SELECT name, payload FROM {s}.slots WHERE incarnation = {i} AND name >= ?::bytea AND name < ?::bytea ORDER BY name LIMIT ?::bigint`,
			r.slot, prefix, end, int64(store.MaxSlots))
		return
	}
	r.each(`SELECT name, payload FROM {s}.slots WHERE incarnation = {i} AND name >= ?::bytea ORDER BY name LIMIT ?::bigint`,
		r.slot, prefix, int64(store.MaxSlots))
}

// after is the least key greater than all keys with the prefix; nil if there is none.
func after(prefix []byte) []byte {
	end := bytes.TrimRight(prefix, "\xff")
	if len(end) == 0 {
		return nil
	}
	end = slices.Clone(end)
	end[len(end)-1]++
	return end
}

func (r *reader) slot(rows pgx.Rows) error {
	var name, value []byte
	if err := rows.Scan(&name, &value); err != nil {
		return err
	}
	data, err := r.s.codec.DecodeSlot(value)
	r.snap.SetSlot(string(name), data)
	return err
}

func (r *reader) stored() {
	q := r.q.Stored
	if q == nil {
		return
	}
	r.each(`SELECT content FROM {s}.contents WHERE incarnation = {i} AND content > ?::bytea AND due IS NULL ORDER BY content LIMIT ?::bigint`,
		all(&r.snap.Stored, func(id []byte) (conversation.ID, error) { return idOf(id), nil }), q.After[:], int64(max(q.Limit, 0)))
}

func ignoreAbsent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

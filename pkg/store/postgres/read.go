package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Which incarnation a read is about, as part of a statement: the one that the name leads to, unless it is at the version that the caller
// has; or one that is demanded, which may be staged.
const (
	ledTo = `(SELECT incarnation FROM {s}.conversations WHERE namespace = ?::bytea AND conversation = ?::bytea AND version <> ?::bigint)`
	// The parentheses hold one row at most: an incarnation is in one of the two tables.
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
	leave, err := s.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer leave()
	var snap *store.Snapshot
	err = s.retried(func() (err error) {
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
	// What the answer is made of: of Since the messages and edits that may belong to it.
	edits         []conversation.Edit
	sinceMessages []conversation.Message
	sinceEdits    []conversation.Edit
	contents      []piecewise
}

// prepare queues all that is asked for. More than one statement need a transaction to be one snapshot.
func (r *reader) prepare() {
	r.batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	r.head()
	alone := r.batch.Len()
	if r.q.Info {
		r.each(`SELECT payload FROM {s}.infos WHERE incarnation = {i}`, r.info)
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
		version = int64(r.q.IfNewer) //nolint:gosec // it fits
	}
	all := []any{namespace, name, version}
	which := ledTo
	if id := r.q.Incarnation; !id.IsZero() {
		which, all = demanded, append(all, id[:], id[:], namespace, name)
	}
	each(r.batch, r.s.sql(r.s.numbered(text, which)), scan, append(all, args...)...)
}

func payload(rows pgx.Rows) (value []byte, err error) {
	err = rows.Scan(&value)
	return value, err
}

func (r *reader) info(rows pgx.Rows) error {
	value, err := payload(rows)
	if err != nil {
		return err
	}
	info, err := r.s.codec.DecodeInfo(value)
	r.snap.Info = &info
	return err
}

const (
	ascendingSQL  = `SELECT index, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int ORDER BY index LIMIT ?::bigint`
	descendingSQL = `SELECT index, payload FROM {s}.messages WHERE incarnation = {i} AND index >= ?::int AND index < ?::int ORDER BY index DESC LIMIT ?::bigint`
	// A walk from message to message that ends after the one that brings the tokens to the bound.
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

// message decodes a message and holds it against its key.
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

const (
	allEditsSQL  = `SELECT payload FROM {s}.edits WHERE incarnation = {i} AND seq > ?::bigint AND seq <= ?::bigint ORDER BY seq`
	wideEditsSQL = `SELECT payload FROM {s}.edits WHERE incarnation = {i} AND seq > ?::bigint AND seq <= ?::bigint AND wide`
	// The edits of single messages, by the messages that are asked for.
	narrowEditsSQL = `WITH i AS (SELECT {i} AS id)
SELECT e.payload FROM i CROSS JOIN unnest(?::int[], ?::int[]) AS r(first, last)
 JOIN {s}.edits e ON e.incarnation = i.id AND NOT e.wide AND e.first >= r.first AND e.first < r.last
 WHERE e.seq > ?::bigint AND e.seq <= ?::bigint`
)

func (r *reader) askEdits() {
	q := r.q.Edits
	if q == nil {
		return
	}
	upto := q.Upto
	if upto == 0 {
		upto = math.MaxInt64
	}
	take := func(rows pgx.Rows) error {
		e, err := r.edit(rows)
		r.edits = append(r.edits, e)
		return err
	}
	if len(q.Of) == 0 {
		r.each(allEditsSQL, take, q.After, upto)
		return
	}
	first, last := make([]int32, len(q.Of)), make([]int32, len(q.Of))
	for i, of := range q.Of {
		first[i], last[i] = of.First, of.End
	}
	r.each(wideEditsSQL, take, q.After, upto)
	r.each(narrowEditsSQL, take, first, last, q.After, upto)
}

func (r *reader) edit(rows pgx.Rows) (conversation.Edit, error) {
	value, err := payload(rows)
	if err != nil {
		return conversation.Edit{}, err
	}
	return r.s.codec.DecodeEdit(value)
}

const (
	sinceMessagesSQL = `SELECT index, payload FROM {s}.messages WHERE incarnation = {i} AND commit > ?::bigint
 ORDER BY commit FETCH FIRST (?::bigint) ROWS WITH TIES`
	sinceEditsSQL = `SELECT payload FROM {s}.edits WHERE incarnation = {i} AND commit > ?::bigint ORDER BY commit FETCH FIRST (?::bigint) ROWS WITH TIES`
)

func (r *reader) askSince() {
	q := r.q.Since
	if q == nil {
		return
	}
	version, limit := int64(min(q.Version, math.MaxInt64)), int64(max(q.Limit, 1)) //nolint:gosec // it was cut
	r.each(sinceMessagesSQL, func(rows pgx.Rows) error {
		m, err := r.message(rows)
		r.sinceMessages = append(r.sinceMessages, m)
		return err
	}, version, limit)
	r.each(sinceEditsSQL, func(rows pgx.Rows) error {
		e, err := r.edit(rows)
		r.sinceEdits = append(r.sinceEdits, e)
		return err
	}, version, limit)
}

// finish puts together what statements answered in parts.
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

func (r *reader) finishEdits() {
	if r.q.Edits == nil {
		return
	}
	slices.SortFunc(r.edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	r.edits = slices.CompactFunc(r.edits, func(a, b conversation.Edit) bool { return a.Seq == b.Seq })
	r.snap.Edits = slices.DeleteFunc(r.edits, func(e conversation.Edit) bool { return !r.q.Edits.Wants(&e) })
}

// finishSince takes whole commits, oldest first, as long as they are within the limit. Each of the two logs came up to the limit, and to the
// end of the commit there, so that nothing is missing among what is taken.
func (r *reader) finishSince() {
	if r.q.Since == nil {
		return
	}
	messages, edits := r.sinceMessages, r.sinceEdits
	slices.SortFunc(messages, func(a, b conversation.Message) int { return int(a.Index - b.Index) })
	slices.SortFunc(edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	for taken := 0; len(messages)+len(edits) > 0; {
		commit := oldest(messages, edits)
		m := sort.Search(len(messages), func(i int) bool { return messages[i].Commit > commit })
		e := sort.Search(len(edits), func(i int) bool { return edits[i].Commit > commit })
		if taken > 0 && taken+m+e > r.q.Since.Limit {
			return
		}
		r.snap.Messages = append(r.snap.Messages, messages[:m]...)
		r.snap.Edits = append(r.snap.Edits, edits[:e]...)
		messages, edits, taken = messages[m:], edits[e:], taken+m+e
	}
}

func oldest(messages []conversation.Message, edits []conversation.Edit) uint64 {
	switch {
	case len(messages) == 0:
		return edits[0].Commit
	case len(edits) == 0:
		return messages[0].Commit
	default:
		return min(messages[0].Commit, edits[0].Commit)
	}
}

func (r *reader) outcome() {
	if r.q.Request == nil {
		return
	}
	r.each(`SELECT payload FROM {s}.outcomes WHERE incarnation = {i} AND rpc = ?::bytea AND id = ?::bytea`, func(rows pgx.Rows) error {
		o, err := r.decodeOutcome(rows)
		r.snap.Outcome = &o
		return err
	}, []byte(r.q.Request.RPC), []byte(r.q.Request.ID))
}

func (r *reader) decodeOutcome(rows pgx.Rows) (store.Outcome, error) {
	value, err := payload(rows)
	if err != nil {
		return store.Outcome{}, err
	}
	return r.s.codec.DecodeOutcome(value)
}

func (r *reader) outcomes() {
	q := r.q.Outcomes
	if q == nil {
		return
	}
	take := func(rows pgx.Rows) error {
		o, err := r.decodeOutcome(rows)
		r.snap.Outcomes = append(r.snap.Outcomes, o)
		return err
	}
	limit := int64(max(q.Limit, 0))
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
	r.each(`SELECT payload FROM {s}.manifests WHERE incarnation = {i} AND seq < ?::bigint ORDER BY seq DESC LIMIT ?::bigint`, func(rows pgx.Rows) error {
		value, err := payload(rows)
		if err != nil {
			return err
		}
		m, err := r.s.codec.DecodeManifest(value)
		r.snap.Manifests = append(r.snap.Manifests, m)
		return err
	}, before, int64(max(q.Limit, 0)))
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

// after is the least that is greater than all that begins with the prefix; nil if nothing is.
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
	if r.snap.Slots == nil {
		r.snap.Slots = make(map[string][]byte)
	}
	data, err := r.s.codec.DecodeSlot(value)
	r.snap.Slots[string(name)] = data
	return err
}

func (r *reader) stored() {
	q := r.q.Stored
	if q == nil {
		return
	}
	r.each(`SELECT content FROM {s}.contents WHERE incarnation = {i} AND content > ?::bytea AND due IS NULL ORDER BY content LIMIT ?::bigint`,
		func(rows pgx.Rows) error {
			value, err := payload(rows)
			r.snap.Stored = append(r.snap.Stored, idOf(value))
			return err
		}, q.After[:], int64(max(q.Limit, 0)))
}

// piecewise is what came of a content: nil bytes if it is not there.
type piecewise struct {
	data []byte
	skip int64
}

const contentsSQL = `WITH c AS (SELECT incarnation, content FROM {s}.contents WHERE incarnation = {i} AND content = ?::bytea AND due IS NULL)
SELECT -1, NULL::bytea FROM c
UNION ALL (SELECT k.chunk, k.payload FROM c JOIN {s}.chunks k USING (incarnation, content) WHERE k.chunk >= ?::int AND k.chunk <= ?::int ORDER BY k.chunk)`

func (r *reader) askContents() {
	r.contents = make([]piecewise, len(r.q.Contents))
	for i := range r.q.Contents {
		want, into := &r.q.Contents[i], &r.contents[i]
		offset := max(want.Offset, 0)
		first, last := offset/store.ChunkBytes, int64(math.MaxInt32)
		if want.Length >= 0 && want.Length < math.MaxInt64-offset {
			last = (offset + want.Length - 1) / store.ChunkBytes
		}
		if want.Length == 0 {
			last = first - 1
		}
		into.skip = offset % store.ChunkBytes
		r.each(contentsSQL, func(rows pgx.Rows) error { return r.chunk(rows, into) },
			want.ID[:], int32(min(first, math.MaxInt32)), int32(min(last, math.MaxInt32))) //nolint:gosec // they were cut
	}
}

func (r *reader) chunk(rows pgx.Rows, into *piecewise) error {
	var number int32
	var value []byte
	if err := rows.Scan(&number, &value); err != nil {
		return err
	}
	if into.data == nil {
		into.data = []byte{}
	}
	if number < 0 {
		return nil
	}
	data, err := r.s.codec.DecodeChunk(value)
	into.data = append(into.data, data...)
	return err
}

func (r *reader) finishContents() {
	for i, c := range r.contents {
		if c.data != nil {
			c.data = c.data[min(c.skip, int64(len(c.data))):]
			if length := r.q.Contents[i].Length; length >= 0 {
				c.data = c.data[:min(length, int64(len(c.data)))]
			}
		}
		r.snap.Contents = append(r.snap.Contents, c.data)
	}
}

func ignoreAbsent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

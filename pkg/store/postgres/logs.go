package postgres

import (
	"cmp"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const (
	allEditsSQL  = `SELECT payload FROM {s}.edits WHERE incarnation = {i} AND seq > ?::bigint AND seq <= ?::bigint ORDER BY seq`
	wideEditsSQL = `SELECT payload FROM {s}.edits WHERE incarnation = {i} AND seq > ?::bigint AND seq <= ?::bigint AND wide`
	// Edits of single messages, by the messages asked for.
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
	upto := cmp.Or(q.Upto, math.MaxInt64)
	take := all(&r.edits, r.s.codec.DecodeEdit)
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
	version, limit := int64(min(q.Version, math.MaxInt64)), int64(max(q.Limit, 1))
	r.each(sinceMessagesSQL, func(rows pgx.Rows) error {
		m, err := r.message(rows)
		r.sinceMessages = append(r.sinceMessages, m)
		return err
	}, version, limit)
	r.each(sinceEditsSQL, all(&r.sinceEdits, r.s.codec.DecodeEdit), version, limit)
}

func (r *reader) finishEdits() {
	if r.q.Edits == nil {
		return
	}
	slices.SortFunc(r.edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	r.edits = slices.CompactFunc(r.edits, func(a, b conversation.Edit) bool { return a.Seq == b.Seq })
	r.snap.Edits = slices.DeleteFunc(r.edits, func(e conversation.Edit) bool { return !r.q.Edits.Wants(&e) })
}

// finishSince joins the two logs. Each was read up to the limit, and to the end of the commit there.
func (r *reader) finishSince() {
	if r.q.Since == nil {
		return
	}
	slices.SortFunc(r.sinceMessages, func(a, b conversation.Message) int { return int(a.Index - b.Index) })
	slices.SortFunc(r.sinceEdits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	r.q.Since.Answer(r.snap, r.sinceMessages, r.sinceEdits)
}

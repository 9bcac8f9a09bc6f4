package postgres

import (
	"math"
	"slices"
	"sort"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

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
	version, limit := int64(min(q.Version, math.MaxInt64)), int64(max(q.Limit, 1))
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

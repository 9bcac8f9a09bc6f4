package postgres

import (
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// piecewise holds the bytes of a content; nil if the content does not exist.
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
			want.ID[:], int32(min(first, math.MaxInt32)), int32(min(last, math.MaxInt32)))
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

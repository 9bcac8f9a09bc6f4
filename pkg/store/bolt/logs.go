package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func (r *reader) edits(q *store.Query) error {
	if q.Edits == nil {
		return nil
	}
	if len(q.Edits.Of) > 0 {
		return r.editsOf(q.Edits)
	}
	c := r.record().Cursor()
	prefix := recordKey(r.id, kindEdit, 0)
	for k, v := c.Seek(editKey(r.id, kindEdit, max(q.Edits.After+1, 0))); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if !q.Edits.Holds(lastSeq(k)) {
			return nil
		}
		e, err := r.codec.DecodeEdit(v)
		if err != nil {
			return err
		}
		r.snap.Edits = append(r.snap.Edits, e)
	}
	return nil
}

// editsOf finds the edits of some messages: edits about one message by the index, and edits about more than one by looking
// at each.
func (r *reader) editsOf(q *store.EditRange) error {
	seqs := r.wide(q)
	for _, of := range q.Of {
		seqs = append(seqs, r.narrow(q, of)...)
	}
	slices.Sort(seqs)
	for _, seq := range slices.Compact(seqs) {
		e, err := r.edit(seq)
		if err != nil {
			return err
		}
		if q.Wants(&e) {
			r.snap.Edits = append(r.snap.Edits, e)
		}
	}
	return nil
}

func (r *reader) narrow(q *store.EditRange, of conversation.Range) []int64 {
	var seqs []int64
	c := r.record().Cursor()
	end := narrowKey(r.id, max(of.End, 0), 0)
	for k, _ := c.Seek(narrowKey(r.id, max(of.First, 0), 0)); k != nil && bytes.Compare(k, end) < 0; k, _ = c.Next() {
		if seq := lastSeq(k); q.Holds(seq) {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

func (r *reader) wide(q *store.EditRange) []int64 {
	var seqs []int64
	c := r.record().Cursor()
	prefix := recordKey(r.id, kindWide, 0)
	for k, _ := c.Seek(editKey(r.id, kindWide, max(q.After+1, 0))); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if seq := lastSeq(k); q.Holds(seq) {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

func (r *reader) edit(seq int64) (conversation.Edit, error) {
	value := r.record().Get(editKey(r.id, kindEdit, seq))
	if value == nil {
		return conversation.Edit{}, fmt.Errorf("edit %d is missing: %w", seq, store.ErrCorrupt)
	}
	return r.codec.DecodeEdit(value)
}

// trail reads a log that is ordered by commit.
type trail[T any] struct {
	next   int // number of the record in at
	end    int
	at     *T // the next record; nil at the end
	get    func(int) (T, error)
	commit func(*T) uint64
}

// from moves to the first record of a commit after the version. It searches by halving, because commit numbers never fall
// along a log.
func (w *trail[T]) from(version uint64) error {
	var failed error
	w.next += sort.Search(w.end-w.next, func(i int) bool {
		v, err := w.get(w.next + i)
		if err != nil {
			failed = err
		}
		return err != nil || w.commit(&v) > version
	})
	if failed != nil {
		return failed
	}
	return w.load()
}

func (w *trail[T]) load() error {
	w.at = nil
	if w.next >= w.end {
		return nil
	}
	v, err := w.get(w.next)
	w.at = &v
	return err
}

// take returns the records of one commit and moves past them.
func (w *trail[T]) take(commit uint64) ([]T, error) {
	var out []T
	for w.at != nil && w.commit(w.at) == commit {
		out = append(out, *w.at)
		w.next++
		if err := w.load(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *trail[T]) oldest(than uint64) uint64 {
	if w.at == nil {
		return than
	}
	return min(than, w.commit(w.at))
}

func (r *reader) since(q *store.Query) error {
	if q.Since == nil {
		return nil
	}
	messages, edits, err := r.trails(q.Since.Version)
	if err != nil {
		return err
	}
	for taken := 0; messages.at != nil || edits.at != nil; {
		commit := edits.oldest(messages.oldest(1<<64 - 1))
		m, err := messages.take(commit)
		if err != nil {
			return err
		}
		e, err := edits.take(commit)
		if err != nil {
			return err
		}
		if taken > 0 && taken+len(m)+len(e) > q.Since.Limit {
			return nil
		}
		r.snap.Messages = append(r.snap.Messages, m...)
		r.snap.Edits = append(r.snap.Edits, e...)
		taken += len(m) + len(e)
	}
	return nil
}

func (r *reader) trails(version uint64) (*trail[conversation.Message], *trail[conversation.Edit], error) {
	messages := &trail[conversation.Message]{
		end: r.after(kindMessage, 0), get: r.messageAt, commit: func(m *conversation.Message) uint64 { return m.Commit },
	}
	edits := &trail[conversation.Edit]{
		next: 1, end: max(r.after(kindEdit, 1), 1), commit: func(e *conversation.Edit) uint64 { return e.Commit },
		get: func(seq int) (conversation.Edit, error) { return r.edit(int64(seq)) },
	}
	if err := messages.from(version); err != nil {
		return nil, nil, err
	}
	return messages, edits, edits.from(version)
}

// after is the number after the last one of a log. Its keys end with numbers, after skip bytes.
func (r *reader) after(kind byte, skip int) int {
	k, _ := seekBefore(r.record().Cursor(), recordKey(r.id, kind+1, 0))
	if !bytes.HasPrefix(k, recordKey(r.id, kind, 0)) {
		return 0
	}
	number := k[idBytes+1+skip:]
	if len(number) == 4 {
		return int(binary.BigEndian.Uint32(number)) + 1
	}
	return int(binary.BigEndian.Uint64(number)) + 1
}

func (r *reader) messageAt(index int) (conversation.Message, error) {
	key := messageKey(r.id, int32(index))
	value := r.record().Get(key)
	if value == nil {
		return conversation.Message{}, fmt.Errorf("message %d is missing: %w", index, store.ErrCorrupt)
	}
	return r.message(key, value)
}

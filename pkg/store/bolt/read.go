package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	if err := key.Check(); err != nil {
		return nil, err
	}
	var snap *store.Snapshot
	err := s.view(ctx, func(t *tx) (err error) {
		snap, err = t.read(key, &q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

func (t *tx) read(key store.Key, q *store.Query) (*store.Snapshot, error) {
	id, head, err := t.find(key, q.Incarnation)
	if err != nil {
		return nil, err
	}
	snap := &store.Snapshot{Head: *head}
	if q.IfNewer != 0 && q.IfNewer == head.Version {
		return snap, nil
	}
	r := reader{tx: t, id: id, snap: snap}
	return snap, r.answer(q)
}

// find returns the incarnation to read: the one that the key leads to, or one that is staged for the key.
func (t *tx) find(key store.Key, want conversation.ID) (conversation.ID, *store.Head, error) {
	head, err := t.current(key)
	if err != nil {
		return want, nil, err
	}
	if head != nil && (want.IsZero() || head.Incarnation == want) {
		return head.Incarnation, head, nil
	}
	if want.IsZero() {
		return want, nil, fmt.Errorf("%w: the name leads nowhere", store.ErrNotFound)
	}
	staged, err := t.waits(want, conversation.ID{})
	if err != nil {
		return want, nil, err
	}
	if staged == nil || staged.Key != key || t.dying(want, conversation.ID{}) {
		return want, nil, fmt.Errorf("%w: the incarnation is not there", store.ErrNotFound)
	}
	return want, &store.Head{}, nil
}

// reader answers one query.
type reader struct {
	*tx
	id   conversation.ID
	snap *store.Snapshot
}

func (r *reader) answer(q *store.Query) error {
	for i := range q.Ranges {
		if err := r.messages(&q.Ranges[i]); err != nil {
			return err
		}
	}
	for _, step := range []func(*store.Query) error{r.info, r.edits, r.since, r.outcome, r.manifests, r.slots, r.contents, r.outcomes, r.stored} {
		if err := step(q); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) info(q *store.Query) error {
	if !q.Info {
		return nil
	}
	value := r.record().Get(infoKey(r.id))
	if value == nil {
		return nil
	}
	info, err := r.codec.DecodeInfo(value)
	r.snap.Info = &info
	return err
}

func (r *reader) messages(q *store.MessageRange) error {
	first, end := max(q.First, 0), max(q.End, 0)
	if first >= end {
		return nil
	}
	c := r.record().Cursor()
	next, last := c.Next, messageKey(r.id, end-1)
	k, v := c.Seek(messageKey(r.id, first))
	if q.Reverse {
		next, last = c.Prev, messageKey(r.id, first)
		k, v = seekBefore(c, messageKey(r.id, end))
	}
	var tokens int64
	prefix := recordKey(r.id, kindMessage, 0)
	for n := 0; bytes.HasPrefix(k, prefix); k, v = next() {
		if past := bytes.Compare(k, last); past > 0 && !q.Reverse || past < 0 && q.Reverse {
			return nil
		}
		if q.Limit > 0 && n == q.Limit || q.MaxTokens > 0 && tokens >= q.MaxTokens {
			return nil
		}
		m, err := r.message(k, v)
		if err != nil {
			return err
		}
		r.snap.Messages = append(r.snap.Messages, m)
		tokens += int64(m.Tokens)
		n++
	}
	return nil
}

// message decodes a message and compares it with its key: a page written to a wrong place has valid checksums.
func (r *reader) message(key, value []byte) (conversation.Message, error) {
	m, err := r.codec.DecodeMessage(value)
	if err == nil && uint32(m.Index) != binary.BigEndian.Uint32(key[idBytes+1:]) {
		err = fmt.Errorf("message %d lies under another index: %w", m.Index, store.ErrCorrupt)
	}
	return m, err
}

type cursor interface {
	Seek([]byte) ([]byte, []byte)
	Prev() ([]byte, []byte)
	Last() ([]byte, []byte)
}

// seekBefore moves to the last key before a key.
func seekBefore(c cursor, key []byte) ([]byte, []byte) {
	if k, _ := c.Seek(key); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func (r *reader) outcome(q *store.Query) error {
	if q.Request == nil {
		return nil
	}
	value := r.record().Get(outcomeKey(r.id, *q.Request))
	if value == nil {
		return nil
	}
	o, err := r.codec.DecodeOutcome(value)
	r.snap.Outcome = &o
	return err
}

func (r *reader) manifests(q *store.Query) error {
	if q.Manifest == nil {
		return nil
	}
	end := recordKey(r.id, kindManifest+1, 0)
	if q.Manifest.Before > 0 {
		end = manifestKey(r.id, q.Manifest.Before)
	}
	c := r.record().Cursor()
	prefix := recordKey(r.id, kindManifest, 0)
	for k, v := seekBefore(c, end); bytes.HasPrefix(k, prefix) && len(r.snap.Manifests) < q.Manifest.Limit; k, v = c.Prev() {
		m, err := r.codec.DecodeManifest(v)
		if err != nil {
			return err
		}
		r.snap.Manifests = append(r.snap.Manifests, m)
	}
	return nil
}

func (r *reader) slots(q *store.Query) error {
	for _, name := range q.Slots {
		if err := r.slot(name, r.record().Get(slotKey(r.id, name))); err != nil {
			return err
		}
	}
	prefix := slotKey(r.id, q.SlotsOf)
	switch {
	case q.AllSlots:
		prefix = slotKey(r.id, "")
	case q.SlotsOf == "":
		return nil
	}
	c := r.record().Cursor()
	n := 0
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && n < store.MaxSlots; k, v = c.Next() {
		if err := r.slot(string(k[idBytes+1:]), v); err != nil {
			return err
		}
		n++
	}
	return nil
}

func (r *reader) slot(name string, value []byte) error {
	data, err := r.tx.slot(value)
	if data != nil && err == nil {
		r.snap.SetSlot(name, data)
	}
	return err
}

func (r *reader) contents(q *store.Query) error {
	for _, want := range q.Contents {
		data, err := r.content(want)
		if err != nil {
			return err
		}
		r.snap.Contents = append(r.snap.Contents, data)
	}
	return nil
}

// content returns nil if the content does not exist, or if no commit refers to it.
func (r *reader) content(want store.ContentRange) ([]byte, error) {
	if r.pending().Get(pendingKey(r.id, want.ID)) != nil || !r.hasChunks(r.id, want.ID) {
		return nil, nil
	}
	offset := max(want.Offset, 0)
	skip, out := int(offset%store.ChunkBytes), []byte{}
	c, prefix := r.chunks().Cursor(), pendingKey(r.id, want.ID)
	k, v := c.Seek(chunkKey(r.id, want.ID, int32(min(offset/store.ChunkBytes, 1<<31-1))))
	for ; bytes.HasPrefix(k, prefix) && (want.Length < 0 || int64(len(out)) < want.Length); k, v = c.Next() {
		data, err := r.codec.DecodeChunk(v)
		if err != nil {
			return nil, err
		}
		out = append(out, data[min(skip, len(data)):]...)
		skip = 0
	}
	if want.Length >= 0 && int64(len(out)) > want.Length {
		out = out[:want.Length]
	}
	return out, nil
}

func (r *reader) outcomes(q *store.Query) error {
	if q.Outcomes == nil {
		return nil
	}
	prefix := recordKey(r.id, kindOutcome, 0)
	from := prefix
	if q.Outcomes.After != nil {
		from = append(outcomeKey(r.id, *q.Outcomes.After), 0) // the next greater key
	}
	c := r.record().Cursor()
	for k, v := c.Seek(from); bytes.HasPrefix(k, prefix) && len(r.snap.Outcomes) < q.Outcomes.Limit; k, v = c.Next() {
		o, err := r.codec.DecodeOutcome(v)
		if err != nil {
			return err
		}
		r.snap.Outcomes = append(r.snap.Outcomes, o)
	}
	return nil
}

func (r *reader) stored(q *store.Query) error {
	if q.Stored == nil {
		return nil
	}
	c, after := r.chunks().Cursor(), q.Stored.After
	for len(r.snap.Stored) < q.Stored.Limit {
		k, _ := c.Seek(append(chunkKey(r.id, after, math.MaxInt32), 0))
		if !bytes.HasPrefix(k, r.id[:]) {
			return nil
		}
		after = conversation.ID(k[idBytes : 2*idBytes])
		if r.pending().Get(pendingKey(r.id, after)) == nil {
			r.snap.Stored = append(r.snap.Stored, after)
		}
	}
	return nil
}

package bolt

import (
	"cmp"
	"context"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// piece is a piece of an upload that was encoded before it was queued.
type piece struct {
	key     store.Key
	u       *store.Upload
	chunk   []byte
	records []pair
}

// Stage implements store.Store.
func (s *Store) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if err := cmp.Or(key.Check(), u.Check()); err != nil {
		return err
	}
	p := &piece{key: key, u: u}
	p.records = appendRecords(nil, s.codec, u.Incarnation, u.Messages, u.Edits, u.Manifests)
	p.records = appendOutcomes(p.records, s.codec, u.Incarnation, u.Outcomes)
	p.records = appendSlots(p.records, s.codec, u.Incarnation, u.Slots)
	if !u.ID.IsZero() {
		p.chunk = s.codec.EncodeChunk(u.Data)
	}
	return s.submit(ctx, key, p.apply)
}

func (p *piece) apply(t *tx) error {
	id := p.u.Incarnation
	head, err := t.head(id)
	if err != nil {
		return err
	}
	var waiting conversation.ID // what waits for a commit after this: the whole incarnation, or this content
	if head != nil {
		waiting = p.u.ID
		if err := p.admitLive(t, head); err != nil {
			return err
		}
	}
	old, err := t.waits(id, waiting)
	if err != nil {
		return err
	}
	if err := p.admitWaiting(t, old, waiting); err != nil {
		return err
	}
	if err := p.await(t, old, waiting, head == nil); err != nil {
		return err
	}
	if p.chunk != nil {
		t.largest = max(t.largest, len(p.chunk))
		if err := t.chunks().Put(chunkKey(id, p.u.ID, p.u.Chunk), p.chunk); err != nil {
			return err
		}
	}
	return t.putAll(p.records)
}

// admitLive checks an upload to an incarnation that has a head.
func (p *piece) admitLive(t *tx, head *store.Head) error {
	link, err := t.link(p.key)
	switch {
	case err != nil:
		return err
	case link != head.Incarnation:
		return fmt.Errorf("%w: the key does not lead to the incarnation", store.ErrNotFound)
	case head.State == store.Deleted:
		return fmt.Errorf("%w: the incarnation is deleted", store.ErrNotFound)
	case p.u.Records():
		return fmt.Errorf("%w: the incarnation has a head", store.ErrConflict)
	}
	if old, err := t.waits(head.Incarnation, p.u.ID); err != nil || old != nil {
		return err
	}
	if t.hasChunks(head.Incarnation, p.u.ID) {
		return fmt.Errorf("%w: a commit refers to upload %s", store.ErrConflict, p.u.ID)
	}
	return nil
}

func (p *piece) admitWaiting(t *tx, old *store.Task, waiting conversation.ID) error {
	if t.dying(p.u.Incarnation, waiting) || t.dying(p.u.Incarnation, p.u.ID) {
		return fmt.Errorf("%w: the upload is being deleted", store.ErrNotFound)
	}
	if old != nil && old.Key != p.key {
		return fmt.Errorf("%w: the upload is another conversation's", store.ErrConflict)
	}
	return nil
}

// await moves the time at which the upload is given up.
func (p *piece) await(t *tx, old *store.Task, waiting conversation.ID, staged bool) error {
	task := &store.Task{
		Key: p.key, Incarnation: p.u.Incarnation, Upload: waiting, Staged: staged, Time: p.u.Time.Add(store.UploadGrace).UTC(),
	}
	if old != nil && !task.Time.After(old.Time) {
		return nil
	}
	return t.setWaits(old, task)
}

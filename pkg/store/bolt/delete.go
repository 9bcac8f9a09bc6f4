package bolt

import (
	"cmp"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// deleteStep is how many records a call without a limit deletes: as many as a transaction can in some milliseconds.
const deleteStep = 1000

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, d store.Deletion) (bool, error) {
	if err := key.Check(); err != nil {
		return false, err
	}
	d.Limit = cmp.Or(max(d.Limit, 0), deleteStep)
	var done bool
	err := s.enter(&request{ctx: ctx, wake: key, frees: true, apply: func(t *tx) (err error) {
		if t.tight {
			d.Limit = 1
		}
		done, err = t.remove(key, d)
		return err
	}})
	return done && err == nil, err
}

func (t *tx) remove(key store.Key, d store.Deletion) (bool, error) {
	head, err := t.head(d.Incarnation)
	if err != nil {
		return false, err
	}
	live := head != nil && head.State != store.Deleted
	if !d.Upload.IsZero() {
		return t.removeUpload(key, d, head, live)
	}
	if live {
		return false, fmt.Errorf("%w: the incarnation is live", store.ErrConflict)
	}
	if head == nil {
		if err := t.markDying(d.Incarnation, conversation.ID{}); err != nil {
			return false, err
		}
	}
	link, err := t.link(key)
	if err != nil {
		return false, err
	}
	leads := link == d.Incarnation
	tombstone := leads && d.KeepHead
	if left, err := t.removeRecords(d.Incarnation, d.Limit, tombstone); err != nil || left <= 0 || tombstone {
		return err == nil && left > 0, err
	}
	return true, t.removeHead(key, d, head, leads)
}

// markDying prevents commits that refer to something staged while it is being deleted. If nothing was staged, no mark is
// needed.
func (t *tx) markDying(id, upload conversation.ID) error {
	if t.pending().Get(pendingKey(id, upload)) == nil {
		return nil
	}
	return t.pending().Put(dyingKey(id, upload), []byte{})
}

func (t *tx) removeUpload(key store.Key, d store.Deletion, head *store.Head, live bool) (bool, error) {
	task, err := t.waits(d.Incarnation, d.Upload)
	if err != nil {
		return false, err
	}
	if task == nil {
		if !t.hasChunks(d.Incarnation, d.Upload) {
			return true, nil
		}
		if live {
			return false, fmt.Errorf("%w: a commit refers to the upload", store.ErrConflict)
		}
		if task, err = t.orphan(key, d, head); err != nil {
			return false, err
		}
	}
	if err := t.markDying(d.Incarnation, d.Upload); err != nil {
		return false, err
	}
	t.erased = true
	if n, err := deleteUnder(t.chunks(), pendingKey(d.Incarnation, d.Upload), d.Limit, nil); err != nil || n == d.Limit {
		return false, err
	}
	return true, t.settle(task)
}

// orphan makes a content of a dead incarnation wait like one that no commit refers to. It is due when the incarnation is.
func (t *tx) orphan(key store.Key, d store.Deletion, head *store.Head) (*store.Task, error) {
	task := &store.Task{Key: key, Incarnation: d.Incarnation, Upload: d.Upload}
	if head != nil {
		task.Time = head.NextDue
	} else if staged, err := t.waits(d.Incarnation, conversation.ID{}); err != nil {
		return nil, err
	} else if staged != nil {
		task.Time = staged.Time
	}
	return task, t.setWaits(nil, task)
}

// removeRecords removes the records of an incarnation except the head and, for a tombstone, the outcomes. It returns what
// is left of the limit.
func (t *tx) removeRecords(id conversation.ID, limit int, tombstone bool) (int, error) {
	records, err := deleteUnder(t.record(), id[:], limit, func(k, _ []byte) bool {
		kind := k[idBytes]
		return kind != kindHead && !(tombstone && kind == kindOutcome)
	})
	if err != nil {
		return 0, err
	}
	chunks, err := deleteUnder(t.chunks(), id[:], limit-records, nil)
	if err != nil {
		return 0, err
	}
	t.erased = t.erased || records+chunks > 0
	return t.removeWaiting(id, limit-records-chunks)
}

func (t *tx) removeWaiting(id conversation.ID, limit int) (int, error) {
	whole := string(pendingKey(id, conversation.ID{}))
	keys := keysUnder(t.pending(), id[:], limit, func(k, _ []byte) bool {
		return len(k) == 2*idBytes && string(k) != whole
	})
	for _, k := range keys {
		task, err := t.codec.DecodeTask(t.pending().Get(k))
		if err != nil {
			return 0, err
		}
		if err := t.settle(&task); err != nil {
			return 0, err
		}
	}
	return limit - len(keys), nil
}

// removeHead removes the head and the name, now that the records are gone.
func (t *tx) removeHead(key store.Key, d store.Deletion, head *store.Head, leads bool) error {
	if head == nil {
		staged, err := t.waits(d.Incarnation, conversation.ID{})
		if err != nil || staged == nil {
			return err
		}
		return t.settle(staged)
	}
	t.erased = true // its names were erased at least
	if leads {
		if err := t.name().Delete(nameKey(key)); err != nil {
			return err
		}
	}
	if err := t.moveDue(&store.Task{Key: key, Incarnation: d.Incarnation, Time: head.NextDue}, nil); err != nil {
		return err
	}
	return t.record().Delete(headKey(d.Incarnation))
}

var _ cursor = (*bbolt.Cursor)(nil)

package bolt

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// tx is a transaction with its buckets. Each bucket is looked up when it is first needed.
type tx struct {
	tx      *bbolt.Tx
	codec   *record.Codec
	names   *bbolt.Bucket
	records *bbolt.Bucket
	// erased is set if something was replaced or deleted that must not stay in the file (see internal/wipe).
	erased bool
	// largest is the size of the largest value written. tight is set if there is little room: deletions then go one record at a
	// time.
	largest int
	tight   bool
}

func (t *tx) name() *bbolt.Bucket {
	if t.names == nil {
		t.names = t.tx.Bucket(bucketNames)
	}
	return t.names
}

func (t *tx) record() *bbolt.Bucket {
	if t.records == nil {
		t.records = t.tx.Bucket(bucketRecords)
	}
	return t.records
}

func (t *tx) chunks() *bbolt.Bucket  { return t.tx.Bucket(bucketChunks) }
func (t *tx) pending() *bbolt.Bucket { return t.tx.Bucket(bucketPending) }
func (t *tx) due() *bbolt.Bucket     { return t.tx.Bucket(bucketDue) }

// link returns the incarnation that the key leads to; zero if it leads nowhere.
func (t *tx) link(key store.Key) (conversation.ID, error) {
	value := t.name().Get(nameKey(key))
	if value == nil {
		return conversation.ID{}, nil
	}
	return t.codec.DecodeLink(value)
}

// current returns the head that the key leads to; nil if it leads nowhere.
func (t *tx) current(key store.Key) (*store.Head, error) {
	id, err := t.link(key)
	if err != nil || id.IsZero() {
		return nil, err
	}
	head, err := t.head(id)
	if err == nil && head == nil {
		return nil, fmt.Errorf("a name leads to an incarnation without a head: %w", store.ErrCorrupt)
	}
	return head, err
}

// head returns the head of an incarnation; nil if it has none.
func (t *tx) head(id conversation.ID) (*store.Head, error) {
	value := t.record().Get(headKey(id))
	if value == nil {
		return nil, nil
	}
	head, err := t.codec.DecodeHead(value)
	return &head, err
}

// waits returns the entry of an upload, or of a staged incarnation (zero upload), that no commit refers to; nil if there is none.
func (t *tx) waits(id, upload conversation.ID) (*store.Task, error) {
	value := t.pending().Get(pendingKey(id, upload))
	if value == nil {
		return nil, nil
	}
	task, err := t.codec.DecodeTask(value)
	return &task, err
}

// dying reports whether Delete has begun on an upload, or on a staged incarnation.
func (t *tx) dying(id, upload conversation.ID) bool {
	return t.pending().Get(dyingKey(id, upload)) != nil
}

func (t *tx) hasChunks(id, upload conversation.ID) bool {
	prefix := pendingKey(id, upload)
	k, _ := t.chunks().Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// setWaits records that no commit refers to an upload, and that it is due at task.Time (zero: never).
func (t *tx) setWaits(old, task *store.Task) error {
	if err := t.pending().Put(pendingKey(task.Incarnation, task.Upload), t.codec.EncodeTask(task)); err != nil {
		return err
	}
	return t.moveDue(old, task)
}

// settle ends an upload's waiting, because a commit refers to it or it is deleted.
func (t *tx) settle(task *store.Task) error {
	if err := t.pending().Delete(pendingKey(task.Incarnation, task.Upload)); err != nil {
		return err
	}
	if err := t.pending().Delete(dyingKey(task.Incarnation, task.Upload)); err != nil {
		return err
	}
	return t.moveDue(task, nil)
}

// moveDue replaces an entry of what is due. Either entry may be nil or have no time.
func (t *tx) moveDue(from, to *store.Task) error {
	had, has := from != nil && !from.Time.IsZero(), to != nil && !to.Time.IsZero()
	if had && has && from.Time.Equal(to.Time) {
		return nil
	}
	if had {
		if err := t.due().Delete(dueKey(from)); err != nil {
			return err
		}
	}
	if has {
		return t.due().Put(dueKey(to), t.codec.EncodeTask(to))
	}
	return nil
}

// moveHeadDue does the same for a conversation. It writes only if the time changes.
func (t *tx) moveHeadDue(key store.Key, id conversation.ID, from, to time.Time) error {
	if from.Equal(to) {
		return nil
	}
	return t.moveDue(&store.Task{Key: key, Incarnation: id, Time: from}, &store.Task{Key: key, Incarnation: id, Time: to})
}

// keysUnder collects at most limit keys with a prefix, because deleting while a cursor walks skips keys.
func keysUnder(b *bbolt.Bucket, prefix []byte, limit int, wanted func(key, value []byte) bool) [][]byte {
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(keys) < limit; k, v = c.Next() {
		if wanted == nil || wanted(k, v) {
			keys = append(keys, bytes.Clone(k))
		}
	}
	return keys
}

// deleteUnder deletes the keys that keysUnder collects, and returns their number.
func deleteUnder(b *bbolt.Bucket, prefix []byte, limit int, wanted func(key, value []byte) bool) (int, error) {
	keys := keysUnder(b, prefix, limit, wanted)
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}

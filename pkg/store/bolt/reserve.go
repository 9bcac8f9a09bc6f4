package bolt

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// bbolt writes every page that it changes to a new place before it frees the old one, so deleting needs room first. In a full store
// nothing could ever be deleted. So the file holds a value of zeros, the reserve, in a bucket of its own. A deletion or an erasure
// without room frees the reserve and uses its pages. They are already part of the file, so this also works on a full disk. The next
// commit that adds something restores the reserve first; if it cannot, the store is full.
//
// A page of entries has at most four large values (bbolt splits pages with more), and changing one entry writes the others again. So
// the reserve has room for four of the largest values that the store has seen.
const (
	reserveLeast  = 256 << 10
	reserveValues = 4
	reserveBeside = 64 << 10 // for the pages above, and small pages
)

func reserveFor(largest int) int { return max(reserveLeast, reserveValues*largest+reserveBeside) }

// keepReserve makes the reserve large enough for the values that a transaction has written.
func (t *tx) keepReserve(has int) (now int, err error) {
	need := reserveFor(t.largest)
	if has >= need {
		return has, nil
	}
	b, err := t.tx.CreateBucketIfNotExists(bucketReserve)
	if err != nil {
		return has, err
	}
	return need, b.Put(reserveKey, make([]byte, need))
}

// spendReserve frees the reserve's pages.
func (s *Store) spendReserve() error {
	if s.reserve == 0 {
		return nil
	}
	t, err := s.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }()
	err = guarded(func() error {
		if err := t.Bucket(bucketReserve).Delete(reserveKey); err != nil {
			return err
		}
		return s.options.Commit(t.Commit)
	})
	if err == nil {
		s.wiper.Moved()
		s.reserve = 0
	}
	return err
}

// commitTight makes a change for which there was no room, after the reserve was spent.
func (s *Store) commitTight(batch []*request) (sick bool) {
	if err := s.spendReserve(); err != nil && !full(err) {
		answer(batch, fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err))
		return true
	}
	s.tight = true
	defer func() { s.tight = false }()
	return s.commit(batch)
}

// reserveOf is the size of the reserve in bytes.
func reserveOf(db *bbolt.DB) (n int, err error) {
	err = db.View(func(t *bbolt.Tx) error {
		if b := t.Bucket(bucketReserve); b != nil {
			n = len(b.Get(reserveKey))
		}
		return nil
	})
	return n, err
}

package bolt

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// bbolt writes anew every page that it changes before it frees the old one: deleting needs room first. In a store that is full
// nothing could ever be deleted. So the file holds a value of zeros, the reserve, in a bucket of its own. A deletion or an erasure
// that finds no room lets go of it and takes its pages; they are in the file already, so that this works on a full disk too. The next
// commit that adds something puts it back first, and finds the store full if it cannot.
//
// A page of entries has at most four large values (bbolt splits those of more), and changing one entry writes the others again. So
// the reserve has room for four of the largest value that the store has seen.
const (
	reserveLeast  = 256 << 10
	reserveValues = 4
	reserveBeside = 64 << 10 // for the pages above, and small ones
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

// spendReserve frees the reserve's pages, if there are any.
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

// reserveOf is how many bytes the reserve has.
func reserveOf(db *bbolt.DB) (n int, err error) {
	err = db.View(func(t *bbolt.Tx) error {
		if b := t.Bucket(bucketReserve); b != nil {
			n = len(b.Get(reserveKey))
		}
		return nil
	})
	return n, err
}

package bolt

import (
	"context"

	"go.etcd.io/bbolt"
)

// sealKey exists next to the layout's version while the store is sealed.
var sealKey = []byte("sealed")

// Seal implements store.Store.
func (s *Store) Seal(ctx context.Context, sealed bool) error {
	return s.enter(&request{ctx: ctx, seals: &sealed, frees: true, apply: func(t *tx) error {
		if sealed {
			return t.tx.Bucket(bucketMeta).Put(sealKey, []byte{1})
		}
		return t.tx.Bucket(bucketMeta).Delete(sealKey)
	}})
}

func isSealed(db *bbolt.DB) (sealed bool, err error) {
	err = db.View(func(t *bbolt.Tx) error {
		sealed = t.Bucket(bucketMeta).Get(sealKey) != nil
		return nil
	})
	return sealed, err
}

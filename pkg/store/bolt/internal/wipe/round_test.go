package wipe

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// TestRound_Pass_LooksAtEachPage: an interrupted round may be in the middle of a value. If a page of that value looks like a
// header with a million overflow pages, the rest of the file must not be skipped.
func TestRound_Pass_LooksAtEachPage(t *testing.T) {
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "store.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	value := bytes.Repeat([]byte{2, 0, 0, 0, 0, 0, 0, 1}, 8192)
	err = db.Update(func(t *bbolt.Tx) error {
		chunks, err := t.CreateBucket([]byte("chunks"))
		return errors.Join(err, chunks.Put([]byte("8 bytes."), value))
	})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for page := pages.First; page < int(tx.Size())/db.Info().PageSize; page++ {
		free, more, ok := look(tx, page)
		if !ok || free || more < 10 {
			continue
		}
		w := round{next: page, aligned: true}
		if w.pass(tx); w.next != page+1+more {
			t.Errorf("from %d to %d, over %d", page, w.next, more)
		}
		if _, most, _ := look(tx, page+1); most < 1<<20 {
			t.Fatalf("it looks as if it had %d others", most)
		}
		w = round{next: page + 1}
		for next := page + 2; next < page+more; next++ {
			if w.pass(tx); w.next != next {
				t.Fatalf("to %d where %d is next", w.next, next)
			}
		}
		return
	}
	t.Fatal("no value with several pages")
}

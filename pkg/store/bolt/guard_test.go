package bolt

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// damageLeafOf overwrites the number of the page with a conversation's head, in a file that is open.
func damageLeafOf(t *testing.T, path string, conv int) {
	t.Helper()
	for _, p := range inUse(t, read(t, path)) {
		for _, e := range p.Entries {
			if !p.Branch && bytes.Equal(e.Key, headKey(ratioID(conv))) {
				file, err := os.OpenFile(path, os.O_RDWR, 0)
				must(t, err)
				_, err = file.WriteAt([]byte{0xff, 0xff}, int64(p.ID)*int64(os.Getpagesize()))
				must(t, err, file.Close())
				return
			}
		}
	}
	t.Fatal("the conversation is nowhere")
}

// TestStore_PageDamagedWhileOpen_IsAnError: bbolt panics. Calls for this conversation report damage, and others work.
func TestStore_PageDamagedWhileOpen_IsAnError(t *testing.T) {
	path := populated(t)
	s := openAt(t, path, Options{Wipe: neverWipe})
	damageLeafOf(t, path, 5)
	_, err := s.Read(t.Context(), ratioKey(5), store.Query{})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "sidecar store check") {
		t.Errorf("reading: %v", err)
	}
	if err := s.Commit(t.Context(), ratioKey(5), appendChange(5, 20, "text")); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("appending: %v", err)
	}
	for conv := 12; conv < 16; conv++ {
		if _, err := s.Read(t.Context(), ratioKey(conv), store.Query{}); err != nil {
			t.Errorf("reading another one: %v", err)
		}
		if err := s.Commit(t.Context(), ratioKey(conv), appendChange(conv, 1, "text")); err != nil {
			t.Errorf("appending to another one: %v", err)
		}
	}
}

// TestStore_PanicInACommit_EndsWriting: the process does not end. The store reports the failure, and can still be read.
func TestStore_PanicInACommit_EndsWriting(t *testing.T) {
	var said error
	f := openFlaky(t, Options{OnState: func(reason error) { said = reason }})
	f.mustAppend(t, 1, 0)
	f.failOnce(func(func() error) error { panic("assertion failed: a page") })
	if err := f.append(t, 1, 1); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
	if err := f.append(t, 1, 1); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "sidecar store salvage") {
		t.Errorf("then %v", err)
	}
	if n := f.count(t, 1); n != 1 || !errors.Is(said, store.ErrUnavailable) {
		t.Errorf("%d messages, and the store is said to be %v", n, said)
	}
}

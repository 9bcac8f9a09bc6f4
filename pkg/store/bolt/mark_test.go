package bolt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// threeAppends is a store that was closed after three appends.
func threeAppends(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	f := &flaky{Store: openAt(t, path, Options{Wipe: neverWipe})}
	for n := range int32(3) {
		f.mustAppend(t, 1, n)
	}
	must(t, f.Close())
	return path
}

func neverWipe(func() error) error { return syscall.ENOSPC }

// loseMeta damages the newest meta page.
func loseMeta(t *testing.T, path string) {
	t.Helper()
	raw, size := read(t, path), os.Getpagesize()
	at := 0
	if r := bytes.NewReader(raw); pages.ReadMeta(r, int64(size)).Tx > pages.ReadMeta(r, 0).Tx {
		at = size
	}
	raw[at+pages.Header+48] ^= 1
	must(t, os.WriteFile(path, raw, 0o600))
}

// TestOpen_NewestMetaDamaged_IsNoRollback: bbolt would go on from the commit before, and use the last commit's index again.
func TestOpen_NewestMetaDamaged_IsNoRollback(t *testing.T) {
	path := threeAppends(t)
	loseMeta(t, path)
	before := read(t, path)
	s, err := Open(path, Options{})
	if err == nil {
		must(t, s.Close())
	}
	if !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{path + marking, "sidecar store check", "sidecar store salvage", "transaction"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if !bytes.Equal(before, read(t, path)) {
		t.Error("the file was written to")
	}
	must(t, os.Remove(path+marking)) // as the sentence says for an older copy
	must(t, openAt(t, path, Options{}).Close())
}

// TestOpen_Mark_ThatSaysNothing: whatever a power cut leaves of the mark, the store opens, and writes marks from then on.
func TestOpen_Mark_ThatSaysNothing(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, path string, last []byte){
		"Missing": func(t *testing.T, path string, _ []byte) { must(t, os.Remove(path)) },
		"Empty":   func(t *testing.T, path string, _ []byte) { must(t, os.WriteFile(path, nil, 0o600)) },
		"Zeros": func(t *testing.T, path string, last []byte) {
			must(t, os.WriteFile(path, make([]byte, len(last)), 0o600))
		},
		"Garbage": func(t *testing.T, path string, last []byte) {
			last[8] ^= 0x80 // a transaction far ahead, if it were believed
			must(t, os.WriteFile(path, last, 0o600))
		},
		"Older": func(t *testing.T, path string, _ []byte) {
			b := marked(2)
			must(t, os.WriteFile(path, b[:], 0o600))
		},
		"AFolder": func(t *testing.T, path string, _ []byte) { must(t, os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := threeAppends(t)
			leave(t, path+marking, read(t, path+marking))
			f := &flaky{Store: openAt(t, path, Options{Wipe: neverWipe})}
			if n := f.count(t, 1); n != 3 {
				t.Errorf("%d messages", n)
			}
			f.mustAppend(t, 1, 3)
			must(t, f.Close())
			if name == "AFolder" {
				return
			}
			loseMeta(t, path)
			if _, err := Open(path, Options{}); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("the next append was not marked: %v", err)
			}
		})
	}
}

// TestOpen_TornMeta_AfterAPowerCut: a commit that was not acknowledged may be lost, and does not keep the store from opening.
func TestOpen_TornMeta_AfterAPowerCut(t *testing.T) {
	path := threeAppends(t)
	newest := read(t, path+marking)
	f := &flaky{Store: openAt(t, path, Options{Wipe: neverWipe})}
	f.mustAppend(t, 1, 3)
	must(t, f.Close(), os.WriteFile(path+marking, newest, 0o600))
	loseMeta(t, path)
	f = &flaky{Store: openAt(t, path, Options{})}
	if n := f.count(t, 1); n != 3 {
		t.Errorf("%d messages", n)
	}
	must(t, f.Close())
}

// TestOpen_NewStore_ForgetsTheMarkOfAnOldOne, whose file was removed.
func TestOpen_NewStore_ForgetsTheMarkOfAnOldOne(t *testing.T) {
	path := threeAppends(t)
	must(t, os.Remove(path))
	must(t, openAt(t, path, Options{}).Close())
	must(t, openAt(t, path, Options{}).Close())
}

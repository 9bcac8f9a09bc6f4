package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// populated is a store of some conversations, large values among them, that was closed.
func populated(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{Wipe: neverWipe})
	for conv := range 12 {
		d := newDiary(s, conv)
		for range 20 {
			must(t, d.write(t.Context()))
		}
	}
	for conv := 12; conv < 16; conv++ {
		must(t, s.Commit(t.Context(), ratioKey(conv), appendChange(conv, 0, string(noise(40_000)))))
	}
	must(t, s.Close())
	return path
}

// inUse are the pages that the newest meta page leads to, and how many each takes.
func inUse(t *testing.T, raw []byte) (pages []*page) {
	t.Helper()
	file := bytes.NewReader(raw)
	m := newestMeta(file)
	w := &walk{file: file, meta: m, damaged: func(d pageError) error { return d }}
	must(t, w.run())
	for id := uint64(firstPage); id < m.pages; id++ {
		if w.seen[id/64]&(1<<(id%64)) == 0 {
			continue
		}
		if p, err := readPage(file, m, id); err == nil && p.fault == nil {
			pages = append(pages, p)
			id += p.span - 1
		}
	}
	return pages
}

// TestWalk_Sound_SeesWhatBboltSees: every page that bbolt does not hold to be free, and every record.
func TestWalk_Sound_SeesWhatBboltSees(t *testing.T) {
	path := populated(t)
	s := openAt(t, path, Options{Wipe: neverWipe})
	want := keysOf(t, s)
	tx, err := s.db.Begin(true)
	must(t, err)
	used := uint64(firstPage)
	for id := firstPage; id < int(tx.Size())/os.Getpagesize(); id++ {
		if !isFree(tx, id) {
			used++
		}
	}
	must(t, tx.Rollback(), s.Close())
	got := 0
	file := bytes.NewReader(read(t, path))
	w := &walk{
		file: file, meta: newestMeta(file), damaged: func(d pageError) error { return d },
		record: func(string, entry) error { got++; return nil },
	}
	must(t, w.run())
	if got != want || w.used+firstPage != used {
		t.Errorf("%d records of %d, %d pages of %d", got, want, w.used+firstPage, used)
	}
}

// TestOpen_DamagedStructure_IsRefusedInASentence: each number in the header of a page and in its entries, once. bbolt alone ends the
// process for most of them.
func TestOpen_DamagedStructure_IsRefusedInASentence(t *testing.T) {
	testlane.OneCaller(t)
	path := populated(t)
	raw := read(t, path)
	pages, r := inUse(t, raw), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	for range 100 {
		p := pages[r.IntN(len(pages))]
		at := p.id*uint64(os.Getpagesize()) + uint64(r.IntN(pageHeader+pageElement*max(1, len(p.entries))))
		file := bytes.Clone(raw)
		file[at] ^= byte(1 + r.IntN(255))
		must(t, os.WriteFile(path, file, 0o600))
		s, err := Open(path, Options{Wipe: neverWipe})
		if err == nil {
			must(t, s.Close())
			// The size of a value that is the last of its page: its checksum is wrong then.
			if r, err := Check(path, Options{}, nil); err != nil || r.OK() {
				t.Errorf("page %d (%v), byte %d: it opens, and Check finds nothing: %v", p.id, p.branch, at%uint64(os.Getpagesize()), err)
			}
			continue
		}
		if !errors.Is(err, store.ErrCorrupt) && !strings.Contains(err.Error(), "it is no store") || !strings.Contains(err.Error(), "sidecar store salvage") {
			t.Errorf("page %d, byte %d: %v", p.id, at%uint64(os.Getpagesize()), err)
		}
	}
}

// TestWalk_Circle_Ends: a branch that leads to itself or its parent.
func TestWalk_Circle_Ends(t *testing.T) {
	path := populated(t)
	raw := read(t, path)
	for _, p := range inUse(t, raw) {
		if !p.branch {
			continue
		}
		at := p.id*uint64(os.Getpagesize()) + pageHeader + 8
		binary.NativeEndian.PutUint64(raw[at:], p.id)
	}
	must(t, os.WriteFile(path, raw, 0o600))
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

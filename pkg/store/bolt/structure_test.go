package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/wipe"
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

// inUse are the pages that the newest meta page leads to.
func inUse(t *testing.T, raw []byte) (used []*pages.Page) {
	t.Helper()
	file := bytes.NewReader(raw)
	w := &pages.Walk{
		File: file, Meta: pages.NewestMeta(file), Damaged: func(d pages.Error) error { return d },
		Passed: func(p *pages.Page) { used = append(used, p) },
	}
	must(t, w.Run())
	slices.SortFunc(used, func(a, b *pages.Page) int { return cmp.Compare(a.ID, b.ID) })
	return used
}

// TestWalk_Sound_SeesWhatBboltSees: every page that bbolt does not hold to be free, and every record.
func TestWalk_Sound_SeesWhatBboltSees(t *testing.T) {
	path := populated(t)
	s := openAt(t, path, Options{Wipe: neverWipe})
	want := keysOf(t, s)
	tx, err := s.db.Begin(true)
	must(t, err)
	used := uint64(pages.First)
	for id := pages.First; id < int(tx.Size())/os.Getpagesize(); id++ {
		if !wipe.IsFree(tx, id) {
			used++
		}
	}
	must(t, tx.Rollback(), s.Close())
	got := 0
	file := bytes.NewReader(read(t, path))
	w := &pages.Walk{
		File: file, Meta: pages.NewestMeta(file), Damaged: func(d pages.Error) error { return d },
		Record: func(string, pages.Entry) error { got++; return nil },
	}
	must(t, w.Run())
	if got != want || w.Used+pages.First != used {
		t.Errorf("%d records of %d, %d pages of %d", got, want, w.Used+pages.First, used)
	}
}

// TestOpen_DamagedStructure_IsRefusedInASentence: each number in the header of a page and in its entries is damaged once. For most
// of them, bbolt alone would end the process.
func TestOpen_DamagedStructure_IsRefusedInASentence(t *testing.T) {
	testlane.OneCaller(t)
	path := populated(t)
	raw := read(t, path)
	used, r := inUse(t, raw), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	for range 100 {
		p := used[r.IntN(len(used))]
		at := p.ID*uint64(os.Getpagesize()) + uint64(r.IntN(pages.Header+pages.Element*max(1, len(p.Entries))))
		file := bytes.Clone(raw)
		file[at] ^= byte(1 + r.IntN(255))
		must(t, os.WriteFile(path, file, 0o600))
		s, err := Open(path, Options{Wipe: neverWipe})
		if err == nil {
			must(t, s.Close())
			// The size of a value that is the last of its page: its checksum is wrong then.
			if r, err := Check(path, Options{}, nil); err != nil || r.OK() {
				t.Errorf("page %d (%v), byte %d: it opens, and Check finds nothing: %v", p.ID, p.Branch, at%uint64(os.Getpagesize()), err)
			}
			continue
		}
		if !errors.Is(err, store.ErrCorrupt) && !strings.Contains(err.Error(), "it is no store") || !strings.Contains(err.Error(), "sidecar store salvage") {
			t.Errorf("page %d, byte %d: %v", p.ID, at%uint64(os.Getpagesize()), err)
		}
	}
}

// TestWalk_Circle_Ends: a branch that leads to itself or its parent.
func TestWalk_Circle_Ends(t *testing.T) {
	path := populated(t)
	raw := read(t, path)
	for _, p := range inUse(t, raw) {
		if !p.Branch {
			continue
		}
		at := p.ID*uint64(os.Getpagesize()) + pages.Header + 8
		binary.NativeEndian.PutUint64(raw[at:], p.ID)
	}
	must(t, os.WriteFile(path, raw, 0o600))
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

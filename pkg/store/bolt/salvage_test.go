package bolt

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

func salvaged(t *testing.T, path string) (*Report, *Store) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "new.db")
	r, err := Salvage(path, to, Options{}, nil)
	must(t, err)
	if checked, err := Check(to, Options{}, nil); err != nil || r.OK() && !checked.OK() {
		t.Fatalf("what was salvaged: %+v, %v", checked, err)
	}
	return r, openAt(t, to, Options{Wipe: neverWipe})
}

// honest reads a conversation of populated: it is as it was, or it says that it is damaged. It returns how many messages are.
func honest(t *testing.T, s *Store, conv int) (damaged int) {
	t.Helper()
	for n := range int32(20) {
		q := store.Query{Ranges: []store.MessageRange{{}}, Edits: &store.EditRange{}, Contents: []store.ContentRange{{ID: contentOf(n), Length: -1}}}
		q.Ranges[0].First, q.Ranges[0].End = n, n+1
		q.Edits.Of = append(q.Edits.Of, q.Ranges[0].Range)
		snap, err := s.Read(t.Context(), ratioKey(conv), q)
		switch want := secretOf(conv, n); {
		case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound):
			damaged++
		case err != nil:
			t.Errorf("conversation %d: %v", conv, err)
		case len(snap.Messages) != 1 || snap.Messages[0].Parts[0].Text.Inline != want || len(snap.Edits) != 1 || snap.Head.Messages != 20:
			t.Errorf("conversation %d, message %d is wrong: %d messages, %d edits", conv, n, len(snap.Messages), len(snap.Edits))
		case snap.Contents[0] != nil && string(snap.Contents[0]) != want:
			t.Errorf("conversation %d, content %d is wrong", conv, n)
		case snap.Contents[0] == nil:
			damaged++
		}
	}
	return damaged
}

// TestSalvage_Sound_CopiesEverything, and what is due is due.
func TestSalvage_Sound_CopiesEverything(t *testing.T) {
	path := populated(t)
	r, s := salvaged(t, path)
	if !r.OK() || r.Conversations != 16 {
		t.Errorf("%+v", r)
	}
	for conv := range 12 {
		if n := honest(t, s, conv); n > 0 {
			t.Errorf("conversation %d: %d damaged", conv, n)
		}
	}
	must(t, s.Close())
	if _, err := Salvage(path, s.path, Options{}, nil); err == nil || !strings.Contains(err.Error(), "there is a file") {
		t.Errorf("over a store that is there: %v", err)
	}
}

// TestSalvage_OneDamagedPage_LeavesTheOthers: a leaf of the records is gone; only those in it are.
func TestSalvage_OneDamagedPage_LeavesTheOthers(t *testing.T) {
	path := populated(t)
	raw := read(t, path)
	id := ratioID(5)
	for _, p := range inUse(t, raw) {
		if !p.Branch && len(p.Entries) > 0 && bytes.HasPrefix(p.Entries[len(p.Entries)/2].Key, id[:]) && p.Entries[len(p.Entries)/2].Key[idBytes] == kindMessage {
			clear(raw[p.ID*uint64(os.Getpagesize()):][:pages.Header])
			break
		}
	}
	must(t, os.WriteFile(path, raw, 0o600))
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrCorrupt) {
		t.Fatal(err)
	}
	r, s := salvaged(t, path)
	whole, lost := 0, 0
	for conv := range 12 {
		if n := honest(t, s, conv); n == 0 {
			whole++
		} else {
			lost += n
		}
	}
	if r.OK() || whole < 10 || lost == 0 || lost > 40 {
		t.Errorf("%d conversations are whole, %d messages lost; %v", whole, lost, r.Damages)
	}
	if all := strings.Join(r.Damages, "\n"); !strings.Contains(all, "conversation-000005") || strings.Contains(all, "secret") {
		t.Errorf("%s", all)
	}
}

// TestSalvage_AnyDamage_IsHonest: flipped bytes anywhere in what is in use.
func TestSalvage_AnyDamage_IsHonest(t *testing.T) {
	testlane.OneCaller(t)
	path := populated(t)
	raw := read(t, path)
	used, r := inUse(t, raw), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	whole := 0
	for range 20 {
		file := bytes.Clone(raw)
		for range 1 + r.IntN(3) {
			p := used[r.IntN(len(used))]
			file[p.ID*uint64(os.Getpagesize())+uint64(r.IntN(200))] ^= byte(1 + r.IntN(255))
		}
		must(t, os.WriteFile(path, file, 0o600))
		_, s := salvaged(t, path)
		for conv := range 12 {
			if honest(t, s, conv) == 0 {
				whole++
			}
		}
		must(t, s.Close())
	}
	if whole < 20*12/2 {
		t.Errorf("%d of %d conversations are whole", whole, 20*12)
	}
}
